internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import Vocabulary

/// A launch, and whose it is.
struct LaunchOwner: Equatable, Sendable {
    var app: AppID
    var launch: LaunchID
}

/// What the private socket needs of the daemon. Everything is called on the loop's thread.
protocol ControlHost: AnyObject {
    /// The device as it is; for questions, which change nothing.
    var device: Device { get }
    func now() -> Moment

    /// The settings files that cannot be used, each with its first mistake.
    var invalidSettings: [Report.InvalidFile] { get }

    /// Gives the request to the core; `answer` is called once, after the commit.
    func ask(_ request: UserRequest, answer: @escaping (Reply) -> Void)

    /// Keeps a file open that is to be sent; nil: there are enough.
    func take(_ file: consuming FileDescriptor) -> HeldSource?
    /// From now on until the transfer has ended.
    func hold(_ source: HeldSource, for id: TransferID)

    /// `NAME=value` of a launch that a caller has just become; told once.
    func takeEnvironment(of attached: LaunchID) -> [String]

    /// `offstage set`: a condition by hand (`auto` gives the word back to its sources) or a
    /// setting, of one app or of all. `answer` is called once, after it is in force.
    func set(_ name: String, to value: String, app: AppID?, answer: @escaping (Reply) -> Void)

    /// Reads the settings file and the manifests anew, as if they had changed.
    func reload(answer: @escaping (Reply) -> Void)

    /// Moves a virtual clock on. `asleep`: as a device does that sleeps meanwhile, until it is over
    /// or its alarm wakes it. `patience`: how long, in real time, a run or a transfer may hold it
    /// up. `isWanted` tells whether the caller is still there; `answer` is called once, unless it
    /// has gone.
    func advance(
        by span: Interval,
        asleep: Bool,
        patience: Interval,
        isWanted: @escaping () -> Bool,
        answer: @escaping (Result<Report.Advance, Refusal>) -> Void
    )

    /// Lines of the history, newest first. `before` is the id of a line, for paging.
    func history(
        of app: AppID?,
        limit: Int,
        before: Int64?
    ) throws(Refusal) -> [Report.HistoryLine]

    /// The id of its last line; 0: it has none.
    var newestLine: Int64 { get }

    /// The end of an app's output, at most `lines` lines and 256 KB.
    func logs(of app: AppID, lines: Int) throws(Refusal) -> LogEnd

    /// What this machine can do.
    func doctor() -> [Check]

    func version() -> DaemonVersion
}
