internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Linux
internal import Synchronization
internal import Vocabulary

/// What this process is to the daemon: which handlers it has, what it was given to do, which time
/// it asked for. Everything may be called on any thread; its lock is never held while anything of
/// the app's runs.
final class AppSession: DaemonListener {
    /// The one of this process, with the daemon that the environment names.
    static let shared = AppSession(
        DaemonConnection.Settings(socket: DaemonSocket.path(CurrentProcess.environment))
    )

    let connection: DaemonConnection
    let state = Mutex(State())

    struct State {
        /// Whether the daemon was ever there, and whether it is.
        var reach = Reach.unknown
        var greeting: Greeting?
        var isInBackground = false
        /// When the time after the user has left is over; CLOCK_MONOTONIC, seconds.
        var deadline: Double?

        var handlers: [String: LaunchHandler] = [:]
        var hasFinishedLaunching = false
        /// Work that runs, by its delivery.
        var runs: [DeliveryID: Run] = [:]
        var tasks = HeldTasks()
        var taskHandlers: [Int: TaskHandlers] = [:]
        var application: ApplicationEvents?
        /// Background sessions by their identifiers.
        var sessions: [String: SessionBox] = [:]
        /// Those for whose events the app was launched, and has not yet been told so.
        var heldSessions: Set<String> = []
        /// Launches for the events of sessions that the app has not made yet.
        var sessionRuns: [String: SessionRun] = [:]
        var device = DeviceState()
        /// Of which the daemon has been told.
        var mistakes: Set<String> = []

        /// The user is there: what counted down no longer does.
        mutating func enterForeground() {
            isInBackground = false
            deadline = nil
            tasks.forgetDeadlines()
            for key in Array(runs.keys) { runs[key]?.deadline = nil }
        }
    }

    struct Run {
        let running: any RunningWork
        /// CLOCK_MONOTONIC, seconds; nil: without an end.
        var deadline: Double?
    }

    enum Reach: Sendable { case unknown, connected, never }

    init(_ settings: DaemonConnection.Settings) {
        connection = DaemonConnection(settings)
    }

    /// Ends the connection for good.
    func stop() { connection.stop() }

    // MARK: Asking

    /// Makes a call and waits for the answer, which comes within a bounded time.
    func call<C: AppCall>(_ call: C) throws(CallError) -> C.Reply {
        let answered = Answered<C.Reply>()
        ask(OutgoingCall(call) { answered.set($0) })
        return try answered.wait()
    }

    func ask(_ call: OutgoingCall) { connection.ask(.call(call), for: self) }

    /// Says hello and waits for the answer, which comes within a bounded time; nil: there is no
    /// daemon that knows this process.
    func greet() -> Greeting? {
        let answered = Answered<Greeting>()
        connection.ask(.greet { answered.set($0) }, for: self)
        return try? answered.wait()
    }

    /// Launching has begun, with or without a user.
    func began(inBackground: Bool) { state.withLock { $0.isInBackground = inBackground } }

    func set(_ application: ApplicationEvents) { state.withLock { $0.application = application } }

    /// - Returns: What the daemon said last of this process, perhaps while it launched. Anything
    ///   later the app is told.
    @discardableResult
    func finishedLaunching() -> Greeting? {
        let greeting = state.withLock { state in
            state.hasFinishedLaunching = true
            if let greeting = state.greeting { state.isInBackground = greeting.isInBackground }
            return state.greeting
        }
        connection.ask(.finishedLaunching, for: self)
        return greeting
    }

    /// What the daemon had called is done.
    func answer(_ number: IncomingNumber) { connection.ask(.answer(number), for: self) }

    /// The app has been told that it is in the background, and may be suspended.
    func enteredBackground(_ number: IncomingNumber) {
        afterSessionCalls { [self] in answer(number) }
    }

    // MARK: What the daemon says

    func connected(_ greeting: Greeting) {
        let (application, hasLaunched) = state.withLock { state in
            state.greeting = greeting
            // Its user may have come or left while nobody could tell.
            if state.hasFinishedLaunching {
                if !greeting.isInBackground {
                    state.enterForeground()
                } else if !state.isInBackground {
                    state.isInBackground = true
                    state.deadline = nil
                }
            }
            return (state.application, state.hasFinishedLaunching)
        }
        joinAgain()
        application?.changed(greeting.backgroundRefresh)
        // Also one that has not moved: an earlier daemon may not have come to say so.
        guard hasLaunched else { return }
        if greeting.isInBackground {
            application?.enterBackground(.none)
        } else {
            application?.becomeActive(.none)
        }
    }

