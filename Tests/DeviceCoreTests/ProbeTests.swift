import DeviceCore
import Testing
import Vocabulary

/// `NewDataFrom` and `FailedFrom`: what an exit status does not tell.
struct ProbeTests {
    private static func content(_ text: String, status: Int32 = 0) -> ProbeAnswer {
        .read(Fingerprint(of: text), status: status)
    }

    private static let gone = ProbeAnswer.unreadable(reason: "no such file")

    struct Scenario: Sendable, CustomStringConvertible {
        var description: String
        var before: ProbeAnswer
        var after: ProbeAnswer
        var result: RunResult
    }

    @Test(arguments: [
        Scenario(
            description: "changed",
            before: content("1"),
            after: content("2"),
            result: .newData
        ),
        Scenario(description: "equal", before: content("1"), after: content("1"), result: .noData),
        Scenario(description: "appeared", before: gone, after: content("1"), result: .newData),
        Scenario(
            description: "appeared, empty",
            before: gone,
            after: content(""),
            result: .newData
        ),
        Scenario(description: "never there", before: gone, after: gone, result: .noData),
        Scenario(description: "vanished", before: content("1"), after: gone, result: .failed),
        Scenario(description: "emptied", before: content(""), after: gone, result: .failed),
    ])
    func `new data is what differs between just before and after`(_ scenario: Scenario) throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.newDataFrom = .file("~/news.db") })
        #expect(bench.spawned.isEmpty)
        let launch = try #require(bench.probes.first?.launch)
        #expect(bench.probes.first?.step == .before)
        #expect(bench.probes.first?.source == .file("~/news.db"))
        #expect(bench.launch(launch)?.phase == .probing)

        bench.send(.process(launch, .probed(.before, scenario.before)))
        #expect(bench.spawn(of: "app") == launch)
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.probes.map(\.step) == [.after])
        #expect(bench.launch(launch)?.phase == .judging)
        #expect(bench.results.isEmpty)
        bench.send(.process(launch, .probed(.after, scenario.after)))
        #expect(bench.results == [scenario.result])
        #expect(bench.contains(.release(launch)))
    }

    @Test func `an exit status that says something is believed`() throws {
        var bench = Bench()
        bench.install(
            .refreshing("app") {
                $0.newDataFrom = .command(["count"])
                $0.failedFrom = ["check"]
            }
        )
        let launch = try #require(bench.probes.first?.launch)
        #expect(bench.probes.first?.spec.arguments == ["count"])
        bench.send(.process(launch, .probed(.before, Self.content("1"))))
        bench.started(launch)
        bench.exited(launch, status: 2)
        #expect(bench.probes.isEmpty)
        #expect(bench.results == [.failed])
    }

    @Test(arguments: [(Int32(0), RunResult.newData), (1, .failed)])
    func `FailedFrom is asked after an exit that says nothing`(
        _ status: Int32,
        _ result: RunResult
    ) throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.failedFrom = ["check"] })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.probes.map(\.step) == [.failed])
        #expect(bench.probes.first?.spec.arguments == ["check"])
        bench.send(.process(launch, .probed(.failed, Self.content("", status: status))))
        #expect(bench.results == [result])
    }

    @Test func `FailedFrom comes before NewDataFrom is read again`() throws {
        var bench = Bench()
        bench.install(
            .refreshing("app") {
                $0.newDataFrom = .command(["count"])
                $0.failedFrom = ["check"]
            }
        )
        let launch = try #require(bench.probes.first?.launch)
        bench.send(.process(launch, .probed(.before, Self.content("1"))))
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.probes.map(\.step) == [.failed])
        bench.send(.process(launch, .probed(.failed, Self.content(""))))
        #expect(bench.probes.map(\.step) == [.after])
        bench.send(.process(launch, .probed(.after, Self.content("2"))))
        #expect(bench.results == [.newData])
    }

    @Test func `a FailedFrom that cannot be read is a failure`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.failedFrom = ["check"] })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        bench.send(.process(launch, .probed(.failed, Self.gone)))
        #expect(bench.results == [.failed])
    }

    @Test func `a probe without an answer is cancelled, and the run goes on without it`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.newDataFrom = .command(["count"]) })
        let launch = try #require(bench.probes.first?.launch)
        #expect(bench.probes.first?.limit == .seconds(10))
        bench.advance(.seconds(15))
        #expect(bench.contains(.cancelProbe(launch)))
        #expect(bench.spawn(of: "app") == launch)
        bench.send(.process(launch, .probed(.before, Self.content("late"))))
        #expect(bench.effects.isEmpty)
    }

    @Test func `an answer to another question changes nothing`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.newDataFrom = .command(["count"]) })
        let launch = try #require(bench.probes.first?.launch)
        bench.send(.process(launch, .probed(.after, Self.content("x"))))
        #expect(bench.effects.isEmpty)
        #expect(bench.launch(launch)?.phase == .probing)
    }

    @Test func `a run that is stopped while it is probed never starts`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.newDataFrom = .command(["count"]) })
        let launch = try #require(bench.probes.first?.launch)
        bench.ask(.pause(nil))
        #expect(bench.contains(.cancelProbe(launch)))
        #expect(bench.contains(.release(launch)))
        #expect(bench.results == [.expired(.paused)])
        #expect(bench.requests("app").map(\.state) == [.pending])
    }

    @Test func `nobody, nothing and what runs have sentences of their own`() throws {
        var bench = Bench()
        #expect(bench.sentence("x").contains("No app called x is known"))
        bench.install(.linked("app"))
        #expect(bench.sentence("app").contains("has nothing to run"))
        bench.install(.refreshing("news") { $0.newDataFrom = .command(["count"]) })
        #expect(bench.sentence("news").contains("is about to run"))
        let launch = try #require(bench.probes.first?.launch)
        bench.send(.process(launch, .probed(.before, .read(Fingerprint(), status: 0))))
        #expect(bench.sentence("news").contains("is being started"))
        bench.started(launch)
        bench.advance(.seconds(10))
        #expect(bench.sentence("news").contains("has been running for 10s and has 20s left"))
        bench.exited(launch)
        #expect(bench.sentence("news").contains("its result is being read"))
    }
}
