@testable import DeviceCore
import Testing
import Vocabulary

/// Launches for the events of a session: once for the same events, unless the app was cut short
/// before it was done with them.
struct SessionLaunchTests {
    private let manifest = AppManifest.linked("app", identifiers: Bench.identifiers)

    private func enqueue(
        _ bench: inout Bench,
        _ launch: LaunchID,
        _ number: Int64,
        of session: String = "photos"
    ) throws -> TransferID {
        let order = SessionOrder(
            task: SessionTask(session: session, number: number),
            order: TransferOrder(
                url: "http://example.org/\(number)",
                directory: "/spool",
                overwrites: true
            )
        )
        bench.askSession(launch, .enqueue([order], token: nil), of: session)
        return try #require(bench.sessionTasks.last)
    }

    private func finish(_ bench: inout Bench, _ id: TransferID) {
        bench.report(id, .ended(.complete(size: 1), durable: 1))
        bench.report(id, .placed(name: "\(id).download"))
    }

    /// A task of an app that does not run any more.
    private func ended() throws -> (Bench, TransferID) {
        var (bench, first) = try Bench.withApp()
        bench.askSession(first, .join(sendsLaunchEvents: true))
        let id = try enqueue(&bench, first, 1)
        bench.ask(.leave(AppID("app")))
        bench.say(first, .enteredBackground)
        bench.killed(first, signal: 9)
        bench.advance(.minutes(30))
        finish(&bench, id)
        return (bench, id)
    }

    /// An app that was launched for the end of its task, and wants nothing of it.
    private func launched() throws -> (Bench, TransferID) {
        var (bench, id) = try ended()
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.say(launch, .finishedLaunching(registered: []))
        let delivery = try bench.accept(launch, handler: false)
        bench.say(launch, .completed(delivery, .succeeded))
        bench.exited(launch)
        #expect(bench.stored(id)?.isEnded == true)
        return (bench, id)
    }

    @Test func `an app that does not want its events is not launched for them again`() throws {
        for restarts in [false, true] {
            var (bench, id) = try launched()
            if restarts { try bench.restart(manifests: [manifest]) }
            bench.advance(.days(2))
            #expect(bench.spawn(of: "app") == nil, "restarts: \(restarts)")
            // What it did not want is kept for it all the same.
            let again = try bench.openApp("app")
            bench.askSession(again, .join(sendsLaunchEvents: true))
            #expect(bench.ends(again).map(\.task.task) == [1])
            bench.say(again, .acknowledged(id))
            #expect(bench.stored(id) == nil)
        }
    }

    /// It crashed, or ended without a word, before it was done with them.
    @Test(arguments: [(true, false), (true, true), (false, false)])
    func `an app that did not come to its events is launched for them again`(
        crashes: Bool,
        restarts: Bool
    ) throws {
        var (bench, id) = try ended()
        var waits: [Interval] = []
        for _ in 0..<3 {
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.say(launch, .finishedLaunching(registered: []))
            _ = try bench.accept(launch, handler: false)
            crashes ? bench.killed(launch, signal: 11) : bench.exited(launch)
            let end = bench.now.boot
            if restarts { try bench.restart(manifests: [manifest]) }
            while bench.spawn(of: "app") == nil, waits.count < 3 {
                bench.advance(.seconds(30))
                guard bench.now.boot - end < .hours(5) else { break }
            }
            waits.append(bench.now.boot - end)
        }
        #expect(waits[0] < waits[1] && waits[1] < waits[2], "\(waits)")
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.say(launch, .finishedLaunching(registered: []))
        _ = try bench.accept(launch, handler: false)
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.say(launch, .acknowledged(id))
        bench.killed(launch, signal: 11)
        bench.advance(.days(2))
        #expect(bench.spawn(of: "app") == nil, "nothing is left to tell")
    }

    @Test func `for another end it is launched again`() throws {
        for restarts in [false, true] {
            var (bench, _) = try launched()
            let launch = try bench.openApp("app")
            let id = try enqueue(&bench, launch, 2)
            bench.ask(.leave(AppID("app")))
            bench.say(launch, .enteredBackground)
            bench.killed(launch, signal: 9)
            if restarts { try bench.restart(manifests: [manifest]) }
            bench.advance(.hours(5))
            #expect(bench.spawn(of: "app") == nil, "its task is under way")
            finish(&bench, id)
            #expect(bench.spawn(of: "app") != nil, "restarts: \(restarts)")
        }
    }

