import AppProtocol
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The daemon on a session bus of the test's own: its name, its address, and life without it.
final class SessionBusTests {
    private let bench: DaemonBench
    private let bus: MessageBus
    private var address: String { bus.address }

    init() throws {
        bench = try DaemonBench(starting: false)
        bus = try MessageBus(bench.daemon.scratch, "session")
        bench.daemon.environment = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    }

    private func call(_ arguments: String...) throws -> Command.Outcome {
        try Command(["busctl", "--address=" + address] + arguments).run()
    }

    private func isOwned() throws -> Bool {
        let answer = try call(
            "call",
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "NameHasOwner",
            "s",
            Control1.busName
        )
        return answer.output == "b true\n"
    }

    private func check(_ bench: DaemonBench) throws -> Value? {
        try bench.ask("Doctor").listValue?.first { $0["check"] == "session bus" }
    }

    @Test func `it owns its name and says where its socket is, and nothing else`() throws {
        try bench.daemon.start()
        try Wait.until("its name", { try isOwned() })
        let told = try call(
            "call",
            Control1.busName,
            Discovery1.path,
            Discovery1.name,
            "Address"
        )
        #expect(told.output == "s \"unix:path=\(bench.daemon.socket)\"\n", "\(told.errors)")
        let other = try call("call", Control1.busName, Control1.path, Control1.name, "Version")
        #expect(!other.succeeded)
        #expect(try check(bench)?["ok"] == true)
        bus.end()
        try Wait.until(file: bench.daemon.logPath) { $0.contains("not on the session bus") }
        #expect(try bench.answers())
        #expect(try check(bench)?["ok"] == false)
        #expect(try check(bench)?["found"] == "the session bus has gone")
        try bus.start()
        try Wait.until("its name again", { try isOwned() })
        #expect(try check(bench)?["ok"] == true)
    }

    @Test func `a second daemon leaves the name to the first, and serves its socket`() throws {
        try bench.daemon.start()
        try Wait.until("its name", { try isOwned() })
        let second = try DaemonBench(starting: false)
        second.daemon.environment = ["DBUS_SESSION_BUS_ADDRESS": address]
        try second.daemon.start()
        try Wait.until(file: second.daemon.logPath) { $0.contains("another program has the name") }
        #expect(try second.answers())
        let found = try check(second)?["found"]?.stringValue
        #expect(found?.hasPrefix("another program has the name") == true, "\(found ?? "")")
    }

    @Test func `a path is written as an address has it`() {
        #expect(Discovery.escaped("/run/user/1000/a b,c=ü") == "/run/user/1000/a%20b%2cc%3d%c3%bc")
    }
}
