internal import DeviceCore
internal import Linux
internal import Vocabulary

/// What apps on the private socket need of the daemon. Everything is called on the loop's thread.
protocol AppHost: ControlHost {
    /// Gives the core what an app says.
    func say(_ launch: LaunchID, _ event: AppEvent)
    /// The same, of what is answered: `answer` is called once, after the commit.
    func say(
        _ launch: LaunchID,
        _ event: (ReplyToken) -> AppEvent,
        answer: @escaping (Reply) -> Void
    )
    /// How far the daemon's clocks are ahead of those of an app.
    var ahead: Interval { get }
    /// The same of the clock that stops while the device sleeps.
    var awakeAhead: Interval { get }
    /// Calls `body` once the core has decided about all that was said until now.
    func afterTurn(_ body: @escaping () -> Void)
    /// Where the files of an app's sessions are kept for it; makes it.
    func transferDirectory(of app: AppID) throws(LinuxError) -> String
    /// Keeps a name and a password in memory, until the core says that nobody needs them.
    func keepLogin(_ user: String, _ password: String) -> UInt64
    /// What a launch uses at this moment; nil: it cannot be measured.
    func usage(of launch: LaunchID) -> Usage?
}

/// Who calls `App1`, as the process that connected shows it; never by what it says.
struct AppCaller: Equatable {
    enum Role: Equatable {
        /// The main process of the launch.
        case main
        /// Another process of it.
        case child
        /// A program that the manifest lists under `Extensions`, in a launch or outside of all.
        case helper
    }

    let process: ProcessID
    let app: AppID
    /// Nil: a helper that the user started, outside every launch.
    let launch: LaunchID?
    let role: Role
}
