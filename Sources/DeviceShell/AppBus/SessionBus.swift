internal import AppProtocol
internal import EventLoop
internal import SystemBus
internal import Vocabulary

/// The daemon on the user's session bus, where there is one: it owns its name, can be started by
/// it, and says where the private socket is. Everything works without it as well.
@safe
final class SessionBus {
    private var bus: Bus?
    private var object: ExportedObject?
    /// Why the name is not ours; nil: it is, or will be in a moment.
    private(set) var problem: String?

    /// Not to wait in a queue for the name.
    private static let doNotQueue: Int64 = 4

    /// `socket`: the path of the private one.
    init(_ loop: EventLoop, socket: String) {
        do throws(BusError) {
            let bus = try Bus.session()
            object = try bus.export(Discovery1.interface, at: Discovery1.path) { call in
                // A caller that has gone needs no answer.
                try? call.answer([.string("unix:path=" + Self.escaped(socket))])
            }
            try bus.attach(to: loop)
            try bus.onDisconnect { [unowned self] in lose("the session bus has gone") }
            try bus.call(
                .messageBus("RequestName"),
                [.string(Control1.busName), .integer(Self.doNotQueue)],
                signature: "su"
            ) { [unowned self] answer in named(answer) }
            self.bus = bus
        } catch {
            problem = "there is no session bus: \(error.message)"
            object = nil
        }
    }

    private func named(_ answer: Result<[Value], BusError>) {
        switch answer {
        case .success(let values):
            // 1: it is ours, 4: it was.
            guard let code = values.first?.integerValue, code == 1 || code == 4 else {
                return lose("another program has the name \(Control1.busName)")
            }
        case .failure(let error): lose("the name \(Control1.busName) is refused: \(error.message)")
        }
    }

    private func lose(_ reason: String) {
        guard problem == nil else { return }
        problem = reason
        DaemonLog.write("not on the session bus: \(reason); apps use the private socket")
        object = nil
        bus = nil
    }

    /// A path as D-Bus addresses have it.
    static func escaped(_ path: String) -> String {
        path.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "\\"), UInt8(ascii: "*"):
                return String(UnicodeScalar(byte))
            case _:
                let digits = String(byte, radix: 16)
                return "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }.joined()
    }
}
