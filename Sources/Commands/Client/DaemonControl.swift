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
            throw Failure(.notRunning, "\(path.printable) is not a socket", fix: Self.which)
        }
        bus = try Self.connect(path)
    }

    /// Between attempts to connect to who hangs up. A daemon that dies is gone at the next.
    private static let pauses: [Int32] = [10, 20, 50, 100, 200]

    private static func connect(_ path: String) throws(Failure) -> Bus {
        var pauses = pauses[...]
        var wasThere = false
        while true {
            let error: BusError
            do throws(BusError) {
                return try Bus.connect(toSocket: path)
            } catch let reason {
                error = reason
            }
            if wasThere, error.reason == .notListening {
                throw Failure(
                    .notRunning,
                    "the daemon at \(path.printable) went away while this connected to it",
                    fix: start,
                    loss: .connecting
                )
            }
            guard error.reason == .disconnected, !isForeign(error.listener),
                let pause = pauses.popFirst()
            else { throw failure(error, at: path) }
            wasThere = true
            _ = try? Poll.wait(for: [], milliseconds: pause)
        }
    }

    private static func failure(_ error: BusError, at path: String) -> Failure {
        let socket = path.printable
        switch error.reason {
        case .notListening:
            return Failure(
                .notRunning,
                "the daemon is not running: nobody listens at \(socket)",
                fix: start,
                loss: .absent
            )
        case .disconnected, .system:
            if let user = error.listener, isForeign(user) { return foreign(path, user) }
            if error.listener == nil, let user = owner(of: path), isForeign(user) {
                return foreign(path, user)
            }
            // It answered what is not D-Bus, or cannot be connected to at all.
            guard error.reason == .disconnected else {
                return Failure(
                    .notRunning,
                    error.listener == nil
                        ? "\(socket) cannot be connected to: \(error.message.printable)"
                        : stranger(path),
                    fix: which
                )
            }
            return Failure(
                .notRunning,
                "the program listening at \(socket) hangs up: it is not Offstage, or accepts no "
                    + "more connections",
                fix: which
            )
        case .timedOut, .refused, .unsuitable, .tooLarge:
            return Failure(
                .notRunning,
                "the daemon at \(socket) does not answer: \(error.message.printable)"
            )
        }
    }

    private static func isForeign(_ user: UInt32?) -> Bool {
        user.map { $0 != CurrentProcess.user } ?? false
    }

    /// A daemon serves nobody but its own user, not even root.
    private static func foreign(_ path: String, _ user: UInt32) -> Failure {
        Failure(
            .notRunning,
            "the socket \(path.printable) belongs to user \(user), and this is user "
                + "\(CurrentProcess.user)",
            fix: "Ask as that user, or say which is your own with --socket or OFFSTAGE_SOCKET."
        )
    }

    /// Of the path itself, or of the directory that keeps us from it.
    private static func owner(of path: String) -> UInt32? {
        var path = path
        while true {
            if let status = Files.status(path) { return status.user }
            let above = Files.directory(of: path)
            guard above != path else { return nil }
            path = above
        }
    }

    private static let start =
        "Start it with \"systemctl --user start offstaged\" or "
        + "\"offstage daemon --background\"."
    private static let which = "Give the daemon's socket with --socket or OFFSTAGE_SOCKET."

    private static func stranger(_ path: String) -> String {
        "the program listening at \(path.printable) is not Offstage"
    }

    private static func defaultSocket() throws(Failure) -> String {
        guard let path = DaemonSocket.path(CurrentProcess.environment) else {
            let value = CurrentProcess.environment("XDG_RUNTIME_DIR") ?? ""
            let mistake = value.isEmpty ? "not set" : "\(value.quoted), which is no absolute path"
            throw Failure(
                .notRunning,
                "XDG_RUNTIME_DIR is \(mistake), so the daemon's socket cannot be located",
                fix: "Set it as the daemon has it, or say where with --socket or OFFSTAGE_SOCKET."
            )
        }
        return path
    }

    func send(_ call: EncodedCall) throws(Failure) -> [Value] {
        try send(call, timeout: call.takesLong ? .forever : Bus.defaultTimeout)
    }

    func send(_ call: EncodedCall, timeout: Interval) throws(Failure) -> [Value] {
        let target = Target(nil, Control1.path, call.interface, call.method)
        do throws(BusError) {
            return try bus.call(
                target,
                call.arguments,
                signature: call.signature,
                timeout: timeout
            )
        } catch {
            throw failure(error, call)
        }
    }

    /// Ends a background task. The daemon answers when that is stored; on a full disk, much later.
    func endTask(_ task: Int64, timeout: Interval) throws(Failure) {
        let call = App1.EndTask { $0.task = task }.encoded
        do throws(Failure) {
            _ = try send(call, timeout: timeout)
        } catch  where error.isLate {
            throw Failure(
                .failed,
                "the daemon has taken longer than \(timeout) to store the end of task \(task): "
                    + "the disk of its state directory is full, or slow",
                fix: "The daemon keeps the end, and ends the task when it can. Free some space; "
                    + "\"offstage status\" shows what is wrong."
            )
        }
    }

    /// What another service on D-Bus says to our calls.
    private static let strange = [
        "ServiceUnknown", "UnknownObject", "UnknownInterface", "NameHasNoOwner", "AccessDenied",
    ].map { "org.freedesktop.DBus.Error." + $0 }

    /// What the daemon says to a method that it does not have, or has with other arguments.
    private static let unsupported = [ErrorName.unknownMethod, ErrorName.invalidArguments]

    static let sameVersion =
        "Use a daemon of this version: \"systemctl --user restart offstaged\" starts the one that "
        + "is installed."

    /// One of another version; nil: it is not Offstage.
    private func otherVersion(without call: EncodedCall) -> Failure? {
        guard call.method != Control1.Version.name,
            let daemon = try? self.call(Control1.Version())
        else { return nil }
        var failure = Failure(
            .failed,
            "the daemon is version \(daemon.version.printable), which does not have "
                + "\(call.method) as this version does",
            fix: Self.sameVersion
        )
        failure.isOfOtherVersion = true
        return failure
    }

    /// A refusal of the daemon's ends with what to do, in brackets.
    static func parts(of text: String) -> (message: String, fix: String) {
        var depth = 0
        for index in text.indices.reversed() {
            switch text[index] {
            case ")": depth += 1
            case "(": depth -= 1
            default: break
            }
            // It does not end with any.
            if depth == 0, text[index] != "(" { break }
            guard depth == 0 else { continue }
            let before = text[..<index]
            guard before.hasSuffix(" ") else { break }
            let fix = text[text.index(after: index)...].dropLast()
            return (String(before.dropLast()), String(fix))
        }
        return (text, "")
    }

    /// The daemon's refusal in its own words.
    private func failure(_ error: BusError, _ call: EncodedCall) -> Failure {
        let name: String
        switch error.reason {
        case .refused(let refusal): name = refusal
        case .tooLarge where error.operation == "decode":
            return Failure(.failed, "the daemon's answer to \(call.method) is too large")
        case .unsuitable where error.operation == "decode":
            let reason = error.message.printable
            return Failure(.failed, "the daemon's answer to \(call.method) is not taken: \(reason)")
        case .unsuitable, .tooLarge:
            return Failure(.failed, "\(error.subject) cannot be asked: \(error.message.printable)")
        case .notListening, .timedOut, .disconnected, .system:
            var failure = Failure(
                .notRunning,
                "the daemon does not answer: \(error.message.printable)",
                fix: Self.start,
                loss: .unanswered
            )
            failure.isLate = error.reason == .timedOut
            return failure
        }
        if Self.strange.contains(name) {
            return Failure(.notRunning, Self.stranger(path), fix: Self.which)
        }
        if Self.unsupported.contains(name) {
            return otherVersion(without: call)
                ?? Failure(.notRunning, Self.stranger(path), fix: Self.which)
        }
        let known = ControlErrorName(rawValue: name)
        let code = known.flatMap { Failure.Code(rawValue: $0.exitStatus) } ?? .failed
        let (message, fix) = known == nil ? (error.message, "") : Self.parts(of: error.message)
        var failure = Failure(code, message.printable, fix: fix.printable)
        failure.isFixInLine = true
        failure.nothingToDo = known == .notFound || known == .held
        return failure
    }
}
