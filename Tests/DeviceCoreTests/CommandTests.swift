import DeviceCore
import Testing
import Vocabulary

/// Programs that know nothing of us: their exit status is the completion.
struct CommandTests {
    @Test func `a refresh command runs when its manifest appears and again after its quiet period`()
        throws
    {
        var bench = Bench()
        bench.install(.refreshing("news"))
        let first = try #require(bench.spawn(of: "news"))
        #expect(bench.spawned.first?.spec.arguments == ["reload", "news"])
        bench.started(first)
        bench.advance(.seconds(3))
        bench.exited(first)
        #expect(bench.contains(.release(first)))
        #expect(bench.results == [.newData])
        #expect(bench.runs.first?.runTime == .seconds(3))
        #expect(bench.launch(first) == nil)

        bench.advance(.minutes(15) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "news") != nil)
    }

    @Test func `launching is delivering: started is the receipt`() throws {
        var bench = Bench()
        bench.install(.refreshing("news"))
        let launch = try #require(bench.spawn(of: "news"))
        #expect(bench.requests("news").map(\.state) == [.offered(launch)])
        bench.started(launch)
        #expect(bench.requests("news").map(\.state) == [.running(launch)])
        bench.exited(launch)
        #expect(bench.requests("news").map(\.state) == [.pending])
    }

    struct Ending: Sendable, CustomStringConvertible {
        var description: String
        var exit: Exit
        var kind = TaskKind.refresh
        var result: RunResult
        var failures: Int64 = 0
    }

    @Test(arguments: [
        Ending(description: "0", exit: .status(0), result: .newData),
        Ending(
            description: "0 of processing",
            exit: .status(0),
            kind: .processing,
            result: .succeeded
        ),
        Ending(description: "NoDataExit", exit: .status(3), result: .noData),
        Ending(description: "RetryExit", exit: .status(75), result: .retry),
        Ending(description: "1", exit: .status(1), result: .failed, failures: 1),
        Ending(
            description: "a crash",
            exit: .signal(11, outOfMemory: false),
            result: .crashed(signal: 11),
            failures: 1
        ),
        Ending(
            description: "out of memory",
            exit: .signal(9, outOfMemory: true),
            result: .terminated(.memoryLimit),
            failures: 1
        ),
        Ending(description: "not seen", exit: .unknown, result: .unknown),
    ])
    func `each end of a command has one result`(_ ending: Ending) throws {
        var bench = Bench()
        switch ending.kind {
        case .refresh: bench.install(.refreshing("app") { $0.noDataExit = [3] })
        case .processing: bench.install(.processing("app") { $0.noDataExit = [3] })
        }
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.send(.process(launch, .exited(ending.exit, nil)))
        #expect(bench.results == [ending.result])
        #expect(bench.app("app")?.record.failures.count == ending.failures)
        #expect(bench.app("app")?.launches.isEmpty == true)
        #expect(bench.contains(.holdAwake(false)))
    }

    @Test func `a program that cannot be started has failed`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.send(.process(launch, .notStarted(StartFailure(.program, reason: "no such file"))))
        #expect(bench.results == [.notStarted])
        #expect(bench.runs.first?.reason == "no such file")
        #expect(bench.gates("app").contains("back-off"))
    }

    @Test func `an exit that is told twice counts once`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.failedFrom = ["check"] })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        bench.exited(launch, status: 1)
        #expect(bench.effects.isEmpty)
        bench.send(.process(launch, .probed(.failed, .read(Fingerprint(), status: 0))))
        #expect(bench.results == [.newData])
        bench.exited(launch)
        #expect(bench.results == [.newData])
    }

    @Test func `the cost of a run stands in its line and on the ledgers`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(7))
        let usage = Usage(cpu: .seconds(2), memory: 5 << 20)
        bench.send(.process(launch, .exited(.status(0), usage)))
        #expect(bench.runs.first?.cpu == .seconds(2))
        #expect(bench.runs.first?.memory == 5 << 20)
        #expect(bench.runs.first?.runTime == .seconds(7))
        #expect(bench.runs.first?.resumed == false)
        #expect(bench.app("app")?.record.ledger == bench.device.ledger)
        #expect(bench.device.ledger.wakes == 1)
        #expect(bench.device.ledger.runTime == .seconds(7))
        #expect(bench.device.ledger.cpu == .seconds(2))
    }

    @Test func `a run gets the environment, directory and memory limit of its manifest`() throws {
        var bench = Bench()
        bench.install(
            .refreshing("app") {
                $0.directory = "/home"
                $0.environment = [EnvironmentVariable(name: "A", value: "b")]
                $0.passEnvironment = ["C"]
                $0.memoryLimit = 1 << 40
            }
        )
        let spec = try #require(bench.spawned.first?.spec)
        #expect(spec.directory == "/home")
        #expect(spec.environment == [EnvironmentVariable(name: "A", value: "b")])
        #expect(spec.passEnvironment == ["C"])
        #expect(spec.memoryLimit == bench.device.settings.memoryLimit)
        #expect(spec.weight == .background)
    }
}
