package import DeviceCore
package import Vocabulary

/// A daemon in the virtual world: the same core and the same driver as the real one's, killed and
/// started again as the world wants. `Port` is what stands between the driver and the world; tests
/// put one there that lies.
package struct Simulated<Port: SimulatedPort> {
    package let world: World
    package let watch: Watch
    package private(set) var driver: Driver<Port>
    private let port: (VirtualPort) -> Port
    private let corrupt: ((Event) -> [Event])?
    private let seed: UInt64
    /// One life in so many is replayed on a fresh device; 0: none.
    package var replaysEvery = 16
    private var steps = 0
    private var start: [Record] = []
    package private(set) var lives = 0
    package private(set) var replayed = 0

    package init(
        world: World,
        watch: Watch,
        seed: UInt64,
        corrupt: ((Event) -> [Event])? = nil,
        port: @escaping (VirtualPort) -> Port
    ) {
        self.world = world
        self.watch = watch
        self.seed = seed
        self.corrupt = corrupt
        self.port = port
        driver = Driver(device: Device(), port: port(VirtualPort(world: world)))
    }

    /// Runs until the world is as old as `end`, or a rule is broken.
    package mutating func run(until end: Interval) {
        if lives == 0 { startDaemon() }
        while watch.violation == nil, let next = world.next, next <= end { step() }
    }

    /// Lets so much time go by, whether anything happens in it or not.
    package mutating func pass(_ time: Interval) {
        let end = world.clock.elapsed + time
        run(until: end)
        world.clock.advance(to: max(end, world.clock.elapsed))
    }

    package mutating func step() {
        let wasAlive = world.daemonIsAlive
        world.step()
        // At a message that reached it, or was on its way.
        if wasAlive, !world.daemonIsAlive {
            loseWaiting()
            endLife()
        }
        if world.rebootIsDue { reboot() }
        if world.restartIsDue {
            world.restartIsDue = false
            if !world.daemonIsAlive { startDaemon() }
        }
        deliver()
        answerQuestions()
        steps += 1
        if steps % 16 == 0, world.isSettled, !driver.isStarting {
            watch.idled(world) {
                let told = driver.device.explain($0, at: $1)
                return world.explanationBug.map { told.map($0) } ?? told
            }
        }
    }

    private mutating func answerQuestions() {
        guard !world.questions.isEmpty else { return }
        world.answerQuestions(driver.device)
        // At an answer.
        if !world.daemonIsAlive {
            loseWaiting()
            endLife()
        }
    }

    /// Hands the daemon these events at once, as one turn.
    package mutating func feed(_ events: [Event]) {
        world.inbox.append(contentsOf: events)
        deliver()
    }

    /// Hands the daemon what has reached it, as one turn.
    package mutating func deliver() {
        guard world.daemonIsAlive, !world.inbox.isEmpty else { return }
        // It comes together with something that the daemon would act on.
        let isLast = world.isStopping
        let events = (isLast ? [.stopping] : []) + world.inbox
        world.inbox.removeAll(keepingCapacity: true)
        for event in events { world.hears(event) }
        turn(events, isStart: false)
        guard isLast, world.daemonIsAlive else { return }
        world.killDaemon(.stopped)
        loseWaiting()
        endLife()
    }

    /// What the dead daemon kept for its store.
    private func loseWaiting() {
        for timed in driver.unsettled { world.lost(timed.event) }
    }

    private mutating func turn(_ events: [Event], isStart: Bool) {
        let now = world.now
        let waiting = driver.unsettled.map(\.event)
        watch.begin(at: now, isStart: isStart)
        world.beginTurn()
        let timed = (corrupt.map { events.flatMap($0) } ?? events).map { TimedEvent($0, at: now) }
        for effect in driver.turn(timed) { driver.port.perform(effect) }
        watch.end(world, isStarting: driver.isStarting)
        if world.daemonIsAlive {
            if driver.mustRetry { world.planRetry() }
        } else {
            // Nobody heard the answers; what was not committed has to be said again.
            for event in waiting + events { world.lost(event) }
            endLife()
        }
    }

    // MARK: Lives

    private mutating func startDaemon() {
        do {
            start = try world.store.load()
        } catch {
            watch.fail("what was stored can be read", error.reason)
            return
        }
        let device = Device(restoring: start)
        lives += 1
        watch.keepsLife = replaysEvery > 0 && lives % replaysEvery == 1 % replaysEvery
        world.life += 1
        world.daemonIsAlive = true
        world.inbox.removeAll()
        driver = Driver(device: device, port: port(VirtualPort(world: world)))
        watch.restored(world)
        world.daemonStarted()
        let conditions = Condition.allCases.compactMap { condition in
            world.reading(condition).map { ConditionReport(condition, .kernel, $0) }
        }
        let events = [
            Event.started(
                Start(
                    bootID: "boot-\(world.bootNumber)",
                    survivors: world.survivors(),
                    seed: Int64(seed & (1 << 62 - 1)) | 1,
                    settings: world.settings,
                    manifests: world.plans.dropLast().map(\.change),
                    conditions: conditions
                )
            )
        ]
        turn(events, isStart: true)
    }

    /// The life that just ended, or goes on, gives the same decisions again.
    private mutating func endLife() {
        guard watch.keepsLife, watch.violation == nil else { return }
        replayLife()
    }

    /// Feeds what was recorded to a fresh device and compares all that it decides.
    package mutating func replayLife() {
        guard watch.keepsLife else { return }
        var device = Device(restoring: start)
        replayed += 1
        var effects: [Effect] = []
        for entry in watch.life.joined() {
            effects.removeAll(keepingCapacity: true)
            device.handle(entry.timed, into: &effects)
            guard effects != entry.decisions else { continue }
            watch.fail(
                "decisions are equal for equal logs",
                "\(entry) but replayed: \(effects)"
            )
            return
        }
    }

    private mutating func reboot() {
        world.rebootIsDue = false
        if world.daemonIsAlive {
            world.killDaemon(nil)
            loseWaiting()
        }
        endLife()
        world.reboot()
        watch.rebooted()
    }
}
