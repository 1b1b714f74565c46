internal import AppProtocol
internal import DeviceCore
internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The private socket: `Control1` for the user's own programs. Peers are known by the process that
/// connected; one that belongs to a launch may only look at its own app.
@safe
final class AppBus {
    private unowned let host: any ControlHost
    private let listener: UnixListener
    private var server: Server?
    private var source: DescriptorSource?
    private let launchOf: (Int32) -> AppID?
    /// Whose process each peer is, by connection; found once, when it first calls.
    private var owners: [UInt64: AppID?] = [:]

    /// `launchOf` tells whose app a process is, nil: outside every launch.
    init(
        _ loop: EventLoop,
        _ listener: consuming UnixListener,
        host: any ControlHost,
        launchOf: @escaping (Int32) -> AppID?
    ) throws(DaemonError) {
        self.host = host
        self.listener = listener
        self.launchOf = launchOf
        do {
            server = try Server(
                loop,
                name: Control1.busName,
                objects: [Server.Object(Control1.path, [Control1.interface])],
                handlers: Server.Handlers(
                    call: { [unowned self] in received($0) },
                    ended: { [unowned self] in owners[$0.number] = nil }
                )
            )
            source = try DescriptorSource(
                loop,
                self.listener.descriptor.number,
                .readable
            ) { [unowned self] _ in acceptAll() }
        } catch {
            throw .socket("the socket cannot be served: \(error)")
        }
    }

    private func acceptAll() {
        // A bounded number a turn: others want theirs as well.
        for _ in 0..<32 {
            do throws(LinuxError) {
                guard let peer = try listener.accept() else { return }
                if let refusal = server?.accept(peer) { logRefusal(refusal) }
            } catch {
                // Out of descriptors, or a peer that went before it was taken.
                if error.errno == .tooManyFiles { DaemonLog.write("ignoring a peer: \(error)") }
                return
            }
        }
    }

    private func logRefusal(_ refusal: Server.Refusal) {
        switch refusal {
        case .foreignUser(let user): DaemonLog.write("ignoring a peer of user \(user)")
        case .failed(let error): DaemonLog.write("ignoring a peer: \(error)")
        // A flood must not become a flood of lines.
        case .tooMany, .tooManyOfProcess: break
        }
    }

    private func received(_ call: IncomingCall) {
        let app = owner(of: call)
        do throws(Refusal) {
            if let app, !Self.mayAsk(call, as: app) {
                throw Refusal(
                    .notPermitted,
                    reason: "an app may only ask about itself",
                    value: app.name,
                    fix: "ask from outside the app"
                )
            }
            try ControlCalls(host: host).perform(call)
        } catch {
            refuse(call, error)
        }
    }

    private func owner(of call: IncomingCall) -> AppID? {
        if let known = owners[call.connection.number] { return known }
        let app = launchOf(call.connection.peer.pid)
        owners[call.connection.number] = .some(app)
        return app
    }

    /// What an app's own processes may do: look at themselves.
    private static func mayAsk(_ call: IncomingCall, as app: AppID) -> Bool {
        switch call.method.name {
        case "Gates", "Modes", "Settings", "Conditions", "Version": true
        case "Tasks", "Explain", "Logs": call.arguments.first?.stringValue == app.name
        case "History": call.arguments.first?["app"]?.stringValue == app.name
        default: false
        }
    }
}

/// Answers a call with a refusal of the core, or of our own.
func refuse(_ call: IncomingCall, _ refusal: Refusal) {
    var text = refusal.reason
    if !refusal.value.isEmpty { text += ": \(refusal.value)" }
    if !refusal.fix.isEmpty { text += " (\(refusal.fix))" }
    call.refuse(refusal.code.errorName.rawValue, text)
}

extension Refusal.Code {
    var errorName: ControlErrorName {
        switch self {
        case .unavailable: .unavailable
        case .tooManyPendingTaskRequests: .tooManyPendingTaskRequests
        case .notPermitted: .notPermitted
        case .immediateRunIneligible: .immediateRunIneligible
        case .notFound: .notFound
        case .invalid: .invalid
        case .held: .held
        case .storage: .storage
        }
    }
}
