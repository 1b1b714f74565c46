import DeviceCore
import Testing
import Vocabulary

/// Manifests that are edited, broken or removed while something runs.
struct ManifestTests {
    private static func backup() throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.processing("backup"))
        let launch = try #require(bench.spawn(of: "backup"))
        bench.started(launch)
        return (bench, launch)
    }

    @Test func `a manifest that is broken for a moment leaves alone what runs`() throws {
        var (bench, launch) = try Self.backup()
        bench.send(.manifests([.invalid(AppID("backup"), file: "/app.desktop", reason: "line 1")]))
        #expect(!bench.contains(.terminate(launch)))
        bench.install(.processing("backup"))
        bench.exited(launch)
        #expect(bench.results == [.succeeded])
        #expect(bench.gates("backup") == ["quiet"])
        #expect(bench.requests("backup").count == 1)
    }

    @Test func `a run that a removal stops is not done, and begins anew when the app is back`()
        throws
    {
        var (bench, launch) = try Self.backup()
        bench.send(.manifests([.removed(AppID("backup"))]))
        #expect(bench.contains(.terminate(launch)))
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.manifestRemoved)])
        #expect(try #require(bench.app("backup")).record.lastEnd(of: .processing) == nil)
        bench.install(.processing("backup"))
        #expect(bench.spawn(of: "backup") != nil)
    }

    @Test(arguments: [false, true])
    func `an edit that takes the mode or the command away stops the run`(_ isMode: Bool) throws {
        var (bench, launch) = try Self.backup()
        bench.install(
            .processing("backup") {
                if isMode { $0.modes = [.fetch] } else { $0.processingCommand = nil }
            }
        )
        #expect(bench.contains(.terminate(launch)))
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.manifestRemoved)])
        #expect(bench.requests("backup").isEmpty)
    }

    @Test(arguments: [false, true])
    func `what an edit took away while the device was down is not run again`(_ isBegun: Bool) throws
    {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.exec = ["app"] })
        let launch = try #require(bench.spawn(of: "app"))
        if isBegun { bench.started(launch) }
        // Without the command its own program would be started for it.
        let edited = AppManifest.refreshing("app") { ($0.exec, $0.refreshCommand) = (["app"], nil) }
        try bench.restart(bootID: "boot-2", manifests: [edited])
        #expect(bench.results == [.unknown])
        #expect(bench.requests("app").isEmpty)
        bench.advance(.days(1))
        #expect(bench.spawned.isEmpty)
    }

    @Test func `an edit of something else stops nothing`() throws {
        var (bench, launch) = try Self.backup()
        bench.install(.processing("backup") { $0.name = "Backup" })
        #expect(!bench.contains(.terminate(launch)))
    }

    @Test func `an edit that takes the mode away expires what a linked app runs`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        bench.submit(launch, "app.0")
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        bench.install(.linked("app", identifiers: ["app.*"]) { $0.modes = [.processing] })
        #expect(bench.told(launch) == [.expire(delivery, .manifestRemoved)])
    }

    @Test func `an app whose manifest is gone is no longer counted, after a restart either`() throws
    {
        var bench = Bench()
        bench.install(.processing("backup"), .refreshing("reader"))
        let removed = try #require(bench.spawn(of: "backup"))
        bench.started(removed)
        bench.exited(removed)
        bench.send(.manifests([.removed(AppID("backup"))]))
        func count(_ bench: Bench) -> [Int] {
            let report = bench.device.status(at: bench.now)
            return [Int(report.apps), bench.device.appList(at: bench.now).count]
        }
        #expect(count(bench) == [1, 1])
        try bench.restart(manifests: [.refreshing("reader")])
        #expect(count(bench) == [1, 1])
        #expect(bench.app("backup") != nil, "what it did is kept, should it come back")
        bench.send(.manifests([.invalid(AppID("odd"), file: "/odd.desktop", reason: "line 1")]))
        #expect(count(bench) == [2, 2])
        #expect(bench.device.status(at: bench.now).invalid?.map(\.file) == ["/odd.desktop"])
    }

    @Test func `an app that is gone is explained as one that there never was`() throws {
        var (bench, launch) = try Self.backup()
        bench.send(.manifests([.removed(AppID("backup"))]))
        func state(_ app: String) -> WorkState? {
            bench.device.explain(AppID(app), at: bench.now).first?.state
        }
        #expect(state("backup") != .unknown, "it still runs")
        bench.exited(launch, status: 143)
        #expect(bench.app("backup") != nil, "what it did is kept")
        #expect(!bench.device.isListed(AppID("backup")))
        #expect(state("backup") == .unknown)
        try bench.restart(manifests: [.refreshing("reader")])
        #expect(state("backup") == .unknown)
        #expect(state("reader") != .unknown)
    }

    @Test func `what is not installed is no mistake, and leaves alone what runs`() throws {
        var (bench, launch) = try Self.backup()
        func missing(_ bench: inout Bench) {
            bench.send(
                .manifests([.notInstalled(AppID("backup"), file: "/b.desktop", program: "restic")])
            )
        }
        missing(&bench)
        #expect(!bench.contains(.terminate(launch)))
        bench.exited(launch)
        func check(_ bench: Bench) throws {
            #expect(bench.device.status(at: bench.now).invalid == [])
            let app = try #require(bench.device.appList(at: bench.now).first)
            #expect(app.state == "not installed" && app.file == "/b.desktop")
            #expect(app.problem == "TryExec: restic is not installed")
            let explained = try #require(bench.device.explain(app.app, at: bench.now).first)
            #expect(explained.sentence.contains("it is not installed (TryExec: restic"))
        }
        try check(bench)
        bench.ask(.open(AppID("backup"), attach: nil))
        #expect(bench.refusal?.reason == "backup cannot be opened: it is not installed")
        bench.send(.manifests([.invalid(AppID("backup"), file: "/b.desktop", reason: "line 1")]))
        #expect(bench.device.status(at: bench.now).invalid?.count == 1)
        missing(&bench)
        try check(bench)
        bench.install(.processing("backup"))
        #expect(bench.device.appList(at: bench.now).first?.problem == nil)
        #expect(bench.device.usableManifests == 1)
    }
}
