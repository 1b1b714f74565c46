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
        #expect(bench.contains(.limitMemory(launch, 100 << 20)), "the kernel keeps it there")
        bench.send(.process(launch, .measured(Usage(cpu: .zero, memory: 79 << 20))))
        #expect(bench.effects.isEmpty)
        bench.send(.process(launch, .measured(Usage(cpu: .zero, memory: 81 << 20))))
        #expect(bench.told(launch) == [.memoryWarning(memory: 81 << 20, limit: 100 << 20)])
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
    private static func isEnded(
        _ percent: Int64,
        power: Int,
        kind: TaskKind,
        needs: Needs = Needs()
    ) throws -> Bool {
        var bench = Bench()
        bench.set(.battery, 100)
        bench.set(.power, power)
        bench.configure { $0.wakeGrant = .minutes(30) }
        bench.install(
            kind == .refresh
                ? .refreshing("app") : .processing("app") { $0.processingNeeds = needs }
        )
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

    @Test func `the CPU monitor averages over a minute, and is off for what asked for power`()
        throws
    {
        #expect(try !Self.isEnded(79, power: 0, kind: .refresh))
        #expect(try Self.isEnded(81, power: 0, kind: .refresh))
        #expect(try Self.isEnded(81, power: 1, kind: .refresh))
        #expect(try Self.isEnded(81, power: 0, kind: .processing))
        #expect(try Self.isEnded(81, power: 1, kind: .processing))
        #expect(try !Self.isEnded(100, power: 1, kind: .processing, needs: Needs(power: true)))
    }

    @Test func `the window of the CPU monitor begins when the monitor does`() throws {
        var bench = Bench()
        bench.install(.processing("app") { $0.processingNeeds = Needs(power: true) })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        let allowance = try #require(bench.device.allowance(of: launch, at: bench.now))
        #expect(allowance.cpuLimit == nil)
        bench.advance(.seconds(45))
        bench.send(.process(launch, .measured(Usage(cpu: .seconds(45), memory: 1))))
        // It is watched from now on.
        bench.install(.processing("app"))
        #expect(bench.device.allowance(of: launch, at: bench.now)?.cpuLimit == 80)
        bench.advance(.seconds(15))
        bench.send(.process(launch, .measured(Usage(cpu: .seconds(60), memory: 1))))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.seconds(45))
        bench.send(.process(launch, .measured(Usage(cpu: .seconds(105), memory: 1))))
        #expect(bench.contains(.kill(launch)))
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
        #expect(bench.lines.contains(.note("\(StopReason.fileLock.summary): /home/shared.db")))
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

    @Test func `a refresh in the background is no use of an app that memory is taken from`() throws
    {
        var bench = Bench()
        bench.install(.linked("old", identifiers: ["x"]), .linked("new"))
        let old = try bench.openApp("old", registered: ["x"])
        bench.submit(old, "x") { $0.after = .hours(2) }
        bench.ask(.leave(AppID("old")))
        bench.exited(old)
        bench.advance(.hours(1))
        let new = try bench.suspendApp("new")
        bench.advance(.hours(1))
        let again = try #require(bench.spawn(of: "old"))
        bench.started(again)
        bench.say(again, .finishedLaunching(registered: ["x"]))
        let delivery = try bench.accept(again)
        bench.say(again, .completed(delivery, .newData))
        #expect(bench.contains(.freeze(again)))
        bench.set(.memory, 2)
        #expect(bench.contains(.kill(again)))
        #expect(!bench.contains(.kill(new)))
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
