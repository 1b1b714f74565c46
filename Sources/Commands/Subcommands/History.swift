import AppProtocol
import CommandTable
import Linux
import Pages
import Vocabulary

extension OffstageProgram {
    static let history = Subcommand(
        "history",
        "list what ran, why, how it ended and what it cost",
        forms: ["[APP]"],
        operands: 0...1,
        options: [
            OptionRow(
                "lines",
                "how many of the newest lines to print (default: 50); -20 is the same as -n 20",
                short: "n",
                argument: "NUMBER"
            ),
            OptionRow(
                "since",
                "only lines not older than this: a time before now, such as 1d, or a date or time "
                    + "of day, such as 2026-12-24 or 18:30",
                argument: "TIME"
            ),
        ],
        details: [
            "MEMORY is the peak memory of the run as the kernel counts it, excluding page cache. "
                + "After \u{2265} it is the highest value that was sampled; the real peak may be "
                + "higher. This is shown where the kernel does not count the peak, where its count "
                + "includes earlier runs of the same process, or where most of it may be page "
                + "cache."
        ],
        examples: [
            Example("history", "The newest lines, in order of time."),
            Example("history newsboat --since 1d", "What newsboat did in the last 24 hours."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let since = try invocation.time("since", .past, by: invocation.daemonNow)
        let limit = try invocation.integer("lines", in: 1...10_000_000)
        let lines = try invocation.history(
            of: invocation.operands.first,
            limit: limit ?? (since == nil ? 50 : nil),
            since: since
        )
        try invocation.show(lines) { lines in
            if lines.isEmpty { return invocation.console.print("Nothing has run yet.") }
            var columns = [
                Table.Column("TIME"), Table.Column("APP"), Table.Column("WHAT", hasNames: true),
                Table.Column("TOOK", isNumber: true), Table.Column("CPU", isNumber: true),
                Table.Column("MEMORY", isNumber: true), Table.Column("RESULT", hasNames: true),
            ]
            if lines.contains(where: { $0.decision != nil }) {
                columns.append(Table.Column("WHY THEN"))
            }
            var table = Table(columns)
            // The daemon tells the newest first; people read downwards.
            for line in lines.reversed() {
                table.add(
                    Array(historyCells(line.report, invocation.console).prefix(columns.count))
                )
            }
            table.print(invocation.console)
        }
    }

    static func historyCells(_ line: Report.HistoryLine, _ console: Console) -> [Table.Cell] {
        let time = line.at.wall.map { Times.stamp($0, at: console.now) } ?? ""
        var what = line.what.text
        if line.what.known == .run {
            let trigger = line.trigger ?? ""
            what = (line.resumed == true ? "resumed for " : "") + trigger
            if let task = line.task, task != trigger { what += " \(task)" }
            if line.simulated == true { what += " (simulated)" }
        }
        if let transfer = line.transfer {
            what += " \(transfer)"
            if let url = line.url { what += " " + fileName(ofURL: url) }
        }
        return [
            Table.Cell(time), Table.Cell(line.app.name), Table.Cell(what),
            Table.Cell(line.seconds.map(Times.span) ?? ""),
            Table.Cell(line.cpuSeconds.map(Times.span) ?? ""),
            Table.Cell(memoryText(line)),
            Table.Cell(line.ending),
            Table.Cell(line.decision?.text ?? ""),
        ]
    }

    /// What was only seen at times may have been more.
    private static func memoryText(_ line: Report.HistoryLine) -> String {
        guard let memory = line.memory else { return "" }
        return (line.memorySampled == true ? "≥ " : "") + ByteSize.text(memory)
    }

    static let logs = Subcommand(
        "logs",
        "print what an app wrote to its standard output and error",
        forms: ["APP"],
        operands: 1...1,
        options: [
            OptionRow(
                "lines",
                "how many of the last lines to print (default: 100); -20 is the same as -n 20",
                short: "n",
                argument: "NUMBER"
            ),
            OptionRow("follow", "print new output as it is written, until interrupted", short: "f"),
        ],
        details: [
            "The log of a command that was submitted for a single run is kept for seven days "
                + "after the run; of such logs the newest 200 are kept."
        ],
        examples: [
            Example("logs newsboat", "The end of its output."),
            Example("logs -f -n 20 restic", "The last lines, then new output."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let lines = try invocation.integer("lines", in: 1...100_000) ?? 100
        let end = try invocation.ask(
            Control1.Logs { ($0.app, $0.lines) = (invocation.operands[0], lines) }
        )
        guard invocation.options.has("follow") else {
            return try invocation.show(end) { end in
                if end.written.isEmpty {
                    return invocation.console.print(
                        "\(invocation.operands[0].printable) has written nothing yet."
                    )
                }
                invocation.console.write(end.written[...])
            }
        }
        do throws(LinuxError) {
            try LogFollower(path: end.file, console: invocation.console)
                .run(lines: Int(lines))
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }
}
