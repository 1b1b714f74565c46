import DeviceCore
import Testing
import Vocabulary

/// Memory, processor, file locks, and the launch watchdog (A8, A10, A12).
struct LimitTests {
    @Test func `past its memory limit a background app is terminated, and warned before`() throws {
        var bench = Bench()
        bench.install(.linked("app") { $0.memoryLimit = 100 << 20 })
        let launch = try bench.openApp("app")
        _ = bench.beginTask(launch)
        bench.send(.process(launch, .measured(Usage(cpu: .zero, memory: 500 << 20))))
        #expect(bench.effects.isEmpty)
        bench.ask(.leave(AppID("app")))
        bench.send(.process(launch, .measured(Usage(cpu: .zero, memory: 79 << 20))))
        #expect(bench.told(launch).isEmpty)
        bench.send(.process(launch, .measured(Usage(cpu: .zero, memory: 81 << 20))))
        #expect(bench.told(launch) == [.memoryWarning])
        bench.send(.process(launch, .measured(Usage(cpu: .zero, memory: 101 << 20))))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(
            bench.lines.contains {
                if case .ended(.terminated(.memoryLimit), _) = $0 { true } else { false }
            }
        )
    }

    /// Runs a background command that uses so much of a core; returns whether it was ended.
    private static func isEnded(_ percent: Int64, power: Int, kind: TaskKind) throws -> Bool {
        var bench = Bench()
        bench.set(.battery, 100)
        bench.set(.power, power)
        bench.configure { $0.wakeGrant = .minutes(30) }
        bench.install(kind == .refresh ? .refreshing("app") : .processing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        var cpu = Interval.zero
        for _ in 0..<16 {
            bench.advance(.seconds(15))
            if bench.contains(.kill(launch)) { return true }
            cpu += Interval.seconds(15) * percent / 100
            if bench.contains(.measure(launch)) {
                bench.send(.process(launch, .measured(Usage(cpu: cpu, memory: 1))))
                if bench.contains(.kill(launch)) { return true }
            }
        }
        return false
    }

    @Test func `the CPU monitor averages over a minute, and is off for processing on power`() throws
    {
        #expect(try !Self.isEnded(79, power: 0, kind: .refresh))
        #expect(try Self.isEnded(81, power: 0, kind: .refresh))
        #expect(try Self.isEnded(81, power: 1, kind: .refresh))
        #expect(try Self.isEnded(81, power: 0, kind: .processing))
        #expect(try !Self.isEnded(100, power: 1, kind: .processing))
    }

    @Test func `a suspended app that holds a file lock is ended, with the path`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.suspendApp("app")
        bench.advance(.seconds(5))
        #expect(bench.contains(.checkLocks(launch)))
        bench.send(.process(launch, .locks([])))
        #expect(bench.effects.isEmpty)
        bench.send(.process(launch, .locks(["/home/shared.db"])))
        #expect(bench.contains(.kill(launch)))
        #expect(bench.lines.contains(.note("\(StopReason.fileLock.words): /home/shared.db")))
    }

    @Test func `locks of an app that is back are nobody's business`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.suspendApp("app")
        bench.advance(.seconds(4))
        bench.ask(.open(AppID("app"), attach: nil))
        bench.advance(.minutes(1))
        #expect(!bench.contains(.checkLocks(launch)))
        bench.send(.process(launch, .locks(["/home/shared.db"])))
        #expect(!bench.contains(.kill(launch)))
    }

    @Test func `suspended apps end longest unused first while memory is short`() throws {
        var bench = Bench()
        bench.install(.linked("a"), .linked("b"), .linked("c"))
        let first = try bench.suspendApp("b")
        let second = try bench.suspendApp("c")
        let third = try bench.suspendApp("a")
        bench.set(.memory, 1)
        #expect(!bench.contains(.kill(first)))
        bench.set(.memory, 2)
        #expect(bench.contains(.kill(first)))
        #expect(!bench.contains(.kill(second)))
        bench.killed(first)
        bench.advance(.seconds(2))
        #expect(bench.contains(.kill(second)))
        bench.killed(second)
        bench.set(.memory, 0)
        bench.advance(.minutes(1))
        #expect(!bench.contains(.kill(third)))
    }

    @Test func `who is suspended while memory is short is not spared`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.set(.memory, 2)
        let launch = try bench.suspendApp("app")
        bench.advance(.seconds(2))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `an app that does not finish launching in the background in 20 s is ended`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["x"]))
        let open = try bench.openApp("app", registered: ["x"])
        bench.submit(open, "x") { $0.after = .hours(1) }
        bench.exited(open)
        bench.advance(.hours(1))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(20) - .milliseconds(1))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.results == [.terminated(.launchWatchdog)])
        // Nothing of it was received.
        #expect(bench.requests("app").map(\.state) == [.pending])
    }
}
