import DeviceCore
import Testing
import Vocabulary

/// When refreshes run: quiet periods, waking hours, shared wakes.
struct RefreshTests {
    /// The first refreshes of an app, as seconds since the beginning, each lasting 1 s. The timer
    /// comes `late`.
    private static func times(
        _ count: Int,
        of bench: inout Bench,
        late: Interval = .zero
    ) throws -> [Int64] {
        let begin = bench.now.boot
        var times: [Int64] = []
        var launch = bench.spawn(of: "app")
        while times.count < count {
            while launch == nil {
                let armed = try #require(bench.armed)
                if bench.now.boot - begin > .days(3) { return times }
                bench.move(max(.zero, armed - bench.now.boot) + late)
                bench.send(.timer)
                launch = bench.spawn(of: "app")
            }
            guard let running = launch else { break }
            times.append((bench.now.boot - begin).wholeSeconds)
            bench.started(running)
            bench.move(.seconds(1))
            bench.exited(running)
            launch = bench.spawn(of: "app")
        }
        return times
    }

    @Test func `an app's refreshes are spread evenly over the waking hours`() throws {
        var bench = Bench(at: .hours(7), isCalm: false)
        bench.configure {
            $0.sharedWake = .zero
            $0.refreshesPerDay = 4
            $0.pauseAfterStart = .zero
        }
        bench.install(.refreshing("app"))
        let times = try Self.times(6, of: &bench)
        // Every 4 h of the 16 from 7 to 23, a second later each time, and again the next morning.
        #expect(times == [0, 14_401, 28_802, 43_203, 86_400, 100_801])
    }

    @Test func `at night an app waits for the morning, also one that was never run`() throws {
        var bench = Bench(at: .hours(3), isCalm: false)
        bench.install(.refreshing("app"))
        bench.advance(.hours(4) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("app").contains("better-moment"))
        #expect(bench.sentence("app").contains("when your day begins"))
        bench.advance(.minutes(5))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `what was held back in the day does not run in the user's sleep`() throws {
        var bench = Bench(at: .hours(22))
        bench.configure {
            $0.wakingFrom = .hours(7)
            $0.wakingUntil = .hours(23)
        }
        bench.set(.network, 0)
        bench.install(.refreshing("app"))
        bench.advance(.hours(5))
        bench.set(.network, 2)
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("app") == ["better-moment"])
        bench.advance(.hours(4))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `no shared wake after the end of the day takes a refresh from it`() throws {
        var bench = Bench(at: .hours(22) + .minutes(58))
        bench.configure {
            $0.wakingFrom = .hours(7)
            $0.wakingUntil = .hours(23)
            $0.sharedWake = .minutes(5)
        }
        bench.install(.refreshing("app"))
        bench.advance(.minutes(1))
        #expect(bench.app("app")?.launches.isEmpty == false)
    }

    @Test(arguments: [Interval.zero, .milliseconds(1), .milliseconds(700), .seconds(40)])
    func `a shared wake is met however late the timer comes`(_ late: Interval) throws {
        var bench = Bench(at: .hours(12) + .seconds(1), seed: 77_000_000_000, isCalm: false)
        bench.install(.refreshing("app"))
        let times = try Self.times(4, of: &bench, late: late)
        for pair in zip(times, times.dropFirst()) {
            #expect(pair.1 - pair.0 >= 2400)
            #expect(pair.1 - pair.0 <= 2400 + 300 + 120)
        }
        #expect(times[0] <= 300 + 120)
    }

    @Test func `apps share one wake of the device, offset by its seed`() throws {
        for seed: Int64 in [61_000_000_000, 150_000_000_000, 299_000_000_000] {
            var bench = Bench(seed: seed, isCalm: false)
            for name in ["a", "b", "c"] {
                bench.install(.refreshing(name))
                bench.move(.seconds(20))
            }
            #expect(bench.spawned.isEmpty)
            #expect(bench.gates("a").contains("shared-wake"))
            bench.advance(.minutes(5))
            #expect(bench.spawned.map(\.spec.app.name) == ["a", "b", "c"])
            let starts = bench.spawned.compactMap { bench.launch($0.launch)?.wake?.began.wall }
            #expect(Set(starts).count == 1)
            let offset = starts[0].nanoseconds % Interval.minutes(5).nanoseconds
            #expect(offset == seed % Interval.minutes(5).nanoseconds)
        }
    }

    @Test func `a device in use is awake anyway: no shared wake`() {
        var bench = Bench(isCalm: false)
        bench.configure { $0.pauseAfterStart = .zero }
        bench.set(.idle, 0)
        bench.install(.refreshing("app"))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `each use and each fetch begins a quiet period`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.refreshInterval = .hours(1) })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        bench.advance(.minutes(50))
        #expect(bench.gates("app") == ["quiet"])
        bench.send(.used(AppID("app")))
        bench.advance(.hours(1) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `processing rests for a day after it was done`() throws {
        var bench = Bench()
        bench.install(.processing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        bench.advance(.days(1) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `our own launch is no use of the app`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.useFrom = .exec("/usr/bin/newsboat") })
        #expect(bench.contains(.watchUse(AppID("app"), .exec("/usr/bin/newsboat"))))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.send(.used(AppID("app")))
        #expect(try #require(bench.app("app")).record.lastUsed == nil)
        bench.advance(.seconds(6))
        bench.send(.used(AppID("app")))
        #expect(bench.app("app")?.record.lastUsed == bench.now.wall)
    }
}
