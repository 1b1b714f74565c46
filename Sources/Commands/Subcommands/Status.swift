import AppProtocol
import CommandTable
import DeviceCore
import Vocabulary

extension OffstageProgram {
    static let status = Subcommand(
        "status",
        "show what fails, runs and waits, and the state of the device",
        details: [
            "Apps whose last runs failed come first. Empty sections are left out."
        ],
        examples: [
            Example("status", "An overview."),
            Example("status --json", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let report = try invocation.ask(Control1.Status())
        invocation.show(report) { StatusText(invocation: invocation, report: $0).print() }
    }
}

/// `offstage status` in words.
private struct StatusText {
    let invocation: Invocation
    let report: Value
    var console: Console { invocation.console }

    func print() {
        printFailing()
        printPause()
        printRunning()
        printWaiting()
        printConditions()
        let today = report["today"] ?? .null
        let wakes = today.number("wakes") ?? 0
        let apps = report.number("apps") ?? 0
        console.print(
            "\(apps) \(apps == 1 ? "app" : "apps"); today \(wakes) background "
                + (wakes == 1 ? "run" : "runs")
                + (today.seconds("seconds").map { ", \(Times.span($0)) in all" } ?? "")
        )
    }

    private func section(_ title: String, _ style: Console.Style) {
        console.print(console.styled(title, style))
    }

    private func printFailing() {
        let failing = report.items("failing")
        guard !failing.isEmpty else { return }
        section("Failing", .red)
        var table = Table("APP", "IN A ROW", "SINCE", "NEXT TRY", "REASON")
        for app in failing {
            let failures = app["failures"] ?? .null
            table.add([
                Table.Cell(app.text("app")),
                Table.Cell("\(failures.number("count") ?? 0)", .red),
                Table.Cell(invocation.timeText(failures, "since")),
                Table.Cell(invocation.timeText(failures, "until")),
                Table.Cell(failures.text("reason")),
            ])
        }
        table.print(console, indent: 2)
        console.print("")
    }

    private func printPause() {
        guard let pause = report["paused"], pause.mapValue != nil else { return }
        let rest = pause.time("until").map { ($0 - console.now.wall).seconds }
        section("Paused", .yellow)
        console.print(
            "  All background work is held "
                + (rest.map { "for \(Times.rest($0)) more" } ?? "until \"offstage continue\"")
                + "; paused \(invocation.timeText(pause, "since"))."
        )
        console.print("")
    }

    private func printRunning() {
        let running = report.items("running")
        guard !running.isEmpty else { return }
        section("Running", .green)
        var table = Table("APP", "STATE", "TASK", "SINCE", "TIME LEFT", "PID")
        for launch in running {
            let ending = launch.text("ending")
            // What was launched for nothing may hold time of its own.
            let held = launch.texts("backgroundTasks").joined(separator: ", ")
            let task = launch.text("task").isEmpty ? held : launch.text("task")
            table.add(
                launch.text("app"),
                ending.isEmpty ? launch.text("state") : "ending: \(ending)",
                task.isEmpty ? "–" : task,
                invocation.timeText(launch, "since"),
                launch.seconds("secondsLeft").map(Times.span) ?? "–",
                launch.number("pid").map { "\($0)" } ?? "–"
            )
        }
        table.print(console, indent: 2)
        console.print("")
    }

    private func printWaiting() {
        let waiting = report.items("waiting")
        guard !waiting.isEmpty else { return }
        section("Waiting", .bold)
        var table = Table("APP", "TASK", "NEXT", "WHY")
        for task in waiting {
            table.add(
                task.text("app"),
                task.text("task"),
                invocation.timeText(task, "next"),
                task.text("sentence")
            )
        }
        table.print(console, indent: 2)
        console.print("")
    }

    private func printConditions() {
        let conditions = report.items("conditions")
        guard !conditions.isEmpty else { return }
        section("Device", .bold)
        var table = Table("CONDITION", "VALUE", "SINCE", "SOURCE")
        for condition in conditions where condition.sensing != .unknown {
            table.add([
                Table.Cell(condition.text("condition")),
                condition.conditionValue(nil),
                Table.Cell(invocation.timeText(condition, "since")),
                Table.Cell(condition.conditionSource),
            ])
        }
        table.print(console, indent: 2)
        printUnknown(
            conditions.filter { $0.sensing == .unknown }.map { $0.text("condition") }
        )
        console.print("")
    }

    /// What nothing can ask for is told apart: nothing waits for it.
    private func printUnknown(_ names: [String]) {
        let isAsked = { name in Condition(named: name)?.canBeAskedFor ?? false }
        let asked = names.filter(isAsked).joined(separator: ", ")
        let others = names.filter { !isAsked($0) }.joined(separator: ", ")
        if !asked.isEmpty {
            console.print("  Unknown: \(asked). Work that asks for one of them waits.")
        }
        if !others.isEmpty {
            console.print("  \(asked.isEmpty ? "Unknown" : "Also unknown"): \(others).")
        }
    }
}

extension Value {
    /// Of a row of conditions.
    var sensing: Sensing? { Sensing(rawValue: text("sensing")) }

    func conditionValue(_ usual: Console.Style?) -> Table.Cell {
        switch sensing {
        case .noDevice:
            Table.Cell(
                Condition(named: text("condition")).map { "\(text("value")) (\($0.row.absence))" }
                    ?? text("value")
            )
        case .unknown: Table.Cell("unknown", .yellow)
        case .lost: Table.Cell("lost, taken as " + text("value"), .yellow)
        case .known, nil: Table.Cell(text("value"), usual)
        }
    }

    var conditionSource: String { text("source").isEmpty ? "–" : text("source") }
}
