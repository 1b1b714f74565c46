import Testing
import Vocabulary

@testable import DeviceCore

/// What else holds an app whose refreshes go by its use, as the choice of their moments sees it.
struct RefreshHoldTests {
    typealias Learned = LearnedRefreshTests

    /// After twelve days, at midnight.
    private static func bench(
        _ habits: [Learned.Habit] = Learned.apps,
        mail: (inout AppManifest) -> Void = { _ in },
        prepare: (inout Bench) -> Void = { _ in }
    ) -> Bench {
        var settings = Settings()
        settings.refreshesPerDay = 6
        settings.runSlots = 50
        var bench = Bench(at: .zero, isCalm: false, settings: settings)
        prepare(&bench)
        for name in ["mail", "news"] {
            bench.install(
                .refreshing(name) {
                    $0.useFrom = .exec("/usr/bin/" + name)
                    if name == "mail" { mail(&$0) }
                }
            )
        }
        for _ in 0..<12 { Learned.live(&bench, habits) }
        return bench
    }

    private static func day(of bench: Bench) -> Learned.Day {
        Learned.Day(midnight: bench.now.wall, failing: "", slow: "")
    }

    @Test func `processing that waits for power holds no refresh of its app`() {
        var bench = Self.bench {
            $0.modes = [.fetch, .processing]
            $0.processingCommand = ["tidy"]
            $0.processingNeeds.power = true
        } prepare: {
            $0.set(.battery, 90)
            $0.set(.power, 0)
        }
        #expect(Learned.live(&bench).contains { $0.app == "mail" })
    }

    @Test(arguments: [true, false])
    func `a moment is chosen only when the quiet period after a use is over`(isOwn: Bool) {
        let habits: [Learned.Habit] = [
            ("mail", .hours(10)), ("mail", .hours(12)), ("news", .hours(20)),
        ]
        var bench = Self.bench(habits) { if isOwn { $0.refreshInterval = .hours(3) } }
        if !isOwn { bench.configure { $0.minimumRefreshInterval = .hours(3) } }
        var day = Self.day(of: bench)
        // It was not refreshed for its first use.
        bench.set(.lowPower, 1)
        day.pass(&bench, until: .hours(10))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        day.send(&bench, .used(AppID("mail")))
        day.pass(&bench, until: .hours(10) + .minutes(10))
        day.send(&bench, .condition(.idle, .hand, .value(1)))
        day.send(&bench, .condition(.lowPower, .kernel, .value(0)))
        #expect(bench.timers.alarm.map { $0 >= bench.now.boot + .minutes(170) } ?? true)
        let early = (Int64(11)..<180).first { minute in
            day.pass(&bench, until: .hours(10) + .minutes(minute))
            return bench.requests("mail").first?.decision != nil
        }
        #expect(early == nil)
    }

    @Test func `a device that goes offline is not woken for a refresh`() throws {
        var bench = Self.bench()
        var day = Self.day(of: bench)
        day.pass(&bench, until: .hours(10))
        let noon = bench.now.boot + .hours(2)
        let alarm = try #require(bench.timers.alarm)
        #expect(alarm < noon)
        day.send(&bench, .condition(.network, .kernel, .value(0)))
        #expect(bench.timers.alarm.map { $0 > noon } ?? true)
        day.send(&bench, .condition(.network, .kernel, .value(2)))
        #expect(bench.timers.alarm == alarm)
    }

    @Test func `what is submitted on a device at rest wakes it when it is worth it`() throws {
        var bench = Self.bench(
            Learned.apps + [("reader", .hours(21))],
            prepare: { $0.install(.linked("reader", identifiers: ["reader.refresh"])) }
        )
        var day = Self.day(of: bench)
        day.pass(&bench, until: .hours(20) + .minutes(12))
        let request = Submission(
            app: AppID("reader"),
            identifier: "reader.refresh",
            kind: .refresh
        )
        let index = try #require(bench.device.apps.index(of: AppID("reader")))
        for day: Int64 in 1...3 {
            // It has waited for its moment before.
            let levels = [UInt8](repeating: 1, count: GainHistory.slotCount)
            bench.device.apps[index].record.refresh.gains.keep(levels, of: day)
            bench.device.apps[index].record.refresh.gains.finish(counts: true)
        }
        bench.ask(.submit(request))
        let explanation = try #require(bench.device.explain(AppID("reader"), at: bench.now).first)
        let expected = try #require(explanation.forecast?.expectedAt)
        #expect(expected - bench.now.wall < .hours(1))
        #expect(bench.timers.alarm == bench.now.boot + (expected - bench.now.wall))
    }
}
