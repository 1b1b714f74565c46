internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Linux
internal import Synchronization
internal import Vocabulary

/// The way to the daemon for every thread of the app: what is asked goes to the one thread that
/// the library has, where a `DaemonLink` does it. Nothing here waits, but for `wait`.
final class DaemonConnection: Sendable {
    /// What other threads ask of the link, in the order in which they did.
    enum Request: Sendable {
        /// Say hello now, and from now on first of all whenever connected.
        case greet(Answer<Greeting>)
        /// Handlers are registered; offers are welcome.
        case finishedLaunching
        case call(OutgoingCall)
        /// From now on the device is watched.
        case lookAtDevice(Answer<DeviceConditions>)
        case setIdleTimer(disabled: Bool)
        case complete(delivery: DeliveryID, result: TaskResult)
        /// What the daemon had called is done.
        case answer(IncomingNumber)
        /// SIGTERM is told to the app first.
        case watchTermination
        case stop
    }

    typealias Answer<Success> = @Sendable (Result<Success, CallError>) -> Void

    struct Settings: Sendable {
        /// Nil: it is not known where the daemon would be.
        var socket: String?
        /// A call that is not answered fails after so many of these. Counting them, and not the
        /// time, costs a process that was frozen one of them at most.
        var tick = Interval.seconds(1)
        var ticks = 10
        /// For a daemon that is there and says nothing.
        var connecting = Interval.seconds(5)
    }

    let settings: Settings
    private let inbox = Mutex(Inbox())
    private let wakeup: Wakeup?

    private final class Wakeup: Sendable {
        let counter: EventCounter

        init() throws(LinuxError) { counter = try EventCounter() }
    }

    private struct Inbox {
        var requests: [Request] = []
        var hasThread = false
        var hasStopped = false
    }

    init(_ settings: Settings) {
        self.settings = settings
        // Without a descriptor to spare every call fails, as without a daemon.
        wakeup = try? Wakeup()
    }

    /// Asks; the thread starts with the first request.
    func ask(_ request: Request, for owner: any DaemonListener) {
        guard let wakeup else { return request.fail(.noDescriptor) }
        let (isLate, isFirst) = inbox.withLock { inbox in
            guard !inbox.hasStopped else { return (true, false) }
            inbox.requests.append(request)
            defer { inbox.hasThread = true }
            return (false, !inbox.hasThread)
        }
        if isLate { return request.fail(.stopped) }
        if isFirst { start(owner) }
        wakeup.counter.signal()
    }

    /// Ends the thread, which keeps its owner until then; what is asked later fails.
    func stop() {
        let isRunning = inbox.withLock { inbox in
            inbox.hasStopped = true
            if inbox.hasThread { inbox.requests.append(.stop) }
            return inbox.hasThread
        }
        if isRunning { wakeup?.counter.signal() }
    }

    private func start(_ owner: any DaemonListener) {
        Thread { [self] in run(owner) }.start()
    }

    private func run(_ owner: any DaemonListener) {
        guard let wakeup else { return }
        // Foundation's own name would come too late for a thread that starts at once.
        CurrentProcess.nameThread("org.offstage")
        // Signals are for the app's own threads.
        try? CurrentProcess.block(signals: Array(1...31))
        do {
            try DaemonLink(self, owner, wakeup: wakeup.counter.descriptor.number).run()
        } catch {
            // Without a loop, for want of descriptors or memory, it is as without a daemon.
            LibraryLog.write("the daemon cannot be spoken to: \(error)")
            let left = inbox.withLock { inbox in
                inbox.hasStopped = true
                return inbox.requests
            }
            for request in left { request.fail(.noDescriptor) }
        }
    }

    // MARK: For the link

    /// What was asked since the last time.
    func takeRequests() -> [Request] {
        wakeup?.counter.clear()
        return inbox.withLock { inbox in
            let taken = inbox.requests
            inbox.requests = []
            return taken
        }
    }
}

extension DaemonConnection.Request {
    /// It will not be done.
    func fail(_ error: CallError) {
        switch self {
        case .greet(let answer): answer(.failure(error))
        case .call(let call): call.answer(.failure(error))
        case .lookAtDevice(let answer): answer(.failure(error))
        case .finishedLaunching, .setIdleTimer, .complete, .answer, .watchTermination, .stop: break
        }
    }
}

/// A method of `App1` to be called.
struct OutgoingCall: Sendable {
    let call: App1
    let persistence: Persistence
    /// Called once, on the link's thread, which must not be kept waiting.
    let answer: DaemonConnection.Answer<AppReply>
    /// Called on the link's thread with what the daemon answered after the call had timed out.
    let late: @Sendable (AppReply) -> Void

    init<C: AppCall>(
        _ call: C,
        _ persistence: Persistence = .now,
        answer: @escaping DaemonConnection.Answer<C.Reply> = { _ in },
        late: @escaping @Sendable (C.Reply) -> Void = { _ in }
    ) {
        self.call = call.asCall
        self.persistence = persistence
        self.answer = { answer(C.reply(from: $0)) }
        self.late = { if let reply = C.Reply($0) { late(reply) } }
    }
}

extension CallError {
    static let noDescriptor = CallError(
        .unreachable,
        "this process has no descriptor or memory left to reach the daemon with"
    )
    static let unknownPlace = CallError(
        .unreachable,
        "where the daemon listens is not known: XDG_RUNTIME_DIR is not set (set it, or "
            + "OFFSTAGE_SOCKET to the daemon's socket)"
    )
}

extension AppCall {
    /// What was replied, as this call's type has it.
    static func reply(from answer: Result<AppReply, CallError>) -> Result<Reply, CallError> {
        answer.flatMap { reply in
            guard let content = Reply(reply) else {
                preconditionFailure("\(name) was answered by \(reply)")
            }
            return .success(content)
        }
    }
}

extension Greeting {
    var isInBackground: Bool { state == .background }
}
