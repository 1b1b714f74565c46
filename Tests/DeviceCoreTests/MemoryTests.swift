import DeviceCore
import Testing
import Vocabulary

/// How much memory a run had, and what is said of one that had too much.
struct MemoryTests {
    private static func usage(_ memory: Int64, peak: Int64?, sampled: Bool = false) -> Usage {
        var usage = Usage(cpu: .zero, memory: memory << 20)
        (usage.peak, usage.isPeakSampled) = (peak.map { $0 << 20 }, sampled)
        return usage
    }

    @Test(arguments: [false, true])
    func `a run had the most that was counted or seen, not what was left at its end`(
        isSampled: Bool
    ) throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        let last = Self.usage(1, peak: 89, sampled: isSampled)
        bench.send(.process(launch, .exited(.status(0), last)))
        let run = try #require(bench.runs.first)
        #expect(run.memory == 89 << 20)
        #expect(run.isPeak == !isSampled)
        let line = try #require(bench.history.last)
        #expect(line.report.memorySampled == (isSampled ? true : nil))
    }

    @Test func `where nothing was seen but the end, nothing is said`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.send(.process(launch, .exited(.status(0), Self.usage(0, peak: nil))))
        #expect(try #require(bench.runs.first).memory == nil)
    }

    /// Of what is over, or was reaped by another, there is no usage any more.
    @Test(arguments: [true, false])
    func `what was seen before a restart of the daemon is not lost`(isGone: Bool) throws {
        var bench = Bench()
        let manifest = AppManifest.refreshing("app")
        bench.install(manifest)
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.send(.process(launch, .seen(memory: 80 << 20)))
        bench.send(.process(launch, .seen(memory: 20 << 20)))
        let process = try #require(bench.launch(launch)?.process)
        let survivor = Survivor(launch: launch, process: process, alive: true)
        try bench.restart(survivors: [survivor], manifests: [manifest])
        let usage = isGone ? nil : Self.usage(0, peak: 5, sampled: true)
        bench.send(.process(launch, .exited(.unknown, usage)))
        let run = try #require(bench.runs.first)
        #expect(run.memory == 80 << 20)
        #expect(!run.isPeak)
    }

    @Test func `a command that is frozen says what it had, and the next window what it had there`()
        throws
    {
        var bench = Bench()
        let manifest = AppManifest.processing("app") { $0.whenInterrupted = .freeze }
        bench.install(manifest)
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        #expect(bench.device.interruptibleLaunches == [launch])
        bench.send(.process(launch, .measured(Self.usage(20, peak: 150))))
        bench.set(.idle, 0)
        #expect(bench.device.interruptibleLaunches.isEmpty)
        #expect(try #require(bench.runs.first).result == .interrupted(.deviceInUse))
        #expect(bench.runs.first?.memory == 150 << 20)
        #expect(bench.runs.first?.isPeak == true)
        bench.advance(.hours(1))
        bench.set(.idle, 1)
        #expect(bench.contains(.thaw(launch)))
        bench.send(.process(launch, .measured(Self.usage(2, peak: 150))))
        bench.send(.process(launch, .seen(memory: 100 << 20)))
        bench.send(.process(launch, .exited(.status(0), Self.usage(0, peak: 150))))
        let last = try #require(bench.runs.last)
        #expect(last.resumed)
        #expect(last.memory == 100 << 20)
        #expect(!last.isPeak)
    }

    @Test(arguments: [true, false])
    func `what the machine had no memory for is not the fault of the app`(isApp: Bool) throws {
        var bench = Bench()
        let launch: LaunchID
        if isApp {
            bench.install(.linked("app", identifiers: ["app.*"]))
            launch = try bench.openApp("app", registered: ["app.*"])
        } else {
            bench.install(.refreshing("app"))
            launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
        }
        bench.send(.process(launch, .machineOutOfMemory))
        bench.send(.process(launch, .exited(.signal(9, outOfMemory: false), nil)))
        let ends = bench.lines.compactMap {
            switch $0 {
            case .wake(let report): report.result
            case .ended(let result, _): result
            default: nil
            }
        }
        #expect(ends == [.terminated(.memoryPressure)])
        #expect(
            bench.lines.contains(
                .note("the machine had no memory left, so the kernel ended it")
            )
        )
        #expect(bench.app("app")?.record.failures.count == 0)
    }

    @Test func `explain of a command that was asked for once says how much it had`() throws {
        var bench = Bench()
        bench.configure { $0.memoryLimit = 100 << 20 }
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        let usage = Self.usage(0, peak: 100)
        bench.send(.process(launch, .exited(.signal(9, outOfMemory: true), usage)))
        let reason = "it had 100 MiB and asked for more; the setting memory-limit allows 100 MiB"
        #expect(bench.sentence("command.sync").contains("(\(reason))"))
    }

    /// The kernel counts from the beginning of the process.
    @Test(
        arguments: [
            (120, nil, 120, true), (100, nil, 30, false), (100, 90, 90, false),
            (120, 90, 120, true),
        ] as [(Int64, Int64?, Int64, Bool)]
    )
    func `of a process that goes on, the peak is that of the run only if it has grown in it`(
        last: Int64,
        seen: Int64?,
        expected: Int64,
        isPeak: Bool
    ) throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        bench.submit(launch, "app.0")
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        #expect(bench.app("app")?.launches.first?.wake?.resumed == true)
        bench.send(.process(launch, .measured(Self.usage(30, peak: 100))))
        if let seen { bench.send(.process(launch, .seen(memory: seen << 20))) }
        let usage = Self.usage(20, peak: last)
        bench.say(launch, .completed(delivery, .succeeded, usage: usage))
        let run = try #require(bench.runs.first)
        #expect(run.memory == expected << 20)
        #expect(run.isPeak == isPeak)
    }

    @Test(arguments: [true, false])
    func `a run that ends for its memory says how much it had, the limit, and whose it is`(
        isKilled: Bool
    ) throws {
        for isOwn in [true, false] {
            var bench = Bench()
            bench.configure { $0.memoryLimit = 100 << 20 }
            bench.install(.refreshing("app") { if isOwn { $0.memoryLimit = 64 << 20 } })
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            let limit: Int64 = isOwn ? 64 : 100
            if isKilled {
                let usage = Self.usage(0, peak: limit)
                bench.send(.process(launch, .exited(.signal(9, outOfMemory: true), usage)))
            } else {
                bench.send(.process(launch, .measured(Self.usage(250, peak: 250))))
                let usage = Self.usage(0, peak: 260)
                bench.send(.process(launch, .exited(.signal(9, outOfMemory: false), usage)))
            }
            let run = try #require(bench.runs.first)
            #expect(run.result == .terminated(.memoryLimit))
            let setting = isOwn ? "MemoryLimit in its manifest" : "the setting memory-limit"
            let had = isKilled ? "\(limit) MiB and asked for more" : "260 MiB"
            #expect(run.reason == "it had \(had); \(setting) allows \(limit) MiB")
            #expect(
                bench.device.explain(AppID("app"), at: bench.now).first?.lastRun?.reason
                    == run.reason
            )
        }
    }
}
