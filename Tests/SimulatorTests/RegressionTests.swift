import DeviceCore
@testable import Simulator
import Testing
import Vocabulary

/// What the simulator once found in the core.
struct RegressionTests {
    @Test("a refresh that joins a processing run has the time of its own kind")
    func joinedRefreshHasItsOwnTime() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: nil))
        let launch = stage.open()
        stage.submit("clean", .processing, from: launch)
        stage.leave()
        stage.pass(.minutes(1))
        stage.accept(launch)
        #expect(stage.device.running.processing == 1)
        stage.pass(.minutes(2))
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        let refresh = stage.accept(launch)
        stage.pass(.seconds(20))
        #expect(stage.isAlive)
        stage.say(launch, .completed(refresh, .succeeded))
        #expect(stage.results.last == .succeeded && stage.violation == nil)
    }

    @Test("the CPU monitor does not count what was used in the foreground")
    func monitorStartsInTheBackground() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        stage.world.process(launch)?.share = 700
        stage.beginTask(launch)
        stage.pass(.hours(1))
        stage.leave()
        stage.pass(.seconds(170))
        #expect(stage.isAlive && stage.violation == nil)
    }

    @Test("who accepts late is still told that the time is over")
    func lateReceiptIsToldOfTheEnd() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        stage.pass(.seconds(26))
        let delivery = stage.accept(launch)
        #expect(stage.hasExpired(delivery, .timeout))
        #expect(stage.violation == nil)
    }

    @Test("processing that joins a refresh counts as processing")
    func joinedProcessingCounts() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        stage.accept(launch)
        stage.submit("clean", .processing, from: launch)
        #expect(stage.device.running.all == 1 && stage.device.running.processing == 1)
        #expect(stage.violation == nil)
    }

    @Test("a task of a wake does not run for ever after the user opened and left the app")
    func taskOfAWakeEndsAfterTheForeground() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        let delivery = stage.accept(launch)
        stage.beginTask(launch)
        stage.ask(.open(AppID("app"), attach: nil))
        stage.say(launch, .completed(delivery, .succeeded))
        stage.leave()
        stage.pass(.seconds(182))
        #expect(stage.results.last == .terminated(.neverCompleted))
        #expect(stage.violation == nil)
    }

    @Test("an app closed while it was to be opened again stays closed")
    func closingUndoesReopening() {
        let stage = Stage([Stage.app()])
        let launch = stage.open()
        stage.ask(.close(AppID("app")))
        // Still dying.
        #expect(stage.device.launch(launch) != nil)
        stage.ask(.open(AppID("app"), attach: nil))
        stage.ask(.close(AppID("app")))
        stage.pass(.seconds(5))
        #expect(stage.launch() == nil && stage.violation == nil)
    }

    @Test("work in an app that the user looks at does not keep the device awake")
    func foregroundWorkHoldsNothing() {
        let stage = Stage([Stage.app()])
        stage.ask(.simulate(.launch, AppID("app"), identifier: "refresh", kind: .refresh))
        stage.pass(.seconds(1))
        let launch = stage.finishLaunching()
        stage.accept(launch)
        stage.ask(.open(AppID("app"), attach: nil))
        #expect(!stage.world.isHeldAwake)
        stage.leave()
        #expect(stage.world.isHeldAwake && stage.violation == nil)
    }

    @Test("a start that knows the manifests judges by them")
    func startJudgesByTheManifests() throws {
        var manifest = AppManifest(id: AppID("backup"), name: "Backup")
        manifest.modes = [.processing]
        manifest.processingCommand = ["backup"]
        manifest.whenInterrupted = .freeze
        let stage = Stage([manifest])
        stage.pass(.minutes(5))
        let launch = try #require(stage.launch("backup"))
        #expect(launch.phase == .running)
        stage.world.killDaemon(nil, for: .hours(1))
        stage.pass(.hours(1) + .minutes(1))
        // Its time was over while no daemon ran: it is frozen, not ended.
        #expect(stage.launch("backup")?.id == launch.id)
        #expect(stage.count { $0 == .terminate(launch.id) } == 0)
        #expect(stage.violation == nil)
    }

    @Test("a child that a dead daemon left before its execve never executes")
    func voidedChildrenNeverExecute() throws {
        var manifest = AppManifest(id: AppID("backup"), name: "Backup")
        manifest.modes = [.processing]
        manifest.processingCommand = ["backup"]
        let stage = Stage([manifest])
        let first = try #require(stage.world.processes.first)
        stage.world.die(first, .status(0))
        stage.pass(.seconds(1))
        #expect(stage.results == [.succeeded])
        stage.ask(.run(AppID("backup"), identifier: nil))
        let child = try #require(stage.world.processes.last)
        try #require(!child.hasStarted)
        stage.world.killDaemon(nil, for: .zero)
        // The next one is killed as well, when it has said that nothing was started.
        stage.world.killInjector.targets = [EffectPair(first: .save, second: .announce)]
        stage.pass(.minutes(10))
        #expect(stage.world.killInjector.targets.isEmpty)
        #expect(!child.hasStarted && stage.launch("backup")?.process != nil)
        #expect(stage.results == [.succeeded])
        #expect(stage.violation == nil)
    }

    @Test("a daemon whose store fails tries again once, whatever reaches it meanwhile")
    func retriesDoNotAddUp() {
        let stage = Stage([Stage.app()])
        stage.world.storeTrouble = 1
        for level in 1...50 { stage.simulated.feed([.condition(.battery, .hand, .value(level))]) }
        let before = stage.notes.rollbacks
        stage.pass(.seconds(10))
        #expect((9...11).contains(stage.notes.rollbacks - before))
        stage.world.storeTrouble = nil
        stage.pass(.seconds(2))
        #expect(stage.device.conditions.storage == 0 && stage.violation == nil)
    }
}
