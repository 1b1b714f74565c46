import DeviceCore
import Testing
import Vocabulary

/// The machine is woken for work as `wake-from-sleep` says. It goes back to sleep afterwards,
/// unless somebody is there.
struct SleepAgainTests {
    /// Asleep until its next alarm, which is for a refresh; nil: there is no alarm.
    private static func woken(
        isSensed: Bool = true,
        _ change: (inout Settings) -> Void = { _ in }
    ) throws -> (Bench, LaunchID)? {
        var settings = Settings.calm
        change(&settings)
        var bench = Bench(isSensed: isSensed, settings: settings)
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first)
        #expect(!bench.contains(.sleepAgain))
        guard bench.timers.alarm != nil else { return nil }
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.move(.seconds(3))
        return (bench, launch)
    }

    @Test func `when the work is done it sleeps again, once`() throws {
        var (bench, launch) = try #require(try Self.woken())
        #expect(!bench.contains(.sleepAgain))
        bench.exited(launch)
        #expect(bench.contains(.sleepAgain))
        bench.advance(.minutes(1))
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `without any work it sleeps again when the pause after the wake is over`() throws {
        var bench = Bench(settings: .calm)
        bench.configure { $0.pauseAfterResume = .seconds(10) }
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first)
        // What was due is given up while it sleeps, as far as the device learns by then.
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        bench.set(.lowPower, 1)
        bench.advance(.seconds(10))
        #expect(!bench.contains(.sleepAgain))
        bench.advance(.seconds(2))
        #expect(bench.contains(.sleepAgain))
    }

    @Test(arguments: [
        Event.condition(.idle, .logind, .value(0)), .condition(.locked, .logind, .value(0)),
        .condition(.power, .kernel, .value(1)), .used(AppID("app")),
    ])
    func `a sign of the user keeps it awake`(sign: Event) throws {
        var (bench, launch) = try #require(try Self.woken())
        bench.send(sign)
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `a machine whose user was active all the time stays awake`() throws {
        var bench = Bench(settings: .calm)
        bench.set(.idle, 0)
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first)
        _ = bench.sleepUntilAlarm(atMost: .days(1))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.move(.seconds(3))
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
        // Nobody came, and the desktop says so at last.
        bench.set(.idle, 1)
        #expect(bench.contains(.sleepAgain))
    }

    @Test func `where nobody tells whether it is used it stays awake`() throws {
        var (bench, launch) = try #require(
            try Self.woken(isSensed: false) {
                $0.wakeFromSleep = .on
            }
        )
        bench.exited(launch)
        bench.advance(.minutes(1))
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `after a wake that was not ours it stays awake`() throws {
        var bench = Bench(settings: .calm)
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first)
        let alarm = try #require(bench.timers.alarm)
        // Nobody has woken it at the alarm: there is no clock that could.
        bench.sleep(alarm - bench.now.boot + .minutes(10))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.move(.seconds(3))
        bench.exited(launch)
        #expect(!bench.contains(.sleepAgain))
        // Somebody wakes it before.
        bench.sleep(.minutes(1))
        bench.advance(.minutes(2))
        #expect(!bench.contains(.sleepAgain))
    }

    @Test func `it is woken only as the setting says`() throws {
        var bench = Bench(settings: .calm)
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first)
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
