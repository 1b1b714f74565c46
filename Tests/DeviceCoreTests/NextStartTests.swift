import DeviceCore
import Testing
import Vocabulary

/// No timer is set for work that something else would hold by then.
struct NextStartTests {
    private static func submit(_ name: String, after: Interval? = nil, to bench: inout Bench) {
        let submission = Submission(
            identifier: name,
            kind: .processing,
            after: after,
            command: ["tidy"]
        )
        bench.ask(.submit(submission))
    }

    @Test func `whose slot is taken waits for the slot, and then for its date`() throws {
        var bench = Bench(settings: .calm)
        Self.submit("later", after: .hours(1), to: &bench)
        let date = try #require(bench.timers.alarm)
        Self.submit("now", to: &bench)
        let launch = try #require(bench.spawn(of: "command.now"))
        bench.started(launch)
        #expect(bench.timers.alarm == nil)
        bench.exited(launch)
        #expect(bench.timers.alarm == date)
    }

    @Test func `whoever waits for a slot since an earlier date has it first`() throws {
        var bench = Bench(settings: .calm)
        Self.submit("dated", after: .hours(1), to: &bench)
        Self.submit("now", to: &bench)
        let launch = try #require(bench.spawn(of: "command.now"))
        bench.started(launch)
        bench.advance(.minutes(90))
        Self.submit("late", to: &bench)
        bench.advance(.minutes(10))
        bench.exited(launch)
        #expect(bench.spawn(of: "command.dated") != nil)
        #expect(bench.spawn(of: "command.late") == nil)
    }

    @Test func `whose quota others have used up waits for the next day`() throws {
        var bench = Bench(settings: .calm)
        bench.set(.power, 0)
        bench.configure {
            $0.wakeFromSleep = .on
            $0.deviceWakesPerDay = 1
        }
        Self.submit("later", after: .hours(1), to: &bench)
        Self.submit("now", to: &bench)
        let launch = try #require(bench.spawn(of: "command.now"))
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.timers.alarm == bench.now.boot + .hours(12))
        bench.set(.power, 1)
        #expect(bench.timers.alarm == bench.now.boot + .hours(1))
    }

    @Test func `what comes after the end of the user's day waits for the next one`() throws {
        var bench = Bench(at: .hours(22), settings: .calm)
        bench.configure {
            ($0.wakingFrom, $0.wakingUntil) = (.hours(7), .hours(23))
            $0.minimumRefreshInterval = .hours(2)
            $0.sharedWake = .minutes(15)
        }
        bench.set(.idle, 0)
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        let morning = bench.now.boot + .hours(9)
        #expect(bench.timers.alarm == morning)
        // Then it shares a wake, unless somebody uses the device.
        bench.set(.idle, 1)
        let shared = try #require(bench.timers.alarm)
        #expect(shared > morning && shared < morning + .minutes(15))
        bench.set(.idle, 0)
        #expect(bench.timers.alarm == morning)
    }
}
