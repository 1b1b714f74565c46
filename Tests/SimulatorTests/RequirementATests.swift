import DeviceCore
import Simulator
import Testing
import Vocabulary

/// Section A of the requirements, for linked apps, in virtual time.
struct RequirementATests {
    @Test("A1: a background launch starts the same program, and the app can tell")
    func a1BackgroundLaunchRunsTheSameStartUp() {
        let stage = Stage([Stage.app()])
        #expect(
            stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
                == .done
        )
        guard case .spawn(_, let inBackground) = stage.notes.effects.last(where: \.isSpawn) else {
            Issue.record("nothing was started")
            return
        }
        #expect(stage.launch()?.presence == .background)
        stage.finishLaunching()
        #expect(stage.count { $0.message == .didBecomeActive } == 0)
        let other = Stage([Stage.app()])
        let launch = other.open()
        guard case .spawn(_, let inForeground) = other.notes.effects.last(where: \.isSpawn) else {
            Issue.record("nothing was started")
            return
        }
        #expect(inBackground.arguments == inForeground.arguments)
        #expect(inBackground.weight == .background && inForeground.weight == .foreground)
        #expect(other.launch()?.presence == .foreground)
        #expect(other.count { $0.message == .didBecomeActive } == 1)
        other.leave()
        #expect(
            other.told(launch).contains { if case .didEnterBackground = $0 { true } else { false } }
        )
        other.pass(.seconds(10))
        #expect(other.launch()?.presence == .suspended)
        other.ask(.open(AppID("app"), attach: nil))
        #expect(other.has(.tell(launch, .willEnterForeground)))
        #expect(other.violation == nil && stage.violation == nil)
    }

    @Test("A2: a wake resumes what is suspended and launches what does not run")
    func a2WakeDoesNotCareAboutTheState() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        stage.say(launch, .completed(stage.accept(launch), .succeeded))
        #expect(stage.isFrozen)
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        #expect(stage.count(\.isSpawn) == 1 && stage.has(.thaw(launch)))
        stage.say(launch, .completed(stage.accept(launch), .succeeded))
        #expect(stage.isFrozen && stage.results == [.succeeded, .succeeded])
        #expect(stage.violation == nil)
    }

    @Test("A3: work begun in the foreground goes on after the user leaves")
    func a3WorkBegunInTheForegroundGoesOnAfterTheUserLeaves() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        let task = stage.beginTask(launch)
        // In the foreground it uses no time.
        stage.pass(.hours(1))
        stage.leave()
        stage.pass(.seconds(170))
        #expect(!stage.isFrozen)
        #expect(stage.launch()?.presence == .background)
        // One begun later gets only what is left.
        let later = stage.beginTask(launch)
        #expect(later > task)
        let left = stage.device.allowance(of: launch, at: stage.now)?.timeLeft
        #expect(left == .seconds(10))
        // Given back as soon as the last one ends.
        stage.say(launch, .taskEnded(task: task))
        #expect(!stage.isFrozen)
        stage.say(launch, .taskEnded(task: later))
        #expect(stage.isFrozen)
        #expect(stage.beginTask(launch) == 0)
        #expect(stage.violation == nil)
    }

    @Test("A4: the clock of a grant stands still while the device sleeps")
    func a4TimeNeedNotBeContiguous() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        stage.beginTask(launch)
        stage.leave()
        stage.pass(.seconds(60))
        // Pending tasks do not keep the device awake.
        #expect(!stage.world.isHeldAwake)
        stage.world.fallAsleep()
        stage.pass(.hours(8))
        #expect(stage.world.alarmWakes == 0)
        stage.world.wakeUp()
        stage.pass(.seconds(100))
        #expect(stage.isAlive && !stage.isFrozen)
        #expect(stage.count { $0.isExpiry } == 0)
        stage.pass(.seconds(16))
        #expect(stage.count { $0.isExpiry } == 1)
        #expect(stage.violation == nil)
    }

    @Test("A5: the same call after a background wake gives seconds")
    func a5TaskBegunInAWakeGetsSeconds() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        let delivery = stage.accept(launch)
        #expect(stage.beginTask(launch) > 0)
        stage.say(launch, .completed(delivery, .succeeded))
        #expect(!stage.isFrozen && stage.count { $0.isExpiry } == 1)
        stage.pass(.milliseconds(4_900))
        #expect(stage.isAlive)
        stage.pass(.milliseconds(200))
        #expect(stage.results.last == .terminated(.neverCompleted))
        #expect(stage.violation == nil)
    }

    @Test("A6: the handler is called once before the end; who holds on is terminated")
    func a6ExpirationHandlerOnceThenTermination() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        stage.beginTask(launch)
        stage.leave()
        stage.pass(.milliseconds(174_900))
        #expect(stage.count { $0.isExpiry } == 0)
        stage.pass(.milliseconds(200))
        #expect(stage.count { $0.isExpiry } == 1)
        stage.pass(.milliseconds(4_800))
        #expect(stage.isAlive)
        stage.pass(.milliseconds(300))
        #expect(stage.count { $0.isExpiry } == 1)
        #expect(stage.has(.kill(launch)))
        #expect(stage.results == [.terminated(.neverCompleted)])
        #expect(stage.launch() == nil && stage.violation == nil)
    }

    @Test("A6: a delivery whose handler does not complete means termination as well")
    func a6DeliveryThatNeverCompletes() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        let delivery = stage.accept(launch)
        stage.pass(.seconds(25))
        #expect(stage.hasExpired(delivery, .timeout))
        stage.pass(.seconds(6))
        #expect(stage.results == [.terminated(.neverCompleted)])
        #expect(stage.violation == nil)
    }

    /// A helper program of the app's, in its launch.
    private static let helper = ProcessID(pid: 9_000, startTime: 1)

    @Test("A7: an extension's activity holds the app, and belongs to the extension's process")
    func a7ActivityBelongsToItsExtension() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        let activity = stage.beginTask(launch, by: Self.helper)
        let other = ProcessID(pid: 9_001, startTime: 1)
        #expect(activity > 0)
        stage.leave()
        // The app has said that it is done: nothing but the extension holds it.
        stage.say(launch, .enteredBackground)
        stage.pass(.seconds(100))
        #expect(!stage.isFrozen)
        // Nobody else gives it back, and nobody else's end does.
        stage.say(launch, .taskEnded(task: activity))
        stage.say(launch, .taskEnded(task: activity, by: other))
        stage.say(launch, .extensionGone(other))
        #expect(!stage.isFrozen && stage.launch()?.tasks.count == 1)
        stage.say(launch, .taskEnded(task: activity, by: Self.helper))
        #expect(stage.isFrozen)
        // Where there is no time left it is told so.
        #expect(stage.beginTask(launch, by: Self.helper) == 0)
        #expect(stage.violation == nil)
    }

    @Test("A7: what an extension held is released when its process ends or hangs up")
    func a7EndOfTheExtensionReleasesItsActivity() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        let own = stage.beginTask(launch)
        for _ in 0..<2 { stage.beginTask(launch, by: Self.helper) }
        stage.leave()
        stage.pass(.seconds(10))
        stage.say(launch, .extensionGone(Self.helper))
        // The app's own task is none of the extension's.
        #expect(stage.launch()?.tasks.map(\.number) == [own] && !stage.isFrozen)
        stage.say(launch, .taskEnded(task: own))
        #expect(stage.isFrozen)
        stage.pass(.minutes(5))
        #expect(stage.isAlive && stage.count { $0.isExpiry } == 0)
        #expect(stage.violation == nil)
    }

    @Test("A7: the extension is told before the end, once; who holds on is terminated")
    func a7ActivityExpiresLikeABackgroundTask() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        let activity = stage.beginTask(launch, by: Self.helper)
        // The app's own connection may be gone: the extension has one of its own.
        stage.say(launch, .disconnected)
        stage.leave()
        stage.pass(.milliseconds(175_100))
        #expect(stage.hasExpired(task: activity, Self.helper))
        #expect(stage.count { $0.isExpiry } == 1 && stage.isAlive)
        stage.pass(.seconds(5))
        #expect(stage.count { $0.isExpiry } == 1)
        #expect(stage.results == [.terminated(.neverCompleted)])
        #expect(stage.violation == nil)
    }

    @Test("A7: an activity begun in a background wake gets seconds beyond it")
    func a7ActivityOfAWakeGetsSeconds() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        let delivery = stage.accept(launch)
        let activity = stage.beginTask(launch, by: Self.helper)
        stage.say(launch, .completed(delivery, .succeeded))
        #expect(stage.hasExpired(task: activity, Self.helper))
        stage.pass(.seconds(4))
        #expect(!stage.isFrozen && stage.isAlive)
        stage.say(launch, .extensionGone(Self.helper))
        #expect(stage.isFrozen && stage.violation == nil)
    }

    @Test("C11: what an extension asked for launches the app, when both are gone")
    func c11ExtensionSubmitsAndTheAppIsLaunched() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        stage.beginTask(launch, by: Self.helper)
        stage.submit("clean", .processing, after: .minutes(30), from: launch)
        stage.say(launch, .extensionGone(Self.helper))
        stage.leave()
        stage.pass(.minutes(1))
        #expect(stage.isFrozen)
        // Ended, and not by the user: what it asked for stays.
        stage.report(.memory, 2)
        stage.pass(.seconds(1))
        stage.report(.memory, 0)
        #expect(stage.launch() == nil)
        stage.pass(.minutes(29))
        let again = stage.finishLaunching()
        #expect(again != launch && stage.launch()?.presence == .background)
        stage.say(again, .completed(stage.accept(again), .succeeded))
        let spawned = stage.notes.effects.compactMap { effect -> [String]? in
            if case .spawn(_, let spec) = effect { spec.arguments } else { nil }
        }
        #expect(spawned == [["app"], ["app"]])
        #expect(stage.results.last == .succeeded)
        #expect(stage.violation == nil)
    }

    @Test("A8: past its memory limit or the CPU monitor an app is ended, and the reason is kept")
    func a8LimitsEndTheAppWithAReason() {
        for reason in [StopReason.memoryLimit, .cpuMonitor] {
            let stage = Stage([Stage.app()])
            let launch = stage.open()
            stage.beginTask(launch)
            // In front of the user there is no limit.
            stage.say(launch, .enteredBackground)
            let process = stage.world.process(launch)
            if reason == .memoryLimit { process?.memory = 201 << 20 } else { process?.share = 900 }
            stage.pass(.minutes(10))
            #expect(stage.isAlive)
            stage.leave()
            stage.pass(.seconds(80))
            #expect(stage.results == [.terminated(reason)])
            #expect(stage.violation == nil)
        }
    }

    @Test("A9: what was asked for runs in the containing app")
    func a9WorkRunsInTheContainingApp() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        stage.beginTask(launch, by: Self.helper)
        stage.submit("refresh", .refresh, from: launch)
        stage.ask(.close(AppID("app")))
        stage.pass(.seconds(1))
        #expect(stage.launch() == nil)
        stage.ask(.open(AppID("app"), attach: nil))
        stage.pass(.seconds(1))
        let again = stage.finishLaunching()
        stage.leave()
        #expect(stage.notes.effects.contains { $0.isOffer(to: again) })
        stage.say(again, .completed(stage.accept(again), .succeeded))
        let spawned = stage.notes.effects.compactMap { effect -> [String]? in
            if case .spawn(_, let spec) = effect { spec.arguments } else { nil }
        }
        #expect(spawned == [["app"], ["app"]])
        #expect(stage.violation == nil)
    }

    @Test("A11: the device is held awake while a grant runs, and let go with it")
    func a11HeldAwakeOnlyWhileAGrantRuns() {
        let stage = Stage([Stage.app()])
        #expect(!stage.world.isHeldAwake)
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        #expect(stage.world.isHeldAwake)
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        let delivery = stage.accept(launch)
        stage.pass(.seconds(5))
        #expect(stage.world.isHeldAwake)
        stage.say(launch, .completed(delivery, .succeeded))
        #expect(!stage.world.isHeldAwake)
        #expect(stage.violation == nil)
    }

    @Test("A12: an app reads its limits, its use and its time left, and is warned before")
    func a12LimitsCanBeReadAndAreWarnedOf() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        stage.accept(launch)
        stage.pass(.seconds(9))
        stage.simulated.feed([
            .process(launch, .measured(Usage(cpu: .seconds(2), memory: 170 << 20)))
        ])
        #expect(stage.has(.tell(launch, .memoryWarning(memory: 170 << 20, limit: 200 << 20))))
        let allowance = stage.device.allowance(of: launch, at: stage.now)
        #expect(allowance?.memoryLimit == 200 << 20)
        #expect(allowance?.cpuLimit == 80)
        #expect(allowance?.usage?.cpu == .seconds(2))
        #expect(allowance?.timeLeft == .seconds(20))
        #expect(stage.violation == nil)
    }

    @Test("A10: suspended apps end in order of last use when memory is short")
    func a10MemoryIsTakenFromTheLongestUnused() {
        let stage = Stage([Stage.app("one"), Stage.app("two")])
        for name in ["two", "one"] {
            _ = stage.open(name)
            stage.leave(name)
            stage.pass(.seconds(30))
        }
        let (one, two) = (stage.launch("one")?.id, stage.launch("two")?.id)
        stage.report(.memory, 2)
        let kills = stage.notes.effects.filter(\.isKill)
        #expect(kills == [two].compactMap { $0.map { .kill($0) } })
        stage.pass(.seconds(3))
        #expect(stage.notes.effects.filter(\.isKill).last == one.map { .kill($0) })
        #expect(stage.violation == nil)
    }
}

extension Effect {
    var isSpawn: Bool {
        if case .spawn = self { true } else { false }
    }
    var isKill: Bool {
        if case .kill = self { true } else { false }
    }
    var message: AppMessage? {
        if case .tell(_, let message) = self { message } else { nil }
    }
    func isOffer(to launch: LaunchID) -> Bool {
        if case .tell(launch, .offer) = self { true } else { false }
    }
    var isExpiry: Bool {
        switch self {
        case .tell(_, .expire), .tell(_, .expireTask): true
        case _: false
        }
    }
}
