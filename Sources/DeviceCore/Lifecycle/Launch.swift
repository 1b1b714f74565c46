package import Vocabulary

/// One process, with its children, from the decision to start it to its confirmed exit.
///
/// A machine: it takes events (`LaunchEvent`) and returns actions (`LaunchAction`). Only `AppState`
/// hands one out to be changed, and only to `Device.take`.
///
/// | state | is left by | for |
/// |---|---|---|
/// | probing | the answer, or none in time | starting; over |
/// | starting | started; not started | running, foreground, ending, killed; over |
/// | running | nothing left to do; the user; its end | suspended; foreground; ending, killed |
/// | foreground | the user leaves; its end | running; killed |
/// | suspended | work; the user; its end | running; foreground; ending, killed |
/// | ending | it exits; its last moment | judging, over; killed |
/// | killed | it exits | over |
/// | judging | the answer, or none in time | over |
///
/// A conclusive exit leads to *over* from any state. One that leaves the result open leads to
/// *judging*, but only from *running*, *suspended* and *ending*.
/// `LaunchState.successors` holds the same table, and a test walks each state × event.
package struct Launch: Hashable, Sendable, Codable {
    package internal(set) var id: LaunchID
    package internal(set) var role: Role
    package internal(set) var phase: Phase
    package internal(set) var process: ProcessID?
    package internal(set) var presence: Presence
    /// What the machine was last told; true while frozen or being frozen.
    @OmittedIfDefault package internal(set) var isFrozen = false
    /// Set once it has been asked, or made, to end.
    package internal(set) var ending: Ending?
    /// The background run in progress.
    package internal(set) var wake: Wake?
    /// Finish-up time: shared by the tasks that were open when the user left.
    package internal(set) var finishUp: FinishUp?
    @OmittedIfDefault package internal(set) var tasks: [BackgroundTask] = []
    /// The highest number given to a task of this launch; none is given twice.
    @OmittedIfDefault package internal(set) var lastTask: Int64 = 0
    @OmittedIfDefault package internal(set) var deliveries: [Delivery] = []
    /// Time given without a wake: entering the background, the debounce after it.
    package internal(set) var graceEnd: AwakeTime?
    /// How much of it entering the background may take; nil: it has done that.
    package internal(set) var enteringUntil: AwakeTime?
    /// The user opened it while it was ending: start it again after that.
    @OmittedIfDefault package internal(set) var reopen = false
    /// What its user opens it for, and it has not acknowledged.
    @OmittedIfDefault package internal(set) var openings: [Opening] = []
    /// The number of the last one.
    @OmittedIfDefault package internal(set) var lastOpening: Int64 = 0
    /// End of the launch watchdog; nil once it has finished launching.
    package internal(set) var launchingUntil: AwakeTime?
    /// Identifiers with a handler, as the app said when it had finished launching.
    @OmittedIfDefault package internal(set) var registered: [String] = []
    /// There to be spoken to: it has finished launching, and its connection holds.
    @OmittedIfDefault package internal(set) var isConnected = false
    /// What it was last told of background refresh; nil: nothing.
    package internal(set) var toldRefresh: RefreshStatus?
    package internal(set) var lockCheckAt: BootTime?
    /// When a command was first interrupted; frozen processes do not outlive a boot.
    package internal(set) var interruptedSince: BootTime?
    package internal(set) var monitor: CPUMonitor?
    /// Until when it may run while no daemon lives, as was told last.
    package internal(set) var deadline: AwakeTime?
    /// The command's result sources.
    @OmittedIfDefault package internal(set) var probe = ProbeState()
    package internal(set) var exit: Exit?
    package internal(set) var usage: Usage?
    /// Up to where the processor time of a run that is over has been booked, while the rest of it
    /// is asked for. Not kept across a restart.
    package internal(set) var bookedUntil: Interval?

    package enum Role: Hashable, Sendable, Codable {
        /// The app's own program.
        case main
        /// A program that knows nothing of us, run for one request.
        case command(RequestID, Trigger)
    }

    package enum Phase: String, Hashable, Sendable, Codable {
        /// Reading `NewDataFrom` before the command.
        case probing
        /// Handed to the shell; not known to have begun.
        case starting
        case running
        /// The command has exited; its result is being read.
        case judging
    }

    package enum Presence: String, Hashable, Sendable, Codable {
        case foreground, background, suspended
    }

    package struct Ending: Hashable, Sendable, Codable {
        package internal(set) var reason: StopReason
        /// When SIGKILL follows; nil: it has been sent.
        package internal(set) var killAt: AwakeTime?
    }

    package struct FinishUp: Hashable, Sendable, Codable {
        package internal(set) var end: AwakeTime
        package internal(set) var warned = false
    }

    /// What a command's result sources said.
    package struct ProbeState: Hashable, Sendable, Codable, Defaulted {
        package static let defaultValue = ProbeState()

        package internal(set) var before: Found?
        package internal(set) var step: ProbeStep?
        package internal(set) var limit: AwakeTime?

        /// What was there before the command.
        package enum Found: Hashable, Sendable, Codable {
            /// Not readable, perhaps not there yet: whatever appears is new.
            case nothing
            case content(Fingerprint)
        }
    }

    /// A command, for one request.
    static func command(_ id: LaunchID, for request: Request) -> Launch {
        Launch(
            id: id,
            role: .command(request.id, request.trigger),
            phase: .starting,
            presence: .background
        )
    }

    /// An app's program, that the user opens.
    static func opened(_ id: LaunchID, for urls: [String]) -> Launch {
        var launch = Launch(id: id, role: .main, phase: .starting, presence: .foreground)
        launch.open(urls)
        return launch
    }

    /// An app's program, for work; it is to have launched by then.
    static func inBackground(_ id: LaunchID, launchingUntil end: AwakeTime) -> Launch {
        var launch = Launch(id: id, role: .main, phase: .starting, presence: .background)
        launch.launchingUntil = end
        return launch
    }

    var isValid: Bool {
        lastTask.isCount && lastOpening.isCount
            && Set(deliveries.map(\.id)).count == deliveries.count
            && Set(tasks.map(\.number)).count == tasks.count
    }

    /// Something said to it is heard now.
    var isListening: Bool { isConnected && !isFrozen && ending == nil }

    var isCommand: Bool {
        switch role {
        case .main: false
        case .command: true
        }
    }

    /// Frozen in mid-run, and free for its next window.
    var isInterrupted: Bool { wake == nil && ending == nil && phase == .running }

    var request: RequestID? {
        switch role {
        case .main: nil
        case .command(let request, _): request
        }
    }
}

