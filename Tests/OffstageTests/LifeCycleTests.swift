import AppProtocol
import Foundation
@testable import Offstage
import TestKit
import Testing
import Vocabulary

/// What a delegate is told, and when.
struct LifeCycleTests {
    private let daemon: BenchDaemon
    private let session: TestSession

    init() throws {
        daemon = try BenchDaemon()
        session = TestSession(daemon.socket)
    }

    private func launch() async -> TestApp {
        await MainActor.run { TestApp(session.session) }
    }

    private func expect(_ app: TestApp, _ lines: String...) throws {
        for line in lines {
            let next = try app.recorder.lines.next()
            #expect(next == line)
        }
        #expect(app.recorder.lines.isEmpty)
    }

    private func beInBackground() {
        daemon.greet(["state": "background", "background-refresh": "denied"])
    }

    private func launched(_ state: String) -> [String] {
        [
            "willFinishLaunching \(state)", "didFinishLaunching \(state)",
            "posted DidFinishLaunching",
        ]
    }

    @Test func aLaunchByTheUserEndsWithTheAppBeingActive() async throws {
        let app = await launch()
        for line in launched("inactive") { #expect(try app.recorder.lines.next() == line) }
        #expect(app.recorder.lines.isEmpty, "the daemon says when the user is there")
        try daemon.next("FinishedLaunching")
        try daemon.tell("BecomeActive", [[:]])
        try expect(app, "didBecomeActive active", "posted DidBecomeActive")
        #expect(await app.application.backgroundRefreshStatus == .available)
    }

    /// Its user comes, or comes back.
    private func expectReturn(_ app: TestApp) throws {
        try expect(
            app,
            "willEnterForeground background",
            "posted WillEnterForeground",
            "didBecomeActive active",
            "posted DidBecomeActive"
        )
    }

    @Test func aLaunchInTheBackgroundIsSeenAsSuchFromTheStart() async throws {
        beInBackground()
        let app = await launch()
        for line in launched("background") { #expect(try app.recorder.lines.next() == line) }
        try daemon.next("FinishedLaunching")
        #expect(app.recorder.lines.isEmpty)
        #expect(await app.application.backgroundRefreshStatus == .denied)
        // Opened later.
        try daemon.tell("BecomeActive", [[:]])
        try expectReturn(app)
    }

    @Test func anAppThatIsLeftBeforeItHasLaunchedIsToldThatItsUserCameAndLeft() async throws {
        beInBackground()
        let app = await launch()
        for line in launched("background") { #expect(try app.recorder.lines.next() == line) }
        try daemon.tell("EnterBackground", [[:]])
        try expect(
            app,
            "willEnterForeground background",
            "posted WillEnterForeground",
            "didEnterBackground background",
            "posted DidEnterBackground"
        )
        try daemon.tell("EnterBackground", [[:]])
        try daemon.tell("BecomeActive", [[:]])
        try expectReturn(app)
    }

    @Test func leavingIsAnsweredWhenTheDelegateHasReturned() async throws {
        let app = await launch()
        try daemon.tell("BecomeActive", [[:]])
        for _ in 0..<5 { _ = try app.recorder.lines.next() }
        let mayGoOn = DispatchSemaphore(value: 0)
        await MainActor.run { app.recorder.leaving = { mayGoOn.wait() } }
        let answer = try daemon.say("EnterBackground", [[:]])
        #expect(try app.recorder.lines.next() == "willResignActive active")
        #expect(try app.recorder.lines.next() == "posted WillResignActive")
        #expect(try app.recorder.lines.next() == "didEnterBackground background")
        // The main thread is busy; whoever asks others is not concerned.
        _ = try session.session.call(App1.Limits())
        #expect(!answer.hasCome)
        mayGoOn.signal()
        _ = try answer.wait().get()
        try expect(app, "posted DidEnterBackground")
        // And back.
        try daemon.tell("EnterForeground", [[:]])
        try daemon.tell("BecomeActive", [[:]])
        try expectReturn(app)
    }

    @Test func whatComesTwiceIsToldOnce() async throws {
        let app = await launch()
        try daemon.tell("BecomeActive", [[:]])
        try daemon.tell("BecomeActive", [[:]])
        for _ in 0..<5 { _ = try app.recorder.lines.next() }
        try daemon.tell("EnterBackground", [[:]])
        try daemon.tell("EnterBackground", [[:]])
        for _ in 0..<4 { _ = try app.recorder.lines.next() }
        #expect(app.recorder.lines.isEmpty)
    }

    @Test func anAppLearnsFromTheNextDaemonThatItsUserCameOrLeft() async throws {
        let app = await launch()
        try daemon.tell("BecomeActive", [[:]])
        for _ in 0..<5 { _ = try app.recorder.lines.next() }
        beInBackground()
        try daemon.restart()
        for line in [
            "posted BackgroundRefreshStatusDidChange", "willResignActive active",
            "posted WillResignActive", "didEnterBackground background",
            "posted DidEnterBackground",
        ] { #expect(try app.recorder.lines.next() == line) }
        daemon.greet(["background-refresh": "denied"])
        try daemon.restart()
        try expectReturn(app)
    }

    @Test func anAppWhoseDaemonDiedWhileItLaunchedBecomesActiveWithTheNext() async throws {
        let app = await launch()
        for line in launched("inactive") { #expect(try app.recorder.lines.next() == line) }
        // Before it could say that the user is there; the next one does not say it again.
        try daemon.restart()
        try expect(app, "didBecomeActive active", "posted DidBecomeActive")
    }

    /// Launches an app; what happens meanwhile happens when it no longer waits for its greeting.
    private func launch(
        _ meanwhile: @escaping @Sendable () throws -> Void
    ) async throws -> TestApp {
        let session = session.session
        return try await MainActor.run {
            let app = TestApp(session, launching: false)
            var failure: (any Error)?
            @MainActor func delegate() -> Recorder {
                do {
                    try meanwhile()
                    try daemon.next("Hello")
                    // What is answered later than the hello.
                    _ = try session.call(App1.Limits())
                } catch {
                    failure = error
                }
                return app.recorder
            }
            app.application.launch(delegate())
            if let failure { throw failure }
            return app
        }
    }

    @Test func anAppWhoseDaemonComesWhileItLaunchesIsWhereThatSaysThatItIs() async throws {
        try daemon.vanish()
        beInBackground()
        let app = try await launch { [daemon] in try daemon.start() }
        for line in launched("inactive") { #expect(try app.recorder.lines.next() == line) }
        #expect(try app.recorder.lines.next() == "didEnterBackground background")
        #expect(try app.recorder.lines.next() == "posted DidEnterBackground")
        try expect(app, "posted BackgroundRefreshStatusDidChange")
        try daemon.tell("BecomeActive", [[:]])
        try expectReturn(app)
    }

    @Test func anAppThatANewDaemonSeesInTheForegroundComesThereWhenItHasLaunched() async throws {
        beInBackground()
        let app = try await launch { [daemon] in
            daemon.forget("Hello")
            daemon.greet(["background-refresh": "denied"])
            try daemon.restart()
        }
        for line in launched("background") { #expect(try app.recorder.lines.next() == line) }
        try expectReturn(app)
    }

    @Test func aDelegateIsMadeOnceAndKnowsWhereTheAppIs() async throws {
        beInBackground()
        let states = await MainActor.run {
            let application = UIApplication(session.session)
            var states: [UIApplication.State] = []
            @MainActor func delegate() -> Plain {
                states.append(application.applicationState)
                return Plain()
            }
            application.launch(delegate())
            return states
        }
        #expect(states == [.background])
    }

    private final class WithoutOptions: UIResponder, UIApplicationDelegate {
        var launches = 0

        func applicationDidFinishLaunching(_ application: UIApplication) { launches += 1 }
    }

    @Test func launchingIsOverForADelegateThatWantsNoOptionsToo() async throws {
        let launches = await MainActor.run {
            let delegate = WithoutOptions()
            UIApplication(session.session).launch(delegate)
            return delegate.launches
        }
        #expect(launches == 1)
    }

    @Test func memoryWarningsAndSettingsAreToldOnTheMainThread() async throws {
        let app = await launch()
        for _ in 0..<3 { _ = try app.recorder.lines.next() }
        try daemon.tell("MemoryWarning", [["memory": 1]])
        try expect(app, "memoryWarning inactive", "posted DidReceiveMemoryWarning")
        try daemon.tell("Changed", [["background-refresh": "denied"]])
        try expect(app, "posted BackgroundRefreshStatusDidChange")
        #expect(await app.application.backgroundRefreshStatus == .denied)
        try daemon.tell("Changed", [["of-tomorrow": true]])
        try daemon.tell("Changed", [["background-refresh": "restricted"]])
        try expect(app, "posted BackgroundRefreshStatusDidChange")
        #expect(await app.application.backgroundRefreshStatus == .restricted)
    }

    // MARK: Without a daemon that knows it

    @Test func withoutADaemonAnAppIsInTheForeground() async throws {
        let alone = TestSession(nil)
        let app = await MainActor.run { TestApp(alone.session) }
        for line in launched("inactive") { #expect(try app.recorder.lines.next() == line) }
        try expect(app, "didBecomeActive active", "posted DidBecomeActive")
        #expect(await app.application.backgroundRefreshStatus == .restricted)
    }

    @Test func anAppThatTheDaemonDidNotStartIsInTheForeground() async throws {
        daemon.behave("Hello", .refuse(.notPermitted, "not the main process of an app"))
        let app = await launch()
        for line in launched("inactive") { #expect(try app.recorder.lines.next() == line) }
        try expect(app, "didBecomeActive active", "posted DidBecomeActive")
        // What it asks for is the daemon's to refuse.
        try session.scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
        try daemon.next("Submit")
    }

    @Test func aDaemonThatDoesNotAnswerHelloIsWaitedForForABoundedTime() async throws {
        daemon.behave("Hello", .silence)
        let impatient = TestSession(daemon.socket, ticks: 2)
        let app = await MainActor.run { TestApp(impatient.session) }
        for line in launched("inactive") { #expect(try app.recorder.lines.next() == line) }
        try expect(app, "didBecomeActive active", "posted DidBecomeActive")
    }

    @Test func anAppReadsWhatThereIsAndWhatItMayUse() async throws {
        daemon.greet(["features": ["fetch", "refresh"]])
        daemon.behave(
            "Limits",
            .answer([
                [
                    "state": "background", "memory": 1000, "memory-limit": 2000,
                    "cpu": .double(1.5), "cpu-limit": .double(0.8), "cpu-window": .double(60),
                ]
            ])
        )
        let app = await launch()
        #expect(app.application.availableFeatures == ["fetch", "refresh"])
        let limits = try await app.application.backgroundLimits()
        #expect(limits.memory == 1000 && limits.memoryLimit == 2000)
        #expect(limits.processorTime == 1.5 && limits.processorLimit == 0.8)
        #expect(limits.processorWindow == 60)
    }

    // MARK: Fetching

    @Test func eachFetchHasACompletionOfItsOwn() async throws {
        beInBackground()
        let app = await launch()
        try daemon.deliver(1, "fetch")
        try daemon.deliver(2, "fetch")
        let first = try app.recorder.fetches.next()
        let second = try app.recorder.fetches.next()
        second(.newData)
        #expect(try daemon.next("Complete") == [2, "newData"])
        second(.failed)
        first(.noData)
        #expect(try daemon.next("Complete") == [1, "noData"])
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "Complete").isEmpty, "the first call of each counts")
    }

    @Test func aFetchWhoseHandlerIsLetGoIsReportedAtOnce() async throws {
        beInBackground()
        let app = await launch()
        try daemon.deliver(1, "fetch")
        _ = try app.recorder.fetches.next()
        #expect(try daemon.next("Complete") == [1, "failed"])
    }

    private final class Asynchronous: UIResponder, UIApplicationDelegate {
        func applicationPerformFetch(
            _ application: UIApplication
        ) async -> UIBackgroundFetchResult {
            await Task.yield()
            return .newData
        }
    }

    private final class Plain: UIResponder, UIApplicationDelegate {}

    @Test func theAsynchronousFormWillDoAndNoneFindsNothing() async throws {
        beInBackground()
        let application = await MainActor.run { UIApplication(session.session) }
        await application.launch(Asynchronous())
        try daemon.deliver(1, "fetch")
        #expect(try daemon.next("Complete") == [1, "newData"])
        await MainActor.run { application.delegate = Plain() }
        try daemon.deliver(2, "fetch")
        #expect(try daemon.next("Complete") == [2, "noData"])
    }

    @Test func theFetchIntervalReachesTheDaemonThatComesNext() async throws {
        let app = await launch()
        for (seconds, said) in [
            (UIApplication.backgroundFetchIntervalMinimum, 0.0),
            (UIApplication.backgroundFetchIntervalNever, -1), (3600, 3600), (-5, 0),
        ] {
            await app.application.setMinimumBackgroundFetchInterval(seconds)
            #expect(try daemon.next("SetMinimumFetchInterval") == [.double(said)])
        }
        try daemon.vanish()
        await app.application.setMinimumBackgroundFetchInterval(7200)
        try daemon.start()
        #expect(try daemon.next("SetMinimumFetchInterval") == [7200.0])
        #expect(daemon.calls(of: "Hello").count == 2, "after the hello")
    }
}
