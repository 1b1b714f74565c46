import AppProtocol
import Foundation
@testable import Offstage
import TestKit
import Testing
import Vocabulary

/// What an app without scenes is told of the addresses that it is opened for.
struct OpeningTests {
    private let daemon: BenchDaemon
    private let session: TestSession

    init() throws {
        daemon = try BenchDaemon()
        session = TestSession(daemon.socket)
    }

    private func launch(opening: Bool = true) async -> TestApp {
        await MainActor.run {
            let app = TestApp(session.session, launching: false)
            app.recorder.opensAtLaunch = opening
            app.application.launch(app.recorder)
            return app
        }
    }

    private func lines(_ app: TestApp, _ count: Int) throws -> [String] {
        try (0..<count).map { _ in try app.recorder.lines.next() }
    }

    private func open(_ number: Int, _ urls: String...) throws {
        try daemon.tell(
            "OpenURLs",
            [.integer(Int64(number)), .list(urls.map { .string($0) }), [:]]
        )
    }

    private func greetForURLs() {
        daemon.greet(["urls": ["news:1", "news:2"], "opening": 1])
    }

    @Test func `a launch for URLs says so, and the delegate opens each of them once`() async throws
    {
        greetForURLs()
        let app = await launch()
        #expect(
            try lines(app, 6) == [
                "willFinishLaunching inactive", "didFinishLaunching inactive",
                "launched for news:1", "posted DidFinishLaunching", "open news:1 inactive",
                "open news:2 inactive",
            ]
        )
        try daemon.next("FinishedLaunching")
        // The daemon tells until it is acknowledged.
        try open(1, "news:1", "news:2")
        try open(2, "news:3")
        #expect(try lines(app, 1) == ["open news:3 inactive"])
        #expect(app.recorder.lines.isEmpty)
    }

    @Test func `a delegate that has opened them while launching is not asked again`() async throws {
        greetForURLs()
        let app = await launch(opening: false)
        try daemon.next("FinishedLaunching")
        try daemon.tell("BecomeActive", [[:]])
        #expect(
            try lines(app, 6).suffix(3) == [
                "posted DidFinishLaunching", "didBecomeActive active", "posted DidBecomeActive",
            ]
        )
    }

    @Test func `in the background they wait for the foreground, and so does the answer`()
        async throws
    {
        daemon.greet(["state": "background"])
        let app = await launch()
        try daemon.next("FinishedLaunching")
        _ = try lines(app, 3)
        let answer = try daemon.say("OpenURLs", [1, ["news:1"], [:]])
        try daemon.tell("Changed", [[:]])
        #expect(!answer.hasCome)
        #expect(app.recorder.lines.isEmpty)
        try daemon.tell("EnterForeground", [[:]])
        _ = try answer.wait().get()
        #expect(
            try lines(app, 3) == [
                "willEnterForeground background", "posted WillEnterForeground",
                "open news:1 inactive",
            ]
        )
    }

    @Test func `an app whose daemon comes after its launch is told what it was launched for`()
        async throws
    {
        try daemon.vanish()
        let app = await launch()
        #expect(try lines(app, 5).last == "posted DidBecomeActive")
        greetForURLs()
        try daemon.start()
        try daemon.next("Hello")
        try open(1, "news:1", "news:2")
        let told = try lines(app, 3)
        #expect(
            told == [
                "posted BackgroundRefreshStatusDidChange", "open news:1 active",
                "open news:2 active",
            ]
        )
    }

    @Test func `a daemon that tells an opening again is answered, and the app is not told`()
        async throws
    {
        let app = await launch()
        _ = try lines(app, 3)
        try open(1, "news:1")
        #expect(try lines(app, 1) == ["open news:1 inactive"])
        greetForURLs()
        daemon.forget("Hello")
        try daemon.restart()
        try daemon.next("Hello")
        try open(1, "news:1")
        try open(2, "news:2")
        #expect(
            try lines(app, 3) == [
                "didBecomeActive active", "posted DidBecomeActive", "open news:2 active",
            ]
        )
    }
}
