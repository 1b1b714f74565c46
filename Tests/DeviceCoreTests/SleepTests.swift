import DeviceCore
import Testing
import Vocabulary

/// The machine's way to sleep and back: what is said of the network then, and of use, is of the
/// sleep.
struct SleepTests {
    /// A device that is refreshed again in some hours, and is woken for that.
    private static func waiting() throws -> Bench {
        var bench = Bench(settings: .calm)
        bench.configure { $0.pauseAfterResume = .seconds(10) }
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.move(.seconds(3))
        bench.exited(launch)
        return bench
    }

    /// As NetworkManager takes it down for the sleep.
    private static func loseNetwork(_ bench: inout Bench) {
        bench.set(.network, 0, by: .networkManager)
        bench.send(.condition(.metered, .networkManager, .silent))
        bench.set(.network, 0, by: .kernel)
    }

    private static func findNetwork(_ bench: inout Bench) {
        bench.set(.network, 2, by: .kernel)
        bench.set(.network, 2, by: .networkManager)
        bench.set(.metered, 0, by: .networkManager)
    }

    @Test func `a network that goes down for the sleep does not take the alarm along`() throws {
        var bench = try Self.waiting()
        let alarm = try #require(bench.timers.alarm)
        bench.send(.sleep(.begins))
        Self.loseNetwork(&bench)
        #expect(bench.timers.alarm == alarm)
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        bench.send(.sleep(.ended))
        // It is back within the pause after the sleep.
        bench.advance(.seconds(5))
        Self.findNetwork(&bench)
        bench.advance(.seconds(6))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.contains(.sleepAgain))
    }

    @Test(arguments: [true, false])
    func `a network that comes back late is waited for, and not for long`(returns: Bool) throws {
        var bench = try Self.waiting()
        bench.send(.sleep(.begins))
        Self.loseNetwork(&bench)
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        bench.send(.sleep(.ended))
        bench.advance(.seconds(20))
        #expect(bench.spawned.isEmpty)
        #expect(!bench.contains(.sleepAgain))
        if returns {
            Self.findNetwork(&bench)
            let launch = try #require(bench.launches.first?.id)
            bench.started(launch)
            bench.exited(launch)
        } else {
            bench.advance(.seconds(11))
        }
        #expect(bench.contains(.sleepAgain))
    }

    /// Processing that asks for a network, and goes on as the machine prepares for sleep.
    private static func processing(_ pass: (inout Bench) -> Void) throws -> Bench {
        var bench = Bench(settings: .calm)
        bench.configure { $0.pauseAfterResume = .seconds(10) }
        findNetwork(&bench)
        let needs = Needs(network: true, unmetered: true)
        bench.ask(.submit(Submission(kind: .processing, needs: needs, command: ["app"])))
        let launch = try #require(bench.spawn(of: "command.app"))
        bench.started(launch)
        bench.send(.sleep(.begins))
        loseNetwork(&bench)
        pass(&bench)
        return bench
    }

    private static func isStopped(_ bench: Bench) -> Bool {
        bench.launches.allSatisfy { $0.ending != nil }
    }

    @Test func `a sleep ends no run that needs the network, if that comes back`() throws {
        var bench = try Self.processing { $0.sleep(.minutes(1)) }
        #expect(!Self.isStopped(bench))
        bench.send(.sleep(.ended))
        #expect(!Self.isStopped(bench))
        bench.advance(.seconds(8))
        Self.findNetwork(&bench)
        bench.advance(.minutes(1))
        #expect(!Self.isStopped(bench))
        // From then on what is said of it counts at once.
        Self.loseNetwork(&bench)
        #expect(bench.device.conditions[.network].value == 0)
    }

    @Test func `a network that does not come back after the sleep is lost`() throws {
        var bench = try Self.processing { $0.sleep(.minutes(1)) }
        bench.send(.sleep(.ended))
        bench.advance(.seconds(9))
        #expect(!Self.isStopped(bench))
        bench.advance(.seconds(2))
        #expect(Self.isStopped(bench))
    }

    @Test func `of a machine that does not sleep after all it counts soon`() throws {
        var bench = try Self.processing { $0.move(.seconds(5)) }
        bench.send(.sleep(.ended))
        // It comes back as after a sleep.
        bench.advance(.seconds(9))
        #expect(!Self.isStopped(bench))
        bench.advance(.seconds(2))
        #expect(Self.isStopped(bench))
        // Nobody tells that it does not: the bus has gone.
        bench = try Self.processing { _ in }
        bench.advance(.seconds(50))
        #expect(!Self.isStopped(bench))
        bench.advance(.seconds(20))
        #expect(Self.isStopped(bench))
    }

    @Test func `a hand, and a network that comes, are believed meanwhile`() throws {
        var bench = try Self.waiting()
        bench.set(.network, 0, by: .kernel)
        #expect(bench.timers.alarm == nil)
        bench.send(.sleep(.begins))
        bench.set(.network, 2, by: .kernel)
        #expect(bench.timers.alarm != nil)
        bench.set(.network, 0, by: .hand)
        #expect(bench.timers.alarm == nil)
    }

    // MARK: Use

    private static func processing(
        after delay: Interval?,
        _ change: (inout Bench) -> Void = { _ in }
    ) -> Bench {
        var bench = Bench(settings: .calm)
        bench.configure { $0.pauseAfterResume = .seconds(10) }
        bench.set(.idle, 0)
        change(&bench)
        bench.ask(
            .submit(Submission(kind: .processing, after: delay, command: ["app"]))
        )
        return bench
    }

    @Test func `a lid that is closed while the device is in use does not keep it from its work`() {
        var bench = Self.processing(after: .hours(3))
        let due = bench.now.boot + .hours(3)
        #expect(bench.timers.alarm == nil)
        bench.send(.sleep(.begins))
        #expect(bench.timers.alarm == due)
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        bench.send(.sleep(.ended))
        // Who is there is judged then.
        bench.advance(.minutes(1))
        #expect(bench.spawned.isEmpty)
        bench.set(.idle, 1)
        #expect(bench.spawned.count == 1)
    }

    @Test func `work that only waits for its user to go is begun some minutes later`() {
        var bench = Self.processing(after: nil)
        bench.send(.sleep(.begins))
        #expect(bench.timers.alarm == bench.now.boot + .minutes(5))
        #expect(bench.spawned.isEmpty)
        // It does not sleep after all.
        bench.send(.sleep(.ended))
        #expect(bench.timers.alarm == nil)
        #expect(bench.spawned.isEmpty)
    }

    @Test func `a lid that stays closed wakes it once, not all night`() {
        var bench = Self.processing(after: nil)
        bench.send(.sleep(.begins))
        #expect(bench.timers.alarm != nil)
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        bench.send(.sleep(.ended))
        // Nobody has said that the user is gone, and the lid sends it back to sleep.
        bench.advance(.seconds(30))
        bench.send(.sleep(.begins))
        #expect(bench.timers.alarm == nil)
        // Somebody was there in between.
        bench.sleep(.hours(1))
        bench.send(.used(AppID("other")))
        bench.send(.sleep(.begins))
        #expect(bench.timers.alarm != nil)
    }

    @Test func `a sleep of which only the clocks tell is over as well`() {
        var bench = Self.processing(after: nil)
        bench.send(.sleep(.begins))
        bench.sleep(.minutes(10))
        #expect(bench.timers.alarm == nil)
        bench.advance(.minutes(1))
        #expect(bench.timers.alarm == nil)
        #expect(bench.spawned.isEmpty)
    }

    @Test func `what came due during one sleep begins after one wake`() throws {
        var bench = Bench(settings: .calm)
        bench.configure { $0.pauseAfterResume = .seconds(10) }
        for hours in [3, 1, 2] as [Int64] {
            let command = ["app\(hours)"]
            let submission = Submission(kind: .refresh, after: .hours(hours), command: command)
            bench.ask(.submit(submission))
        }
        bench.send(.sleep(.begins))
        bench.sleep(.hours(4))
        bench.send(.sleep(.ended))
        #expect(bench.launches.isEmpty)
        bench.advance(.seconds(11))
        let apps = bench.spawned.map(\.spec.app.name).sorted()
        #expect(apps == ["command.app1", "command.app2", "command.app3"])
    }
}
