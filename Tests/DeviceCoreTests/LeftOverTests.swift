import DeviceCore
import Testing
import Vocabulary

/// What is said of apps that have nothing left to do.
struct LeftOverTests {
    private func listed(_ bench: Bench) -> [String] {
        bench.device.appList(at: bench.now).map(\.app.name)
    }

    private func submit(_ name: String, after: Interval? = nil, _ bench: inout Bench) {
        let submission = Submission(
            identifier: name,
            kind: .processing,
            after: after,
            command: ["true"]
        )
        bench.ask(.submit(submission))
    }

    @Test func `a command that was cancelled before it ran is listed no more, nor after a restart`()
        throws
    {
        var bench = Bench()
        submit("ran", &bench)
        let launch = try #require(bench.spawn(of: "command.ran"))
        bench.started(launch)
        bench.exited(launch)
        submit("never", after: .hours(2), &bench)
        #expect(listed(bench).sorted() == ["command.never", "command.ran"])
        bench.ask(.cancel(AppID("command.never"), identifier: nil))
        #expect(bench.reply == .done)
        for _ in 1...2 {
            #expect(listed(bench) == ["command.ran"], "it has run, which is told of it")
            #expect(bench.device.status(at: bench.now).apps == 1)
            // Who has its name is told what became of it.
            let said = bench.device.explain(AppID("command.never"), at: bench.now)
            #expect(said.map(\.state) == [.nothingToDo])
            #expect(said.first?.sentence.contains("it was cancelled or dropped") == true)
            try bench.restart()
        }
        submit("never", after: .hours(2), &bench)
        #expect(listed(bench).sorted() == ["command.never", "command.ran"])
    }

    /// It is known as long as its last run is.
    @Test func `a task that failed and was not submitted again is no unknown one`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.suspendApp("app", registered: ["app.*"])
        func said(_ task: String?) throws -> Explanation {
            let all = bench.device.explain(AppID("app"), identifier: task, at: bench.now)
            return try #require(all.first)
        }
        let nothing = "it has submitted nothing, and its manifest names no command."
        #expect(try said(nil).sentence == "app has nothing to run: \(nothing)")
        bench.submit(launch, "app.news")
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .unsuccessful))
        let app = try said(nil)
        #expect(
            app.sentence == "app has nothing to run: it has submitted nothing since its last run, "
                + "and its manifest names no command."
        )
        #expect(app.lastRun?.identifier == "app.news")
        let task = try said("app.news")
        #expect(
            task.sentence == "app has nothing to run for app.news: it has not submitted it again "
                + "since its last run."
        )
        #expect(task.lastRun?.result == .unsuccessful)
        let other = try said("app.other")
        #expect(other.sentence.hasPrefix("app has no task called app.other: "))
        #expect(other.lastRun == nil)
    }

    /// It never runs, and is an app all the same as long as it has any.
    @Test func `what has transfers is listed, until they are forgotten`() {
        var bench = Bench()
        let order = TransferOrder(url: "http://example.org/a", directory: "/home/user")
        guard case .transfers(let ids) = bench.ask(.transfer(.enqueue([order], token: nil))) else {
            Issue.record("\(String(describing: bench.reply))")
            return
        }
        #expect(listed(bench) == [Device.downloads.name])
        #expect(bench.device.status(at: bench.now).apps == 1)
        bench.ask(.transfer(.cancel(ids)))
        for id in ids { bench.report(id, .ended(.interrupted(.init(.stopped)), durable: nil)) }
        #expect(listed(bench) == [Device.downloads.name], "its end is told of")
        bench.ask(.transfer(.forget(nil)))
        #expect(listed(bench) == [] && bench.device.status(at: bench.now).apps == 0)
    }
}
