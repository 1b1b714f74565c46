import AppProtocol
import CommandTable
import Linux
import SystemBus
import Vocabulary

/// The daemon behind its private socket.
struct DaemonControl: Control {
    let bus: Bus
    /// Of its socket.
    let path: String

    /// Connects to `socket`, or to where the environment says.
    init(socket: String?) throws(Failure) {
        let path: String
        if let socket { path = socket } else { path = try Self.defaultSocket() }
        self.path = path
        if let status = Files.status(path), status.kind != .socket {
            throw Failure(.notRunning, "\(path.printable) is no socket", fix: Self.which)
        }
        do throws(BusError) {
            bus = try Bus.connect(toSocket: path)
        } catch {
            // It hung up, or answered what is not D-Bus.
            switch error.reason {
            case .disconnected, .system:
                throw Failure(.notRunning, Self.stranger(path), fix: Self.which)
            case .notListening, .timedOut, .refused, .unsuitable, .tooLarge: break
            }
            guard error.reason == .notListening else {
                throw Failure(
                    .notRunning,
                    "the daemon at \(path.printable) does not answer: \(error.message.printable)"
                )
            }
            throw Failure(
                .notRunning,
                "the daemon is not running: nobody listens at \(path.printable)",
                fix: "Start it with \"systemctl --user start offstaged\" or \"offstage daemon\"."
            )
        }
    }

    private static let which = "Say which is the daemon's with --socket or OFFSTAGE_SOCKET."

    private static func stranger(_ path: String) -> String {
        "what listens at \(path.printable) is not Offstage"
    }

    private static func defaultSocket() throws(Failure) -> String {
        guard let path = DaemonSocket.path(CurrentProcess.environment) else {
            throw Failure(
                .notRunning,
                "XDG_RUNTIME_DIR is not set, so where the daemon listens is not known",
                fix: "Say where with --socket or OFFSTAGE_SOCKET."
            )
        }
        return path
    }

    func call(_ method: Interface.Method, _ arguments: [Value]) throws(Failure) -> Value {
        try call(method, of: Control1.name, arguments).first ?? .null
    }

    /// Calls a method of `App1`: for processes of an app.
    @discardableResult
    func callApp(_ name: String, _ arguments: [Value] = []) throws(Failure) -> [Value] {
        guard let method = App1.interface.method(name) else {
            throw Failure(.failed, "there is no method \(name)")
        }
        return try call(method, of: App1.name, arguments)
    }

    private func call(
        _ method: Interface.Method,
        of interface: String,
        _ arguments: [Value]
    ) throws(Failure) -> [Value] {
        let target = Target(nil, Control1.path, interface, method.name)
        do throws(BusError) {
            return try bus.call(target, arguments, signature: method.inputSignature)
        } catch {
            throw failure(error)
        }
    }

    /// What another service on D-Bus says to our calls.
    private static let strange = [
        "ServiceUnknown", "UnknownObject", "UnknownInterface", "NameHasNoOwner", "AccessDenied",
    ].map { "org.freedesktop.DBus.Error." + $0 }

    private static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"

    /// The daemon's refusal in its own words.
    private func failure(_ error: BusError) -> Failure {
        guard case .refused(let name) = error.reason else {
            return Failure(.notRunning, "the daemon does not answer: \(error.message.printable)")
        }
        if Self.strange.contains(name) {
            return Failure(.notRunning, Self.stranger(path), fix: Self.which)
        }
        if name == Self.unknownMethod {
            let other = Self.stranger(path) + ", or another version of it"
            return Failure(.notRunning, other, fix: Self.which)
        }
        let status = ControlErrorName(rawValue: name)?.exitStatus ?? 1
        return Failure(Failure.Code(rawValue: status) ?? .failed, error.message.printable)
    }
}
