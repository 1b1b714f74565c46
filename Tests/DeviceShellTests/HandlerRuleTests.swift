import TestKit
import Testing
import Vocabulary

/// What an app with the library may register and ask for, by the manifest that the daemon has (C1).
struct HandlerRuleTests {
    @Test func `handlers are for what is listed, once, in time, and run where they were meant to`()
        throws
    {
        let app = try SampleApp(
            "RulePeer",
            "BackgroundModes=fetch;processing;\nPermittedTaskIdentifiers=news;job.*;"
        )
        try app.open(saying: "late false")
        #expect(
            app.lines.filter { !$0.hasPrefix("Offstage: ") && !$0.hasPrefix("error ") } == [
                "listed true", "without a queue true", "twice false", "not listed false",
                "late false",
            ]
        )
        let refusal = app.lines.first { $0.hasPrefix("error ") } ?? ""
        #expect(refusal.hasPrefix("error 3: ") && refusal.contains("other"), "\(refusal)")
        try app.leave()
        try app.waitUntilSuspended()
        for (number, task) in ["news", "job.1"].enumerated() {
            try app.launch(task)
            try app.wait(for: "\(task) where it should")
            let run = try app.bench.nextRun(app.name, after: number)
            #expect(run["result"] == "completed" && run["task"] == .string(task), "\(run)")
        }
        // What it had not said yet when it was suspended.
        try app.bench.ask("Open", .string(app.name), [:])
        let mistakes = [
            "registered a second handler: news",
            "registered a handler for what its manifest does not permit: other",
            "submitted what its manifest does not permit: other",
            "registered a handler after launching had ended: job.2",
            "called a completion a second time: news",
            "called a completion a second time: job.1",
        ]
        try app.bench.wait(until: "the history says which rules were broken") {
            let notes = try app.bench.history(app.name).filter { $0["what"] == "note" }
                .compactMap { $0["reason"]?.stringValue }
            return Set(notes).isSuperset(of: mistakes)
        }
    }
}
