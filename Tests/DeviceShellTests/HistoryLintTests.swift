import Linux
import TestKit
import Testing
import Vocabulary

/// `offstage lint`, of apps that a real daemon has seen at work.
struct HistoryLintTests {
    private let bench: DaemonBench
    private let stage: LinkedApp.Stage

    init() throws {
        bench = try DaemonBench("wake-grant = 2s\nexpiry-warning = 1s\n", starting: false)
        stage = try LinkedApp.Stage(bench, "feed", LinkedAppTests.keys, entry: "NoDisplay=true")
        try bench.daemon.start()
    }

    private var manifest: String { bench.daemon.scratch("data/applications/feed.desktop") }

    /// What is said of a manifest, without its path.
    private func lint(_ path: String, socket: String? = nil) throws -> [String] {
        var command = Command(Products.path(of: "offstage"), "lint", path)
        command.environment = Command.cleanEnvironment([
            "OFFSTAGE_SOCKET": socket ?? bench.daemon.socket, "HOME": bench.home(""),
        ])
        let outcome = try command.run()
        #expect(outcome.succeeded && outcome.errors.isEmpty, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").map {
            String($0).replacing(path + ": ", with: "")
        }
        // Where the file lies is another test's question.
        let others = lines.filter { !$0.hasPrefix("warning: is in no directory") }
        return others.isEmpty ? ["good"] : others
    }

    private func launch(_ app: LinkedApp, _ task: String) throws {
        try bench.ask("Simulate", "launch", "feed", ["task": .string(task), "kind": "refresh"])
    }

    /// One app that makes each mistake.
    private func misbehave() throws {
        let app = try stage.open(registered: ["news"], answering: ["Offer", "Go", "Expire"])
        _ = try app.refusal("FinishedLaunching", [["clean"]])
        for _ in 1...3 { _ = try app.refusal("Submit", "bogus", ["kind": "refresh"]) }
        try launch(app, "clean")
        _ = try bench.nextRun("feed")
        try launch(app, "news")
        var offer = try app.accept()
        try app.call("Complete", .integer(offer.delivery), "succeeded")
        _ = try app.refusal("Complete", .integer(offer.delivery), "succeeded")
        _ = try bench.nextRun("feed", after: 1)
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
        try launch(app, "news")
        try app.accept()
        _ = try bench.nextRun("feed", after: 2)
        try launch(app, "news")
        offer = try app.accept()
        try app.call("ExpirationHandler", .integer(offer.delivery), true)
        try Wait.untilGone(app.process)
        _ = try bench.nextRun("feed", after: 3)
    }

    @Test func `each mistake is said once, with what to do about it`() throws {
        #expect(try lint(manifest) == ["good"], "nothing has run")
        try misbehave()
        let said = try lint(manifest)
        let expected = [
            (#""news" was never completed, and the app ended for it"#, "Complete it on every way"),
            (#""news" had no expiration handler when its time was over"#, "expirationHandler"),
            ("A task was completed twice, or after its time", "Complete each task once"),
            (#""clean" was launched, and no handler was registered for it"#, "Register one"),
            (#""bogus" was submitted, and is not permitted"#, "PermittedTaskIdentifiers="),
            ("Handlers were registered after launching had ended", "before launching ends"),
        ]
        #expect(said.count == expected.count, "\(said)")
        for (line, (mistake, fix)) in zip(said, expected) {
            #expect(line.hasPrefix("warning: " + mistake) && line.contains(fix), "\(line)")
            #expect(line.contains(") ") || line.contains("). "), "when it was: \(line)")
        }
        #expect(try bench.history("feed").count { $0["what"] == "note" } == 3, "each once")
        #expect(try lint(manifest, socket: bench.home("nobody")) == ["good"], "the manifest alone")
    }

    @Test func `what was mended since is not said`() throws {
        let app = try stage.open(registered: ["news"])
        _ = try app.refusal("Submit", "bogus", ["kind": "refresh"])
        _ = try app.refusal("FinishedLaunching", [["clean"]])
        #expect(try lint(manifest).count == 2)
        let text = try Files.text(manifest)
        let permitted = try bench.daemon.scratch.write(
            "new/feed.desktop",
            text.replacing("=news;", with: "=news;bogus;")
        )
        let left = try lint(permitted)
        #expect(left.count == 2 && left[0].contains("which differs from this file"), "\(left)")
        #expect(left.last?.contains("registered after launching") == true, "\(left)")
        // Its program was built after that.
        let program = try bench.daemon.scratch.write("new/feed", "#!/bin/sh\n", permissions: 0o755)
        let touched = try Command("touch", "-d", "tomorrow", program).run()
        #expect(touched.succeeded)
        let rebuilt = try bench.daemon.scratch.write(
            "rebuilt/feed.desktop",
            text.replacing("=news;", with: "=news;bogus;").split(separator: "\n")
                .map { $0.hasPrefix("Exec=") ? "Exec=\(program)" : String($0) }
                .joined(separator: "\n") + "\n"
        )
        let others = try lint(rebuilt)
        #expect(others.count == 1 && others[0].contains("which differs"), "\(others)")
    }

    @Test func `what only the library sees stands in the history as well`() throws {
        let sample = try SampleApp(
            "ColorFeed",
            "BackgroundModes=fetch;processing;\nPermittedTaskIdentifiers=\(SampleApp.refresh);",
            environment: "COLORFEED_SECONDS=0;"
        )
        try sample.open(saying: "registered refresh=true dbcleaning=false")
        try sample.leave()
        try sample.waitUntilSuspended()
        let said = try lint(
            sample.bench.daemon.scratch("data/applications/colorfeed.desktop"),
            socket: sample.bench.daemon.socket
        )
        .joined(separator: "\n")
        #expect(said.contains("\"\(SampleApp.cleaning)\" was submitted, and is not permitted"))
        #expect(
            said.contains(
                "\"\(SampleApp.cleaning)\" had a handler registered, and is not permitted"
            ),
            "\(said)"
        )
    }
}
