import DeviceCore
import Testing
import Vocabulary

/// The machine is woken for work as `wake-from-sleep` says. It goes back to sleep afterwards,
/// unless somebody is there.
struct SleepAgainTests {
    /// A device whose app was refreshed: the next refresh is to come.
    private static func refreshed(
        isSensed: Bool = true,
        _ change: (inout Settings) -> Void = { _ in }
    ) throws -> Bench {
        var settings = Settings.calm
        change(&settings)
        var bench = Bench(isSensed: isSensed, settings: settings)
        bench.install(.refreshing("app"))
        bench.exited(try begin(&bench))
        #expect(!bench.contains(.sleepAgain))
        return bench
    }

    /// The refresh that is due begins.
    private static func begin(_ bench: inout Bench) throws -> LaunchID {
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.move(.seconds(3))
        return launch
    }

    /// A device that an alarm has woken for a refresh, which runs.
    private static func woken(_ bench: consuming Bench) throws -> (Bench, LaunchID) {
        var bench = bench
        #expect(bench.timers.alarm != nil)
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        let launch = try begin(&bench)
        return (bench, launch)
    }

    @Test func `when the work is done it sleeps again, once`() throws {
        var (bench, launch) = try Self.woken(try Self.refreshed())
        #expect(!bench.contains(.sleepAgain))
        bench.exited(launch)
        #expect(bench.contains(.sleepAgain))
        bench.advance(.minutes(1))
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `a clock that rings a moment too early has woken it all the same`() throws {
        var bench = try Self.refreshed()
        let alarm = try #require(bench.timers.alarm)
        bench.sleep(alarm - bench.now.boot - .milliseconds(900))
        bench.advance(.seconds(1))
        bench.exited(try Self.begin(&bench))
        #expect(bench.contains(.sleepAgain))
    }

    @Test func `without any work it sleeps again when the pause after the wake is over`() throws {
        var bench = try Self.refreshed { $0.pauseAfterResume = .seconds(10) }
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        // Low-power mode holds the refresh that it was woken for.
        bench.set(.lowPower, 1)
        bench.advance(.seconds(10))
        #expect(!bench.contains(.sleepAgain))
        bench.advance(.seconds(2))
        #expect(bench.contains(.sleepAgain))
    }

    @Test func `for work whose condition has gone it is not woken`() throws {
        var bench = Bench(settings: .calm)
        bench.configure { $0.wakeFromSleep = .on }
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first)
        let alarm = try #require(bench.timers.alarm)
        bench.set(.network, 0)
        #expect(bench.timers.alarm == nil)
        bench.set(.network, 2)
        #expect(bench.timers.alarm == alarm)
    }

    @Test(arguments: [
        Event.condition(.idle, .logind, .value(0)), .condition(.locked, .logind, .value(0)),
        .used(AppID("app")),
    ])
    func `a sign of the user keeps it awake`(sign: Event) throws {
        var (bench, launch) = try Self.woken(try Self.refreshed())
        bench.send(sign)
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `a sleep that somebody kept away is a sign of the user`() throws {
        var (bench, launch) = try Self.woken(try Self.refreshed())
        bench.send(.sleep(.begins))
        bench.send(.sleep(.ended))
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
    }

    @Test(arguments: [(3, true), (12, false)])
    func `a plug that is told of later than the sleep can have been is a sign of the user`(
        seconds: Int64,
        sleepsAgain: Bool
    ) throws {
        // The refresh has begun, 3 s after the end of the sleep.
        var (bench, launch) = try Self.woken(try Self.refreshed())
        bench.move(.seconds(seconds - 3))
        bench.send(.condition(.power, .upower, .value(0)))
        bench.exited(launch)
        #expect(bench.contains(.sleepAgain) == sleepsAgain)
    }

    @Test func `a machine whose user was active all the time stays awake`() throws {
        var device = try Self.refreshed()
        device.set(.idle, 0)
        var (bench, launch) = try Self.woken(device)
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
        // Nobody came, and the desktop says so at last.
        bench.set(.idle, 1)
        #expect(bench.contains(.sleepAgain))
    }

    @Test func `where nobody tells whether it is used it stays awake`() throws {
        var (bench, launch) = try Self.woken(
            try Self.refreshed(isSensed: false) { $0.wakeFromSleep = .on }
        )
        bench.exited(launch)
        bench.advance(.minutes(1))
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `after a wake that was not ours it stays awake`() throws {
        var bench = try Self.refreshed()
        let alarm = try #require(bench.timers.alarm)
        // Nobody has woken it at the alarm: there is no clock that could.
        bench.sleep(alarm - bench.now.boot + .minutes(10))
        let launch = try Self.begin(&bench)
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
        // Somebody wakes it before.
        bench.sleep(.minutes(1))
        bench.advance(.minutes(2))
        #expect(!bench.contains(.sleepAgain))
        // Or moments before.
        let next = try #require(bench.timers.alarm)
        bench.sleep(next - bench.now.boot - .seconds(2))
        bench.advance(.seconds(2))
        bench.exited(try Self.begin(&bench))
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `it is woken only as the setting says`() throws {
        var bench = try Self.refreshed()
        let alarm = try #require(bench.timers.alarm)
        bench.configure { $0.wakeFromSleep = .off }
        #expect(bench.timers.alarm == nil)
        #expect(try #require(bench.timers.timer) <= alarm)
        bench.configure { $0.wakeFromSleep = .on }
        #expect(bench.timers.alarm == alarm)
        bench.configure { $0.wakeFromSleep = .charger }
        bench.set(.power, 0)
        #expect(bench.timers.alarm == nil)
        bench.set(.power, 1)
        #expect(bench.timers.alarm != nil)
    }
}
