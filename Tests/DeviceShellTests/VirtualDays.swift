import DeviceCore
import DeviceShell
import Vocabulary

/// Days that go by at once: the daemon's own core over its own store, with a clock of their own.
/// What the core begins ends well after a time that is always the same.
struct VirtualDays {
    /// Nil: nothing is kept.
    private struct Port: DevicePort {
        let store: Store?
        var timers = Timers()
        var spawned: [LaunchID] = []

        mutating func commit(
            _ changes: [Change],
            _ durability: Durability
        ) throws(CommitError) {
            do {
                try store?.commit(changes, durability)
            } catch {
                throw CommitError(error.isFull ? .full : .failing, reason: "\(error)")
            }
        }

        mutating func commitAnew(
            _ records: [Record],
            with changes: [Change]
        ) throws(CommitError) {
            try commit(changes, .powerLoss)
        }

        mutating func perform(_ effect: Effect) {
            if case .arm(let timers) = effect { self.timers = timers }
            if case .spawn(let launch, _) = effect { spawned.append(launch) }
        }

        mutating func record(_ event: Event, at moment: Moment, _ decisions: [Effect]) {}
        mutating func recordRollback(of count: Int) {}
    }

    private var driver: Driver<Port>
    private var now: Moment
    /// When something was begun.
    private(set) var runs: [WallTime] = []
    private let runTime: Interval

    init(
        from wall: WallTime,
        utcOffset: Int32,
        _ start: Start,
        runTime: Interval = .seconds(10),
        in store: Store? = nil
    ) {
        self.runTime = runTime
        driver = Driver(device: Device(), port: Port(store: store))
        now = Moment(
            boot: BootTime(nanoseconds: 0) + .hours(1),
            awake: AwakeTime(nanoseconds: 0) + .hours(1),
            wall: wall,
            utcOffset: utcOffset
        )
        feed(.started(start))
        feed(.condition(.idle, .kernel, .value(1)))
    }

    /// The user comes, and opens these apps for ten minutes.
    mutating func use(_ apps: [AppID]) {
        feed(.condition(.idle, .kernel, .value(0)))
        for app in apps { feed(.used(app)) }
        live(until: now.wall + .minutes(10))
        feed(.condition(.idle, .kernel, .value(1)))
    }

    mutating func live(until end: WallTime) {
        while now.wall < end {
            let next = driver.port.timers.first.map { max(.zero, $0 - now.boot) }
            let step = min(end - now.wall, next ?? .days(1))
            move(step)
            feed(.timer)
        }
    }

    private mutating func move(_ step: Interval) {
        now.boot = now.boot + step
        now.awake = now.awake + step
        now.wall = now.wall + step
    }

    private mutating func feed(_ event: Event) {
        let effects = driver.turn([Driver<Port>.TimedEvent(event, at: now)])
        for effect in effects { driver.port.perform(effect) }
        let begun = driver.port.spawned
        guard !begun.isEmpty else { return }
        driver.port.spawned = []
        for launch in begun {
            runs.append(now.wall)
            let process = ProcessID(pid: 1, startTime: launch.number)
            feed(.process(launch, .started(process)))
        }
        move(runTime)
        for launch in begun { feed(.process(launch, .exited(.status(0), nil))) }
    }
}
