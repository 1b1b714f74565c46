import AppProtocol
import CommandTable
import Pages
import Vocabulary

extension OffstageProgram {
    static let explain = Subcommand(
        "explain",
        "explain why an app's work, or a transfer, runs or does not run",
        forms: ["APP [TASK]", "ID..."],
        operands: 1...1024,
        details: [
            "Prints a sentence for each task, or for each transfer of these numbers, then the "
                + "gates that hold it: the value that each gate sees, the value that it needs, "
                + "since when it holds, and when it opens if that is known."
        ],
        examples: [
            Example("explain newsboat", "Why newsboat is not being refreshed."),
            Example("explain --json restic backup", "The same for one task, as JSON."),
            Example("explain 12", "Why a transfer waits."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let call: Control1.Explain
        if let ids = invocation.transferIDs {
            call = Control1.Explain { $0.transfers = ids }
        } else {
            call = try invocation.ofOneTask("explain")
        }
        let tasks = try invocation.ask(call)
        var transfers: [Report.Transfer] = []
        if let ids = call.transfers, !invocation.wantsJSON {
            transfers = try invocation.transfers(ids)
        }
        try invocation.show(tasks) { tasks in
            for (index, task) in tasks.enumerated() {
                if index > 0 { invocation.console.print("") }
                print(task.report, invocation)
                // In the order in which they were named.
                guard let ids = call.transfers, ids.count == tasks.count else { continue }
                let transfer = transfers.first { Int64(clamping: $0.id.number) == ids[index] }
                if let transfer { print(routeOf: transfer, invocation) }
            }
        }
    }

    /// From where to where it goes.
    private static func print(routeOf transfer: Report.Transfer, _ invocation: Invocation) {
        let isUpload = transfer.direction == .upload
        let (from, to) =
            isUpload ? (transfer.path, transfer.url) : (transfer.url, transfer.path)
        invocation.console.print("")
        invocation.console.print("  From: \(from.printable)")
        invocation.console.print("  To:   \(to.printable)")
    }

    private static func print(forecast: Report.Forecast, _ invocation: Invocation) {
        let whose = forecast.scope == .device ? "for all apps" : "for this app"
        var table = Table("REFRESHES GO BY", "VALUE")
        table.add("opened within half an hour", DecisionText.percent(forecast.chance))
        table.add("worth a refresh from", DecisionText.percent(forecast.price))
        table.add(
            "left today \(whose)",
            "\(forecast.left) of \(forecast.budget)"
        )
        table.add("most likely opened", invocation.timeText(forecast.likelyAt))
        table.add("how likely then", DecisionText.percent(forecast.likelyChance))
        table.add(
            "refreshed, if nothing happens",
            forecast.expectedAt == nil
                ? "not foreseen" : invocation.timeText(forecast.expectedAt)
        )
        invocation.console.print("")
        table.print(invocation.console, indent: 2)
    }

    private static func print(_ task: Report.Explanation, _ invocation: Invocation) {
        let console = invocation.console
        let sentence = task.sentence.printable
        for line in sentence.wrapped(to: console.width.map { min($0, 100) } ?? .max) {
            console.print(console.styled(line, .bold))
        }
        if !task.holds.isEmpty {
            console.print("")
            var table = Table("GATE", "VALUE", "NEEDED", "SINCE", "NEXT")
            for hold in task.holds {
                table.add([
                    Table.Cell(hold.gate),
                    Table.Cell(hold.value, .yellow),
                    Table.Cell(hold.needed),
                    Table.Cell(invocation.timeText(hold.since)),
                    Table.Cell(
                        hold.next == nil
                            ? "when it changes" : invocation.timeText(hold.next)
                    ),
                ])
            }
            table.print(console, indent: 2)
            for fix in task.holds.compactMap(\.fix) {
                console.print("  What to do: \(fix.printable)")
            }
        }
        if let forecast = task.forecast { print(forecast: forecast, invocation) }
        guard let last = task.lastRun, last.at != nil else { return }
        console.print("")
        console.print(
            "Last run \(invocation.timeText(last.at)): \(last.result.printable)"
                + (last.reason.map { " (\($0.printable))" } ?? "")
        )
        if last.failed == true, invocation.mayHaveWritten(task.app.name) {
            console.print("What it wrote: offstage logs \(task.app.name.printable)")
        }
        if let decision = last.decision { console.print("Why then: \(decision.text).") }
    }
}