    func reachable() {
        state.withLock { state in
            state.reach = .connected
            state.device.connected()
        }
        beginActivitiesAgain()
    }

    func unreachable() {
        state.withLock { state in
            if state.reach == .unknown { state.reach = .never }
        }
    }

    func enterBackground(
        deadline: Double?,
        work: [AppObject1.Work],
        _ number: IncomingNumber
    ) {
        let application = state.withLock { state in
            state.isInBackground = true
            state.deadline = deadline
            for work in work { state.runs[work.delivery]?.deadline = work.deadline }
            return state.application
        }
        guard let application else { return answer(number) }
        application.enterBackground(number)
    }

    func enterForeground(_ number: IncomingNumber) {
        guard let application = foreground() else { return answer(number) }
        application.enterForeground(number)
    }

    func becomeActive(_ number: IncomingNumber) {
        guard let application = foreground() else { return answer(number) }
        application.becomeActive(number)
    }

    private func foreground() -> ApplicationEvents? {
        state.withLock { state in
            state.enterForeground()
            return state.application
        }
    }

    func openURLs(_ urls: [String], _ number: IncomingNumber) {
        guard let application = state.withLock({ $0.application }) else { return answer(number) }
        application.openURLs(OpenedURLs(urls: urls, number: number))
    }

    func memoryWarning() { state.withLock { $0.application }?.memoryWarning() }

    func changed(backgroundRefresh: Word<RefreshStatus>) {
        state.withLock { $0.application }?.changed(backgroundRefresh)
    }

    func watchTermination() { connection.ask(.watchTermination, for: self) }

    /// A suspended app is told nothing: it ends as it is.
    func willTerminate() -> Bool {
        guard isWorking, let application = state.withLock({ $0.application }) else { return false }
        application.willTerminate()
        return true
    }

    // MARK: Time

    /// CLOCK_MONOTONIC, as deadlines have it; seconds.
    static var now: Double { Double(Clocks.now().awake.nanoseconds) / 1e9 }

    /// Seconds that the app may still run; nil: nobody counts them.
    var timeRemaining: Double? {
        let now = Self.now
        return state.withLock { state -> Double? in
            guard state.isInBackground else { return nil }
            var deadlines = state.runs.values.compactMap(\.deadline)
            deadlines += state.tasks.deadlines(usual: state.deadline)
            return deadlines.max().map { max(0, $0 - now) }
        }
    }

    /// Whether something runs for which the app was given time; else it is, or soon will be,
    /// suspended.
    private var isWorking: Bool {
        state.withLock { state in
            !state.isInBackground || !state.hasFinishedLaunching || !state.runs.isEmpty
                || !state.tasks.isEmpty
        }
    }
}

/// What a `UIApplication` is told, on the link's thread; it takes it to the main one.
struct ApplicationEvents: Sendable {
    var enterBackground: @Sendable (IncomingNumber) -> Void
    var enterForeground: @Sendable (IncomingNumber) -> Void
    var becomeActive: @Sendable (IncomingNumber) -> Void
    var openURLs: @Sendable (OpenedURLs) -> Void
    var memoryWarning: @Sendable () -> Void
    /// `available`, `denied` or `restricted`.
    var changed: @Sendable (Word<RefreshStatus>) -> Void
    var fetch: @Sendable (FetchRun) -> Void
    var handleEvents: @Sendable (SessionRun) -> Void
    /// The process ends when it is done, or soon.
    var willTerminate: @Sendable () -> Void
}

/// What the app is opened for, and what is to be answered then.
struct OpenedURLs: Sendable {
    let urls: [String]
    let number: IncomingNumber
}

/// Work that was begun and is not completed.
protocol RunningWork: AnyObject, Sendable {
    var work: AcceptedWork { get }
    func expire()
}

/// An answer that one thread waits for.
final class Answered<Success: Sendable>: Sendable {
    private let result = Mutex<Result<Success, CallError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ answer: Result<Success, CallError>) {
        result.withLock { $0 = answer }
        done.signal()
    }

    func wait() throws(CallError) -> Success {
        done.wait()
        guard let result = result.withLock({ $0 }) else { throw .stopped }
        return try result.get()
    }
}

extension UUID {
    /// A name that no other call has, by which one that is made again is known.
    static var token: String { UUID().uuidString }
}
