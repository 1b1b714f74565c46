import SystemBus
import Vocabulary

extension ProcessPeer {
    static func printBuses() throws {
        let bus = "org.freedesktop.DBus"
        for connection in [try Bus.session(), try Bus.system()] {
            let answer = try connection.call(Target(bus, "/org/freedesktop/DBus", bus, "GetId"))
            print(answer.first?.stringValue ?? "")
        }
    }
}