/// Time that an app asked for with `beginBackgroundTask`, or an extension by an expiring activity.
package struct BackgroundTask: Hashable, Sendable, Codable {
    package internal(set) var number: Int64
    package internal(set) var name: String
    package internal(set) var hasHandler: Bool
    /// The extension that asked for it; nil: the app itself.
    package internal(set) var holder: ProcessID?
    /// The app's own; the same again is the same task.
    package internal(set) var token: String?
    /// Opened during a wake: ends with it, and a little more.
    package internal(set) var inWake = false
    package internal(set) var warned = false
    /// The end of what it may use beyond the wake that it was opened in, once that is over.
    package internal(set) var end: AwakeTime?
}

/// One background run: what woke the app, until when it may run, and what came of it.
package struct Wake: Hashable, Sendable, Codable {
    package internal(set) var trigger: Trigger
    package internal(set) var identifier: String
    package internal(set) var resumed: Bool
    package internal(set) var mode: Work.RunMode
    package internal(set) var began: Moment
    /// The end of the grant, in awake time.
    package internal(set) var end: AwakeTime
    /// Why it, or the first of its deliveries, is being expired, once it is.
    package internal(set) var stop: StopReason?
    /// What the launch had used by then; nil: it has been asked for. Not kept across a restart.
    package internal(set) var cpuAtStart: Interval?
    /// The most memory that the launch had had by then; nil: it has been asked for.
    package internal(set) var peakAtStart: Int64?
    /// The most memory that was measured in it; nil: none was.
    package internal(set) var memorySeen: Int64?
    /// Whether it was counted as one on battery; nil: it was not counted.
    package internal(set) var wasOnBattery: Bool?
    /// Why a refresh was begun then.
    package internal(set) var decision: RefreshDecision?
}

/// One hand-over of work to a linked app.
package struct Delivery: Hashable, Sendable, Codable {
    package internal(set) var id: DeliveryID
    package internal(set) var request: RequestID?
    package internal(set) var trigger: Trigger
    package internal(set) var identifier: String
    package internal(set) var state: State
    package internal(set) var hasHandler = false
    package internal(set) var warned = false
    /// Why its time is over, whatever ends others of its run. Nil: it is not; older records do not
    /// say.
    package internal(set) var stop: StopReason?
    /// Its handler for expiry has been called, as far as we can.
    package internal(set) var isTold = false
    /// When it joined a run that was going on; nil: it began with its run.
    package internal(set) var began: Moment?
    /// End of its own kind's time.
    package internal(set) var end: AwakeTime

    package enum State: String, Hashable, Sendable, Codable {
        /// Waits until the app is up.
        case waiting
        case offered
        case running
    }
}

/// Average use of the processor over a window, while in the background.
package struct CPUMonitor: Hashable, Sendable, Codable {
    package internal(set) var since: AwakeTime
    /// What had been used by then; nil: not known yet, the first measurement tells.
    package internal(set) var cpu: Interval?
    package internal(set) var next: AwakeTime
}
