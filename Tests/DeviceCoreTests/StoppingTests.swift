import DeviceCore
import Testing
import Vocabulary

/// The last turn of a daemon: what came with the signal is true, and nothing is begun.
struct StoppingTests {
    @Test func `an exit in the last turn is booked, and the slot that it frees stays free`() throws
    {
        var settings = Settings.calm
        settings.runSlots = 1
        var bench = Bench(settings: settings)
        bench.install(.refreshing("one"), .refreshing("two"))
        let first = try #require(bench.spawn(of: "one"))
        bench.started(first)
        #expect(bench.gates("two") == ["run-slots"])
        bench.send(.stopping)
        bench.exited(first)
        #expect(bench.results == [.newData])
        #expect(bench.spawn(of: "two") == nil)
        #expect(bench.gates("two").contains("stopping"))
        #expect(bench.app("two")?.requests.first?.state == .pending)
    }

    @Test func `what is submitted in the last turn is kept for the next daemon`() throws {
        var bench = Bench()
        bench.send(.stopping)
        bench.install(.refreshing("app"))
        #expect(bench.spawn(of: "app") == nil)
        var next = Bench()
        next.device = Device(restoring: try bench.loaded())
        next.send(
            .started(
                Start(
                    bootID: "boot-1",
                    seed: 1,
                    settings: .calm,
                    manifests: [.present(.refreshing("app"))]
                )
            )
        )
        #expect(next.spawn(of: "app") != nil)
    }

    @Test func `a result that was asked for before the program leaves the request pending`() throws
    {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.newDataFrom = .file("/news") })
        let launch = try #require(bench.app("app")?.launches.first?.id)
        bench.send(.stopping)
        bench.send(.process(launch, .probed(.before, .read(Fingerprint(), status: 0))))
        #expect(bench.spawn(of: "app") == nil)
        #expect(bench.app("app")?.requests.first?.state == .pending)
        #expect(bench.app("app")?.launches.isEmpty == true)
        #expect(bench.runs.isEmpty)
    }

    @Test func `a result that is to be read after the program is left to the next daemon`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.failedFrom = ["check"] })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.send(.stopping)
        bench.exited(launch)
        #expect(!bench.effects.contains { if case .probe = $0 { true } else { false } })
        #expect(bench.runs.isEmpty)
        #expect(bench.app("app")?.launches.first?.phase == .judging)
    }

    @Test func `whoever opens an app is told that the daemon is stopping`() {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.send(.stopping)
        for request in [
            UserRequest.open(AppID("app"), attach: nil),
            .simulate(.launch, AppID("app"), identifier: nil),
        ] {
            bench.ask(request)
            #expect(bench.refusal?.code == .held)
            #expect(bench.app("app")?.launches.isEmpty == true)
        }
    }
}
