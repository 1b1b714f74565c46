import AppProtocol
import CommandTable
import Vocabulary

extension OffstageProgram {
    static let explain = Subcommand(
        "explain",
        "explain why an app's work runs or does not run",
        forms: ["APP [TASK]"],
        operands: 1...2,
        details: [
            "Prints a sentence for each task, then the gates that hold it: the value that each "
                + "gate sees, the value that it needs, since when it holds, and when it opens "
                + "if that is known."
        ],
        examples: [
            Example("explain newsboat", "Why newsboat is not being refreshed."),
            Example("explain --json restic backup", "The same for one task, as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let call: Control1.Explain = invocation.ofTask()
        invocation.show(try invocation.ask(call)) { tasks in
            for (index, task) in tasks.enumerated() {
                if index > 0 { invocation.console.print("") }
                print(task, invocation)
            }
        }
    }

    private static func print(forecast: Value, _ invocation: Invocation) {
        let whose = forecast.text("scope") == "device" ? "for all apps" : "for this app"
        var table = Table("REFRESHES GO BY", "VALUE")
        table.add("opened within half an hour", forecast.percent("chance"))
        table.add("worth a refresh from", forecast.percent("price"))
        table.add(
            "left today \(whose)",
            "\(forecast.number("left") ?? 0) of \(forecast.number("budget") ?? 0)"
        )
        table.add("most likely opened", invocation.timeText(forecast, "likelyAt"))
        table.add("how likely then", forecast.percent("likelyChance"))
        table.add(
            "refreshed, if nothing happens",
            forecast.time("expectedAt") == nil
                ? "not foreseen" : invocation.timeText(forecast, "expectedAt")
        )
        invocation.console.print("")
        table.print(invocation.console, indent: 2)
    }

    private static func print(_ task: Value, _ invocation: Invocation) {
        let console = invocation.console
        let sentence = task.text("sentence").printable
        for line in sentence.wrapped(to: console.width.map { min($0, 100) } ?? .max) {
            console.print(console.styled(line, .bold))
        }
        let holds = task.items("holds")
        if !holds.isEmpty {
            console.print("")
            var table = Table("GATE", "VALUE", "NEEDED", "SINCE", "NEXT")
            for hold in holds {
                table.add([
                    Table.Cell(hold.text("gate")),
                    Table.Cell(hold.text("value"), .yellow),
                    Table.Cell(hold.text("needed")),
                    Table.Cell(invocation.timeText(hold, "since")),
                    Table.Cell(
                        hold.time("next") == nil
                            ? "when it changes" : invocation.timeText(hold, "next")
                    ),
                ])
            }
            table.print(console, indent: 2)
            for fix in holds.map({ $0.text("fix").printable }) where !fix.isEmpty {
                console.print("  What to do: \(fix)")
            }
        }
        if let forecast = task["forecast"], forecast.text("scope") != "" {
            print(forecast: forecast, invocation)
        }
        guard let last = task["lastRun"], last.time("at") != nil else { return }
        let reason = last.text("reason").printable
        console.print("")
        console.print(
            "Last run \(invocation.timeText(last, "at")): \(last.text("result").printable)"
                + (reason.isEmpty ? "" : " (\(reason))")
        )
        let why = last["decision"]?.decisionText ?? ""
        if !why.isEmpty { console.print("Why then: \(why).") }
    }
}
