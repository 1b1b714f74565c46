internal import AppProtocol
internal import ClientCore
internal import Vocabulary

/// What the daemon says. Called on the link's thread, which must not be kept waiting; whoever
/// hears it takes it to the thread that it is for.
protocol DaemonListener: AnyObject, Sendable {
    /// The identifiers for which there are handlers.
    var registeredIdentifiers: [String] { get }

    /// Somebody listens: for the first time, or again.
    func reachable()
    /// The daemon knows this process as an app: for the first time, or again.
    func connected(_ greeting: Greeting)
    /// Nobody is there who could give time. Told before what was asked fails.
    func unreachable()

    /// Whether there is somebody who would do such work.
    func canRun(_ kind: WorkKind, _ identifier: String) -> Bool
    /// The receipt is durable: run it. Called once for each delivery.
    func run(_ work: AcceptedWork)
    /// Time is nearly out.
    func expire(delivery: DeliveryID, deadline: Double?)
    func expire(task: Int64, deadline: Double?)

    /// `deadline`: of background tasks. `work`: deliveries that go on.
    /// `number`: what is to be answered when it is done.
    func enterBackground(deadline: Double?, work: [AppObject1.Work], _ number: IncomingNumber)
    func enterForeground(_ number: IncomingNumber)
    func becomeActive(_ number: IncomingNumber)
    /// The app is opened for these; `number` as above.
    func openURLs(_ urls: [String], _ number: IncomingNumber)
    func memoryWarning()
    func changed(backgroundRefresh: Word<RefreshStatus>)
    /// The device is this now. `isTold`: so will be what changes.
    func changed(conditions: DeviceConditions, isTold: Bool)

    /// A task of a session has ended; to be answered once the app has done with it.
    func taskEnded(session: String, _ end: SessionTaskEnd, _ number: IncomingNumber)
    func taskProgressed(session: String, _ progress: TaskProgress)
    /// A task of a session waits for an answer.
    func taskAsked(session: String, _ question: TaskQuestion)

    /// The process is asked to end; false: there is nobody to be told.
    func willTerminate() -> Bool
}

/// A delivery that was accepted.
struct AcceptedWork: Sendable {
    let delivery: DeliveryID
    let kind: WorkKind
    let identifier: String
    /// Of CLOCK_MONOTONIC, in seconds; nil: without an end.
    var deadline: Double?
}
