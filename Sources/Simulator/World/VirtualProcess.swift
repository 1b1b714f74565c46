import ClientCore
package import DeviceCore
package import Vocabulary

/// One process of the virtual machine. It does things after so much time of its own, which passes
/// only while it is not frozen and the device is awake.
package final class VirtualProcess {
    package let launch: LaunchID
    let app: Int
    package let appID: AppID
    /// Nil: the app's own program.
    let command: Trigger?
    package let process: ProcessID
    /// The marker is written: exec has happened.
    var hasStarted = false
    var isFrozen = false
    var isDead = false
    /// When it died, by the age of the world.
    var diedAt: Interval?
    /// No child of the daemon that runs now: nobody will see its exit status.
    var isAdopted = false
    /// How it was started, and is treated since: as what is in front of the user, or not.
    var weight: Weight
    /// The daemon has told it to end, or has made it.
    var isToldToEnd = false
    /// How it ended.
    var exit: Exit?
    var talk = Talk()
    /// Time that it has run, up to `runningSince`.
    private var used = Interval.zero
    private var runningSince: Interval?
    /// Thousandths of a core.
    package var share: Int64 = 100
    package var memory: Int64 = 20 << 20 {
        didSet { memoryPeak = max(memoryPeak, memory) }
    }
    private var memoryPeak: Int64 = 20 << 20
    var ignoresTerm = false
    /// Until when it may run while no daemon lives.
    var deadline: AwakeTime?
    var holdsLock = false
    private(set) var plan = 0
    private var activities: [Activity] = []
    var link = LinkState()
    /// Its connections to the daemon: its own first, then those of its helper programs.
    var clients: [VirtualClient] = []
    var begunTasks = 0
    var nextClient = 0
    /// Background tasks that it holds.

    struct Activity {
        var left: Interval
        var action: Action
    }

    init(
        launch: LaunchID,
        app: Int,
        _ spec: ProcessSpec,
        runs command: Trigger?,
        process: ProcessID
    ) {
        (self.launch, self.app, self.command, self.process) = (launch, app, command, process)
        (appID, weight, deadline) = (spec.app, spec.weight, spec.deadline)
    }

    var isRunning: Bool { runningSince != nil }

    /// Time of its own so far.
    package func runTime(at now: Interval) -> Interval {
        used + (runningSince.map { now - $0 } ?? .zero)
    }

    package func usage(at now: Interval) -> Usage {
        let cpu = runTime(at: now).nanoseconds / 1000 * share
        var usage = Usage(cpu: Interval(nanoseconds: cpu), memory: memory)
        usage.peak = memoryPeak
        return usage
    }

    func add(_ action: Action, after left: Interval, at now: Interval) {
        settle(now)
        activities.append(Activity(left: left, action: action))
    }

    func forget(where isMeant: (Action) -> Bool) { activities.removeAll { isMeant($0.action) } }

    /// Who is told this.
    func listener(of message: AppMessage) -> VirtualClient? {
        guard case .expireTask(_, .some(let holder), _, _) = message else { return clients.first }
        return clients.first { $0.holder == holder }
    }

    /// What is due, the longest due first.
    func takeDue(at now: Interval) -> [Action] {
        settle(now)
        var due: [Activity] = []
        var index = 0
        while index < activities.count {
            if activities[index].left <= .zero {
                due.append(activities.remove(at: index))
            } else {
                index += 1
            }
        }
        if due.count > 1 { due.sort { $0.left < $1.left } }
        return due.map(\.action)
    }

    /// Runs or stands still from now on; returns when its next act is due, and a new plan number.
    func run(_ runs: Bool, at now: Interval) -> Interval? {
        settle(now)
        runningSince = runs ? now : nil
        plan += 1
        guard runs, !activities.isEmpty else { return nil }
        var next = Interval.forever
        for index in activities.indices { next = min(next, activities[index].left) }
        return now + max(.zero, next)
    }

    private func settle(_ now: Interval) {
        guard let since = runningSince, now > since else { return }
        let step = now - since
        used += step
        runningSince = now
        for index in activities.indices { activities[index].left -= step }
    }
}

/// What a process does by itself.
enum Action {
    case exec
    case exit(Exit)
    case greet
    case finishLaunching
    /// Reads the next thing that the daemon has said.
    case read(VirtualClient)
    case tick(VirtualClient)
    /// There is a sign that the daemon may be there again.
    case look(VirtualClient)
    /// It is looked for again, without a sign.
    case search(VirtualClient)
    /// What the daemon called for is done.
    case done(IncomingNumber, VirtualClient)
    /// Answers what a task of its session asks.
    case answer(TaskQuestion, VirtualClient)
    case setHandler(DeliveryID)
    case complete(DeliveryID, TaskResult)
    /// A mistake, which its library sees.
    case completeAgain(String)
    case beginTask(handler: Bool, byHelper: Bool)
    case endTask(Int, VirtualClient)
    case helperEnds(VirtualClient)
    case submit(Submission)
    case setInterval(Double)
    case cancel
    /// Whether the screen is to stay on.
    case setIdleTimer(disabled: Bool)
    case disconnect
    case reconnect
    /// A second connection, of which the daemon hears before it hears of the end of the first.
    case connectAnew
    case becomeHog(memory: Int64)
}

/// How a linked app is.
struct LinkState {
    /// Reads nothing any more; what was said to it since.
    var stoppedReading = false
    var unreadCount = 0
    /// The library's thread hangs: the program does not even know.
    var isHung = false
    var isGreeting = false
    /// It goes on when it is greeted, or is not going to be.
    var waitsForGreeting = false
    var hasFinishedLaunching = false
    /// Handlers that run.
    var running: [DeliveryID] = []
    /// Never completed, whatever is said.
    var stubborn: [DeliveryID] = []
    var isForeground = false
}
