package import Vocabulary

/// What must be done in the world because of an event. The driver commits `save` first, then hands
/// out the others, and the shell performs them in order, replies among them. What is large is
/// indirect: effects are kept and compared more often than they are made.
package enum Effect: Hashable, Sendable, Codable {
    /// Durable changes. At most one per event, and then the first.
    case save([Change])
    /// Starts the main process of a launch; answered by `started` or `notStarted`.
    indirect case spawn(LaunchID, ProcessSpec)
    /// Moves a process that asked for it (`offstage open --attach`) into the launch.
    indirect case attach(LaunchID, ProcessID, ProcessSpec)
    /// Reads a result source, within `limit`; answered by `probed`.
    indirect case probe(LaunchID, ProbeStep, ResultSource, ProcessSpec, limit: Interval)
    /// Ends a probe that takes too long, or whose run was ended.
    case cancelProbe(LaunchID)
    case freeze(LaunchID)
    case thaw(LaunchID)
    /// Asks the processes of the launch to end (SIGTERM).
    case terminate(LaunchID)
    /// Ends all processes of the launch.
    case kill(LaunchID)
    /// The launch is over: what is left of it on the machine may go.
    case release(LaunchID)
    case measure(LaunchID)
    /// Asks which file locks a frozen launch holds; answered by `locks`.
    case checkLocks(LaunchID)
    /// Foreground apps weigh more than background ones.
    case weigh(LaunchID, Weight)
    /// What its processes may have of memory together, in bytes; nil: no limit. The kernel keeps it
    /// where it can.
    case limitMemory(LaunchID, Int64?)
    /// Until when the launch may run; nil: no end is known. A daemon that lives ends it in time;
    /// this is for whoever keeps the launches while none does.
    case setDeadline(LaunchID, AwakeTime?)
    /// Says something to a linked app, which is not frozen.
    indirect case tell(LaunchID, AppMessage)
    /// Does something for a transfer.
    indirect case transfer(TransferID, TransferAction)
    /// Keeps the device from sleeping while a grant runs.
    case holdAwake(Bool)
    /// Keeps the desktop from locking the screen, or switching it off, for want of input.
    case inhibitIdle(Bool)
    /// Sends the device back to sleep, which was woken for work that is done.
    case sleepAgain
    /// Judges by the load whether the device is in use, and says so at once and from time to time.
    case watchIdle(Bool)
    /// Runs the user's own command about failures.
    indirect case notifyFailures(AppID, count: Int64, reason: String, command: String)
    /// Watches, or no longer watches, a file that tells of an app's use.
    indirect case watchUse(AppID, UseSource?)
    /// Answers a caller, after the commit.
    indirect case reply(ReplyToken, Reply)
    /// The next instants at which an answer can change.
    case arm(Timers)
    /// For those who watch; nothing depends on it.
    indirect case announce(HistoryLine)
}

/// When the device wants to be asked again; nil: not by time alone. Both count boot time: what
/// counts awake time stands where it comes if the device does not sleep, and is checked on arrival.
package struct Timers: Hashable, Sendable, Codable {
    /// Waiting work may start: a machine that sleeps is woken.
    package var alarm: BootTime?
    /// All else (the end of a grant, a sample, what is forgotten): a machine that sleeps sleeps on.
    package var timer: BootTime?

    package init(alarm: BootTime? = nil, timer: BootTime? = nil) {
        (self.alarm, self.timer) = (alarm, timer)
    }

    /// Whichever comes first.
    package var first: BootTime? {
        alarm.map { min($0, timer ?? $0) } ?? timer
    }
}

/// One durable change. The store keeps records by section and key, and the history as lines.
package enum Change: Hashable, Sendable, Codable {
    case put(Record)
    case delete(RecordKey)
    indirect case append(HistoryLine)
}

/// How a program is started. The shell adds the marker, the log and the basic environment.
package struct ProcessSpec: Hashable, Sendable, Codable {
    package var app: AppID
    /// Never empty; the first is a path or found in `PATH`.
    package var arguments: [String]
    /// Nil: the user's home.
    package var directory: String?
    /// Set on top of the clean environment.
    package var environment: [EnvironmentVariable]
    /// Names taken over from the daemon beside the usual ones.
    package var passEnvironment: [String]
    /// Bytes; nil: no limit.
    package var memoryLimit: Int64?
    package var weight: Weight
    /// When the keeper ends it if no daemon lives; nil: no end is known.
    package var deadline: AwakeTime?

    package init(
        app: AppID,
        arguments: [String],
        directory: String? = nil,
        environment: [EnvironmentVariable] = [],
        passEnvironment: [String] = [],
        memoryLimit: Int64? = nil,
        weight: Weight = .background,
        deadline: AwakeTime? = nil
    ) {
        self.app = app
        self.arguments = arguments
        self.directory = directory
        self.environment = environment
        self.passEnvironment = passEnvironment
        self.memoryLimit = memoryLimit
        self.weight = weight
        self.deadline = deadline
    }
}

package enum Weight: String, Hashable, Sendable, Codable {
    case foreground, background
}
