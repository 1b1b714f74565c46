import DeviceCore
import Testing
import Vocabulary

/// How many run side by side, and who is next.
struct RunSlotTests {
    @Test func `four run side by side, the others wait for a free slot in order`() throws {
        var bench = Bench()
        bench.set(.network, 0)
        for name in ["a", "b", "c", "d", "e", "f"] { bench.install(.refreshing(name)) }
        bench.set(.network, 2)
        #expect(bench.spawned.map(\.spec.app.name) == ["a", "b", "c", "d"])
        #expect(bench.gates("e") == ["run-slots"])
        let launches = bench.spawned.map(\.launch)
        launches.forEach { bench.started($0) }
        bench.exited(launches[2])
        #expect(bench.spawned.map(\.spec.app.name) == ["e"])
        bench.exited(launches[0])
        #expect(bench.spawned.map(\.spec.app.name) == ["f"])
    }

    @Test func `who has waited longest goes first`() throws {
        var bench = Bench()
        bench.configure { $0.runSlots = 1 }
        bench.install(.refreshing("a"))
        let first = try #require(bench.spawn(of: "a"))
        bench.started(first)
        bench.install(.refreshing("z"))
        bench.advance(.seconds(1))
        bench.install(.refreshing("b"))
        bench.exited(first)
        #expect(bench.spawned.map(\.spec.app.name) == ["z"])
    }

    @Test func `one processing at a time, while refreshes go on`() throws {
        var bench = Bench()
        bench.install(.processing("p"), .processing("q"), .refreshing("r"))
        #expect(bench.spawned.map(\.spec.app.name) == ["p", "r"])
        let first = try #require(bench.spawn(of: "p"))
        bench.started(first)
        bench.exited(first)
        #expect(bench.spawned.map(\.spec.app.name) == ["q"])
    }

    @Test func `the two commands of an app run side by side, and a frozen one holds only itself`()
        throws
    {
        var bench = Bench()
        bench.set(.network, 0)
        bench.install(
            .processing("app") {
                $0.modes = [.fetch, .processing]
                $0.refreshCommand = ["reload"]
                $0.whenInterrupted = .freeze
                $0.permittedTaskIdentifiers = ["app.more"]
            }
        )
        #expect(bench.spawned.map(\.spec.arguments) == [["tidy", "app"]])
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.set(.network, 2)
        #expect(bench.spawned.map(\.spec.arguments) == [["reload"]])
        let refresh = try #require(bench.spawn(of: "app"))
        bench.started(refresh)
        bench.exited(refresh)
        bench.set(.idle, 0)
        #expect(bench.contains(.freeze(launch)))
        bench.advance(.minutes(15))
        #expect(bench.spawned.map(\.spec.arguments) == [["reload"]])
        // The same program for another request waits for the frozen one.
        let more = Submission(app: AppID("app"), identifier: "app.more", kind: .processing)
        bench.ask(.submit(more))
        #expect(bench.gates("app", "app.more").contains("still-running"))
    }

    @Test func `a hundred that become ready at once all run in the end`() throws {
        var bench = Bench()
        bench.set(.network, 0)
        for number in 100..<200 { bench.install(.refreshing("app\(number)")) }
        bench.set(.network, 2)
        var launches = bench.spawned.map(\.launch)
        var names = bench.spawned.map(\.spec.app.name)
        while let launch = launches.first {
            launches.removeFirst()
            bench.started(launch)
            bench.exited(launch)
            launches += bench.spawned.map(\.launch)
            names += bench.spawned.map(\.spec.app.name)
        }
        #expect(names == (100..<200).map { "app\($0)" })
    }

    @Test func `what runs on external power is told, but counts against no quota`() throws {
        var bench = Bench()
        bench.set(.battery, 90)
        bench.configure { $0.appWakesPerDay = 2 }
        bench.install(.refreshing("app"))
        for power in [1, 1, 1, 0, 0] {
            bench.set(.power, power)
            let launch = try #require(bench.app("app")?.launches.first?.id, "\(bench.gates("app"))")
            bench.started(launch)
            bench.exited(launch)
            bench.advance(.minutes(15))
        }
        // The fifth began when the power was still there.
        #expect(bench.device.ledger.wakes == 6)
        #expect(bench.device.ledger.wakesOnBattery == 2)
        let launch = try #require(bench.app("app")?.launches.first?.id)
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.gates("app").contains("app-quota"))
    }
}
