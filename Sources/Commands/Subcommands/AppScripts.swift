import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// For scripts inside an app: what a program does with the library or by D-Bus.
extension OffstageProgram {
    static let begin = Subcommand(
        "begin",
        "request time to finish something, from inside an app",
        forms: ["NAME", "NAME -- COMMAND [ARGUMENT]..."],
        operands: 1...4096,
        details: [
            "For scripts of an app started by Offstage. The app is not suspended while it holds a "
                + "background task. After the user has left the app, all its tasks together "
                + "have minutes; after a background run they have seconds. In a RefreshCommand "
                + "or ProcessingCommand they have the time of its run: the run is over when the "
                + "command ends, whatever it holds. A program with a window that speaks no "
                + "D-Bus with the daemon is not suspended at all; with Terminal=true or "
                + "NoDisplay=true it is.",
            "Without a command, the number of the task is printed, for use with \"offstage end\". "
                + "With a command, the task is held while the command runs. SIGTERM warns the "
                + "command that its time is nearly over, and its exit status becomes this "
                + "program's. If no time is available, the command is not run, and the exit "
                + "status is 1. The task survives a restart of the daemon.",
        ],
        examples: [
            Example("begin upload", "Begin a task and print its number."),
            Example("begin upload -- scp photos.tar server:", "Hold the task while scp runs."),
        ],
        takesCommand: true,
        printsData: true
    ) { invocation throws(Failure) in
        let words = invocation.operands
        guard words.count > 1 else {
            let token = try Invocation.token()
            let task = try invocation.ask(
                App1.BeginTask { ($0.name, $0.token) = (words[0], token) },
                look: "offstage limits"
            )
            let number = try task.number(of: words[0])
            guard invocation.wantsJSON else { return invocation.console.print("\(number)") }
            return invocation.report(["name": .string(words[0]), "task": .integer(number)])
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
        "end a task begun with \"offstage begin\"",
        forms: ["NUMBER"],
        operands: 1...1,
        details: [
            "A program with a window that speaks no D-Bus with the daemon goes on running after "
                + "its last task; with Terminal=true or NoDisplay=true it is suspended."
        ],
        examples: [
            Example("end 1", "End task 1. When the last task ends, the app is suspended.")
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let word = invocation.operands[0]
        guard let task = Int64(word), task > 0 else {
            throw Failure(
                .usage,
                "\(word.quoted) is not the number of a task",
                fix: "Give the one that \"offstage begin\" printed."
            )
        }
        let call = App1.EndTask { $0.task = task }
        try invocation.asking(call, look: "offstage limits", ifDone: ()) {
            (control) throws(Failure) in
            try Invocation.daemon(control).endTask(task, timeout: .seconds(5))
        }
        invocation.report(["task": .integer(task)])
    }

    static let limits = Subcommand(
        "limits",
        "show an app's limits and usage, from inside it",
        details: [
            "For scripts of an app started by Offstage. There are no limits in the foreground."
        ],
        examples: [
            Example("limits", "Memory, processor time and remaining time."),
            Example("limits --json", "The same as JSON; deadline is in CLOCK_MONOTONIC."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.show(try invocation.ask(App1.Limits())) { limits in
            let console = invocation.console
            var table = Table("WHAT", "NOW", "LIMIT")
            table.add("state", limits.state.text, "")
            let memory = limits.memory.map(ByteSize.text) ?? "–"
            let most = limits.memoryLimit.map(ByteSize.text) ?? "none"
            table.add("memory", memory, most)
            let used = limits.cpu.map(Times.span) ?? "–"
            let share = limits.cpuLimit.map { limit in
                "\(Int(limit * 100)) % over \(Times.span(limits.cpuWindow ?? 0))"
            }
            table.add("processor", used, share ?? "none")
            let now = Double(console.now.awake.nanoseconds) / 1e9
            let left = limits.deadline.map { Times.span(max(0, $0 - now)) + " left" }
            table.add("time", "", left ?? "none")
            table.print(console)
        }
    }
}

extension BegunTask {
    /// Of the task of that name.
    func number(of name: String) throws(Failure) -> Int64 {
        guard task > 0 else {
            throw Failure(
                .failed,
                "no time is available for \(name.quoted): the app is in the background, and "
                    + "its time is over",
                fix: "Begin while the user is in the app, or during one of its runs."
            )
        }
        return task
    }
}
