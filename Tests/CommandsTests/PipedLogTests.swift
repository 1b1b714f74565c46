import Linux
import TestKit
import Testing

/// Logs that come by a pipe.
struct PipedLogTests {
    private let log: String = {
        let days = (1...30).map { $0 < 10 ? "0\($0)" : "\($0)" }
        let times = ["08:05", "12:30"]
        return "user,kind,app,start,duration_s\n"
            + days.flatMap { day in
                times.map { "me,app,news,2026-09-\(day)T\($0):00.000,60\n" }
            }.joined()
    }()

    @Test(arguments: [["--usage", "-"], ["-"], ["/dev/stdin"]])
    func aPipeIsReadToItsEnd(_ words: [String]) throws {
        var command = Command(
            [Products.path(of: "offstage"), "evaluate", "--budget", "1", "--scope", "app"] + words
        )
        command.input = log
        let outcome = try command.run()
        #expect(outcome.succeeded, "\(outcome)")
        let title = "A budget for each app, 1 person"
        #expect(outcome.output.contains(title), "\(outcome.output)")
    }

    @Test func whatIsNoFileAndNoPipeIsSaid() {
        let outcome = TestTerminal().run(["evaluate", "/dev/null"])
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("/dev/null is neither a file nor a pipe"), "\(outcome)")
    }
}
