@testable import DeviceCore
import Testing
import Vocabulary

/// Runs that ended while no daemon ran, or with the boot: no more time is counted of one than it
/// can have taken.
struct UnseenEndTests {
    /// How long no daemon ran, and what is counted of a refresh that had run for 10 s.
    struct Absence: Sendable {
        var length: Interval
        var counted: Interval
    }

    /// The daemon is back; the process has ended.
    private static func comeBack(
        _ bench: inout Bench,
        after absence: Interval,
        _ launch: LaunchID,
        _ manifest: AppManifest
    ) throws {
        let process = bench.launch(launch)?.process
        bench.move(absence)
        let survivor = Survivor(launch: launch, process: process, alive: false)
        try bench.restart(survivors: [survivor], manifests: [manifest])
    }

    @Test(arguments: [
        Absence(length: .seconds(4), counted: .seconds(14)),
        Absence(length: .hours(5), counted: .seconds(30)),
    ])
    func `a command that ended unseen ran no longer than it might`(_ absence: Absence) throws {
        var bench = Bench()
        let manifest = AppManifest.refreshing("app")
        bench.install(manifest)
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(10))
        try Self.comeBack(&bench, after: absence.length, launch, manifest)
        #expect(bench.results == [.unknown])
        #expect(bench.runs.map(\.runTime) == [absence.counted])
        #expect(bench.device.ledger.runTime == absence.counted)
        #expect(bench.app("app")?.record.ledger.runTime == absence.counted)
    }

    @Test func `a result that is read hours later makes no run of hours`() throws {
        var bench = Bench()
        let manifest = AppManifest.refreshing("app") { $0.failedFrom = ["check"] }
        bench.install(manifest)
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(7))
        bench.exited(launch)
        try Self.comeBack(&bench, after: .hours(5), launch, manifest)
        bench.send(.process(launch, .probed(.failed, .read(Fingerprint(), status: 0))))
        #expect(bench.results == [.newData])
        #expect(bench.runs.map(\.runTime) == [.seconds(30)])
        #expect(bench.device.ledger.runTime == .seconds(30))
    }

    @Test func `each task of an app that ended unseen ran no longer than it might`() throws {
        var (bench, launch, _, _) = try JoinedTaskTests.joined()
        let manifest = AppManifest.linked("app", identifiers: ["app.*"])
        try Self.comeBack(&bench, after: .hours(5), launch, manifest)
        let grant = bench.device.settings.value.processingGrantCharging
        #expect(bench.runs.map(\.identifier) == ["app.long", "app.late"])
        #expect(bench.runs.map(\.runTime) == [grant, .seconds(30)])
        #expect(bench.device.ledger.runTime == grant)
    }

    @Test func `a task in the foreground has no end, and yet does not last until the next daemon`()
        throws
    {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.tidy.a", .processing)
        _ = try bench.accept(launch)
        let manifest = AppManifest.linked("app", identifiers: Bench.identifiers)
        try Self.comeBack(&bench, after: .hours(5), launch, manifest)
        let grant = bench.device.settings.value.processingGrantCharging
        #expect(bench.results == [.unknown])
        #expect(bench.runs.map(\.runTime) == [grant])
        #expect(bench.device.ledger.runTime == grant)
    }

    @Test func `an app that was never started for its work has taken no time`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.tidy.a", .processing) { $0.after = .seconds(20) }
        bench.ask(.leave(AppID("app")))
        bench.exited(launch)
        bench.advance(.seconds(20))
        let again = try #require(bench.spawn(of: "app"))
        let manifest = AppManifest.linked("app", identifiers: Bench.identifiers)
        try Self.comeBack(&bench, after: .hours(5), again, manifest)
        #expect(bench.results == [.unknown])
        #expect(bench.runs.map(\.runTime) == [.zero])
        #expect(bench.device.ledger.runTime == .zero)
    }

    @Test func `no task is as long as two boots differ`() throws {
        // The next boot is five minutes old when its daemon starts.
        var (bench, _, _, _) = try JoinedTaskTests.joined(sinceBoot: .minutes(1))
        let manifest = AppManifest.linked("app", identifiers: ["app.*"])
        try bench.restart(bootID: "boot-2", manifests: [manifest])
        #expect(bench.results == [.unknown, .unknown])
        #expect(bench.runs.map(\.runTime) == [.zero, .zero])
        #expect(bench.device.ledger.runTime == .zero)
    }
}
