internal import AppProtocol
internal import DeviceCore
internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The private socket: `Control1` for the user's own programs, `App1` for apps. Peers are known by
/// the process that connected; one that belongs to a launch may only look at its own app.
@safe
final class AppBus {
    private unowned let host: any AppHost
    private let links: AppLinks
    private let loop: EventLoop
    private let listener: UnixListener
    private var server: Server?
    /// As of every server, but with room for a call of thousands of files.
    static let limits: Server.Limits = {
        var limits = Server.Limits()
        limits.argumentBytes = Control1.mostArgumentBytes
        limits.messageBytes = Control1.mostMessageBytes + (64 << 10)
        return limits
    }()
    private var source: DescriptorSource?
    private let launchOf: (Int32) throws(Refusal) -> LaunchOwner?
    /// Whose process each peer is, by connection; found once, when it first calls.
    private var owners: [UInt64: LaunchOwner?] = [:]
    /// Who they are to their app, once they called `App1`.
    private var callers: [UInt64: AppCaller] = [:]
    /// Given up to hang up on a peer when there is no descriptor left.
    private var reserve: FileDescriptor?
    private var untold: [HistoryLine] = []
    private var telling: DeferredSource?
    private var lastLogged = BootTime.distantPast

    /// Peers are refused in the log once in so long: a flood must not become a flood of lines.
    private static let logInterval = Interval.minutes(1)

    /// `launchOf` tells whose a process is, nil: outside every launch.
    init(
        _ loop: EventLoop,
        _ listener: consuming UnixListener,
        host: any AppHost,
        limits: Server.Limits = AppBus.limits,
        launchOf: @escaping (Int32) throws(Refusal) -> LaunchOwner?
    ) throws(DaemonError) {
        self.host = host
        links = AppLinks(host: host)
        self.loop = loop
        self.listener = listener
        self.launchOf = launchOf
        do {
            server = try Server(
                loop,
                name: Control1.busName,
                objects: [Server.Object(Control1.path, [Control1.interface, App1.interface])],
                limits: limits,
                handlers: Server.Handlers(
                    call: { [unowned self] in received($0) },
                    property: { [unowned self] _, _, name in property(name) },
                    ended: { [unowned self] in
                        owners[$0.number] = nil
                        callers[$0.number] = nil
                        links.ended($0)
                    }
                )
            )
            reserve = try Self.spare()
            links.watchHolders(loop)
            source = try DescriptorSource(
                loop,
                self.listener.descriptor.number,
                .readable
            ) { [unowned self] _ in acceptAll() }
        } catch {
            throw .socket("the socket cannot be served: \(error)")
        }
    }

    private static func spare() throws(LinuxError) -> FileDescriptor {
        try FileDescriptor(opening: "/dev/null", .reading)
    }

    // MARK: Those who watch

    /// Tells those who watch of a line of the history, after the turn; an app's own processes of
    /// the app's alone.
    func happened(_ line: HistoryLine) {
        guard let server, server.connections.contains(where: \.isOpen) else { return }
        untold.append(line)
        guard telling == nil else { return }
        // Should memory be out, the next line tells of this one.
        telling = try? DeferredSource(loop) { [unowned self] in tell() }
    }

    private func tell() {
        telling = nil
        let lines = untold
        untold = []
        let signal = Control1.happened.name
        for connection in server?.connections ?? []
        where connection.isOpen && connection.wants(signal, of: Control1.name, at: Control1.path) {
            guard let owner = try? owner(of: connection), !isSuspended(owner) else { continue }
            for line in lines where owner.mayHear(of: line.app) {
                try? connection.emit(
                    signal,
                    of: Control1.name,
                    at: Control1.path,
                    Reported(line.report).sent,
                    signature: "a{sv}"
                )
            }
        }
    }

    /// A suspended app is sent nothing.
    private func isSuspended(_ owner: Owner) -> Bool {
        owner.launch.map { host.device.isFrozen($0.launch) } ?? false
    }

