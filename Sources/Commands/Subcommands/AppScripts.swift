import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// For scripts inside an app: what a program does with the library or by D-Bus.
extension OffstageProgram {
    static let begin = Subcommand(
        "begin",
        "ask for time to finish something, from inside an app",
        forms: ["NAME", "NAME -- COMMAND [ARGUMENT]..."],
        operands: 1...4096,
        details: [
            "For scripts of an app, which Offstage has started: the app is not suspended while it "
                + "holds a background task. When the user has left it there are minutes for all "
                + "tasks together, after a run in the background seconds.",
            "Without a command the number of the task is printed, for \"offstage end\". With one "
                + "the task is held while the command runs, SIGTERM tells it that the time is "
                + "nearly out, and its exit status is this one's. When there is no time to be had "
                + "the command is not run, and the exit status is 1. A daemon that is started "
                + "again meanwhile holds it as well.",
        ],
        examples: [
            Example("begin upload", "Prints the number of a task that is held from now on."),
            Example("begin upload -- scp photos.tar server:", "Holds it while scp runs."),
        ],
        takesCommand: true
    ) { invocation throws(Failure) in
        let words = invocation.operands
        guard words.count > 1 else {
            let token = Value.string(try Invocation.token())
            let answer = try invocation.askApp("BeginTask", [.string(words[0]), ["token": token]])
            return invocation.console.print("\(try BegunTask(words[0], answer).number)")
        }
        guard words[1] == "--", words.count > 2 else {
            throw Failure(
                .usage,
                words[1] == "--"
                    ? "no command follows --"
                    : "\(words[1].quoted) is neither the end of the line nor --",
                fix: "Write it as: offstage begin NAME -- COMMAND."
            )
        }
        try HeldCommand(words[0], Array(words.dropFirst(2)), invocation).run()
    }

    static let end = Subcommand(
        "end",
        "say that what \"offstage begin\" asked time for is finished",
        forms: ["NUMBER"],
        operands: 1...1,
        examples: [
            Example("end 1", "Gives the time back; the app is suspended with its last task.")
        ]
    ) { invocation throws(Failure) in
        let word = invocation.operands[0]
        guard let task = Int64(word), task > 0 else {
            throw Failure(
                .usage,
                "\(word.quoted) is not the number of a task",
                fix: "Give the one that \"offstage begin\" printed."
            )
        }
        try invocation.askApp("EndTask", [.integer(task)])
    }

    static let limits = Subcommand(
        "limits",
        "show what an app may use, and uses, from inside it",
        details: [
            "For scripts of an app, which Offstage has started. In the foreground nothing is "
                + "limited."
        ],
        examples: [
            Example("limits", "Memory, processor, and the time that is left."),
            Example("limits --json", "The same for a program; deadline is CLOCK_MONOTONIC."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let report = try invocation.askApp("Limits").first ?? .null
        invocation.show(report) { report in
            let console = invocation.console
            var table = Table("WHAT", "NOW", "LIMIT")
            table.add("state", report.text("state"), "")
            let memory = report.number("memory").map(ByteSize.text) ?? "–"
            let most = report.number("memory-limit").map(ByteSize.text) ?? "none"
            table.add("memory", memory, most)
            let used = report.seconds("cpu").map(Times.span) ?? "–"
            let share = report.seconds("cpu-limit").map { limit in
                "\(Int(limit * 100)) % over \(Times.span(report.seconds("cpu-window") ?? 0))"
            }
            table.add("processor", used, share ?? "none")
            let now = Double(console.now.awake.nanoseconds) / 1e9
            let left = report.seconds("deadline").map { Times.span(max(0, $0 - now)) + " left" }
            table.add("time", "", left ?? "none")
            table.print(console)
        }
    }
}

/// A background task of the app that this process belongs to.
struct BegunTask {
    let number: Int64

    /// From what `BeginTask` answered.
    init(_ name: String, _ answer: [Value]) throws(Failure) {
        number = answer.first?.integerValue ?? 0
        guard number > 0 else {
            throw Failure(
                .failed,
                "there is no time to be had for \(name.quoted): the app is in the background, and "
                    + "its time is over",
                fix: "Ask while the user is in the app, or during a run of it."
            )
        }
    }
}
