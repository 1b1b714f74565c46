import DeviceCore
import DeviceShell
import TestKit
import Vocabulary

/// Days that go by at once: the daemon's own core over its own store, with a clock of their own.
/// What the core begins ends well after a time that is always the same.
struct VirtualDays {
    private var driver: Driver<StorePort>
    private var timers = Timers()
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
        driver = Driver(device: Device(), port: StorePort(store))
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
            let next = timers.first.map { max(.zero, $0 - now.boot) }
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
        var begun: [LaunchID] = []
        for effect in driver.turn([TimedEvent(event, at: now)]) {
            if case .arm(let timers) = effect { self.timers = timers }
            if case .spawn(let launch, _) = effect { begun.append(launch) }
        }
        guard !begun.isEmpty else { return }
        for launch in begun {
            runs.append(now.wall)
            let process = ProcessID(pid: 1, startTime: launch.number)
            feed(.process(launch, .started(process)))
        }
        move(runTime)
        for launch in begun { feed(.process(launch, .exited(.status(0), nil))) }
    }
}