    @Test func `of many sessions with events none is dropped`() throws {
        var (bench, launch) = try Bench.withApp()
        let sessions = (0..<20).map { "session \($0)" }
        var ids: [TransferID] = []
        for session in sessions {
            bench.askSession(launch, .join(sendsLaunchEvents: true), of: session)
            ids.append(try enqueue(&bench, launch, 1, of: session))
        }
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.killed(launch, signal: 9)
        bench.set(.memory, 2)
        for id in ids { finish(&bench, id) }
        #expect(bench.requests("app").map(\.identifier) == sessions)
        #expect(bench.dropped.isEmpty)
    }

    /// Half an edit, or half an upgrade: its tasks go on meanwhile.
    @Test func `an end that comes without a usable manifest waits for one`() throws {
        let app = AppID("app")
        let changes: [ManifestChange] = [
            .invalid(app, file: "app.desktop", reason: "no Exec="),
            .notInstalled(app, file: "app.desktop", program: "app"),
            .removed(app),
        ]
        for (change, restarts) in changes.flatMap({ [($0, false), ($0, true)] }) {
            var (bench, launch) = try Bench.withApp()
            bench.askSession(launch, .join(sendsLaunchEvents: true))
            let id = try enqueue(&bench, launch, 1)
            bench.ask(.leave(app))
            bench.say(launch, .enteredBackground)
            bench.killed(launch, signal: 9)
            bench.advance(.minutes(30))
            bench.send(.manifests([change]))
            finish(&bench, id)
            #expect(bench.stored(id)?.isEnded == true)
            #expect(bench.gates("app") == ["unknown-app"], "\(change)")
            if restarts { try bench.restart(manifests: []) }
            bench.advance(.minutes(1))
            #expect(bench.spawned.isEmpty, "\(change)")
            bench.install(manifest)
            launch = try #require(bench.spawn(of: "app"), "\(change), restarts: \(restarts)")
            bench.started(launch)
            bench.say(launch, .finishedLaunching(registered: []))
            #expect(bench.offered(launch).map(\.kind) == [.trigger(.sessionEvents)])
            #expect(bench.offered(launch).map(\.identifier) == ["photos"])
        }
    }

    @Test func `a task that waits for the manifest of its app begins as that comes`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.send(.condition(.network, .kernel, .value(0)))
        let id = try enqueue(&bench, launch, 1)
        bench.ask(.leave(AppID("app")))
        bench.killed(launch, signal: 9)
        bench.advance(.minutes(30))
        bench.send(.manifests([.removed(AppID("app"))]))
        bench.send(.condition(.network, .kernel, .value(2)))
        bench.advance(.minutes(1))
        #expect(bench.transferGates(id) == ["unknown-app"])
        bench.install(manifest)
        #expect(bench.begun(id) != nil)
    }

    /// It is suspended with its acknowledgement on the way, and resumed for what that is about.
    @Test(arguments: [false, true])
    func `what an app was offered stays with it, though there is nothing left to tell`(
        restarts: Bool
    ) throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        let id = try enqueue(&bench, launch, 1)
        finish(&bench, id)
        #expect(bench.ends(launch).map(\.task.task) == [1])
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(5))
        #expect(bench.contains(.freeze(launch)))
        let offer = try #require(bench.offers(launch).first)
        bench.say(launch, .acknowledged(id))
        #expect(bench.stored(id) == nil)
        if restarts {
            let process = bench.launch(launch)?.process
            try bench.restart(
                survivors: [Survivor(launch: launch, process: process, alive: true)],
                manifests: [manifest]
            )
            bench.say(launch, .reconnected(running: [], finished: []))
            #expect(bench.offers(launch) == [offer])
        }
        #expect(bench.requests("app").map(\.state) == [.offered(launch)])
        bench.say(launch, .accepted(offer))
        #expect(bench.told(launch).contains(.go(offer)))
        #expect(bench.requests("app").map(\.state) == [.running(launch)])
        bench.say(launch, .completed(offer, .succeeded))
        #expect(bench.results == [.succeeded])
        #expect(bench.requests("app").isEmpty)
    }
}
