internal import AppProtocol
internal import EventLoop
internal import SystemBus
internal import Vocabulary

/// The daemon on the user's session bus, where there is one: it owns its name, can be started by
/// it, and says where the private socket is. Everything works without it as well.
@safe
final class Discovery: ServiceBus.Client {
    private let socket: String
    private var object: ExportedObject?
    /// Why the name is not ours; nil: it is, will be in a moment, or there is no bus.
    private(set) var problem: String?

    /// Not to wait in a queue for the name.
    private static let doNotQueue: Int64 = 4

    /// `socket`: the path of the private one.
    init(_ sessionBus: ServiceBus, socket: String) {
        self.socket = socket
        sessionBus.add(self)
    }

    func connected(_ bus: Bus) throws(BusError) {
        problem = nil
        object = try bus.export(Discovery1.interface, at: Discovery1.path) {
            [unowned self] call in
            // A caller that has gone needs no answer.
            try? call.answer([.string("unix:path=" + Self.escaped(socket))])
        }
        try bus.call(
            .messageBus("RequestName"),
            [.string(Control1.busName), .integer(Self.doNotQueue)],
            signature: "su"
        ) { [unowned self] answer in named(answer) }
    }

    func disconnected() {
        guard object != nil else { return }
        object = nil
        tell("the session bus has gone")
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
        guard object != nil else { return }
        (object, problem) = (nil, reason)
        tell(reason)
    }

    private func tell(_ reason: String) {
        DaemonLog.write("not on the session bus: \(reason); apps use the private socket")
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
