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
}