    // MARK: Peers

    private func acceptAll() {
        // A bounded number a turn: others want theirs as well.
        for _ in 0..<32 {
            do throws(LinuxError) {
                guard let peer = try listener.accept() else { return }
                if let failure = server?.accept(peer) { logFailure(failure) }
            } catch  where error.errno == .tooManyFiles || error.errno == .tooManyFilesInSystem {
                log("\(error)")
                hangUp()
                return
            } catch {
                // A peer that went before it was taken.
                return
            }
        }
    }

    /// Without a descriptor for the peer it would wait, and the loop would turn, for ever.
    private func hangUp() {
        reserve = nil
        _ = try? listener.accept()
        reserve = try? Self.spare()
    }

    private func logFailure(_ failure: Server.AcceptFailure) {
        switch failure {
        case .foreignUser(let user): log("it is of user \(user)")
        case .failed(let error): log("\(error)")
        case .tooMany: log("there are too many connections")
        case .tooManyOfProcess(let pid): log("process \(pid) has too many connections")
        }
    }

    private func log(_ reason: String) {
        let now = host.now().boot
        guard now >= lastLogged + Self.logInterval else { return }
        lastLogged = now
        DaemonLog.write("ignoring a peer: \(reason)")
    }

    /// Whose process the peer is. It is looked up by number, so the process that connected must
    /// still have it.
    private func owner(of connection: Connection) throws(Refusal) -> Owner {
        let known = owners[connection.number]
        let launch: LaunchOwner?
        if let known { launch = known } else { launch = try launchOf(connection.peer.pid) }
        guard !connection.peer.hasEnded else {
            throw Refusal(
                .notPermitted,
                reason: "the connected process has exited",
                value: "\(connection.peer.pid)",
                fix: "stay connected until the reply arrives"
            )
        }
        owners[connection.number] = .some(launch)
        return Owner(launch: launch)
    }

    /// The launch whose process a peer is; nil: outside every launch.
    private struct Owner {
        let launch: LaunchOwner?
        var app: AppID? { launch?.app }

        func mayHear(of other: AppID) -> Bool { app == nil || app == other }
    }

    /// Who the peer is to its app; only the process that connected counts, and what it is.
    private func caller(on connection: Connection) throws(Refusal) -> AppCaller {
        let owner = try owner(of: connection)
        if let known = callers[connection.number] { return known }
        let executable = Files.status("/proc/\(connection.peer.pid)/exe")
        let process = connection.peer.identity
        let caller = process.flatMap { host.device.caller(owner.launch, $0, executable) }
        // In this order: what was read was of the peer if it has not ended.
        guard let caller, !connection.peer.hasEnded else {
            // As without a daemon: nothing that its manifest could permit is missing.
            throw Refusal(
                .unavailable,
                reason: "this process belongs to no app",
                value: "\(connection.peer.pid)",
                fix: "start it as its app: offstage open --attach APP"
            )
        }
        // Before that even the main process looks like a child.
        if caller.launch.map({ host.device.launch($0)?.launch.process != nil }) ?? true {
            callers[connection.number] = caller
        }
        return caller
    }

    /// Says something to the app of a launch.
    func tell(_ launch: LaunchID, _ message: AppMessage) { links.tell(launch, message) }

    // MARK: Calls

    private func property(_ name: String) -> Value? {
        name == "Version" ? .string(host.version().version) : nil
    }

    private func received(_ call: IncomingCall) {
        do throws(Refusal) {
            if call.interface == App1.name {
                let caller = try caller(on: call.connection)
                return try AppCalls(host: host, links: links, caller: caller).perform(call)
            }
            let calls = ControlCalls(
                host: host,
                owner: try owner(of: call.connection).app
            ) { [unowned self] in
                owners[$0.number] = nil
                callers[$0.number] = nil
            }
            try calls.perform(call)
        } catch {
            call.refuse(error)
        }
    }
}
