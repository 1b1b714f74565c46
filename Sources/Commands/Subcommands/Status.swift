import AppProtocol
import CommandTable
import DeviceCore
import Vocabulary

extension OffstageProgram {
    static let status = Subcommand(
        "status",
        "show what fails, runs and waits, and the state of the device",
        details: [
            "Manifests and settings that cannot be used come first, then apps whose last runs "
                + "failed. Empty sections are left out. Of long sections the beginning is shown; "
                + "--json prints all."
        ],
        examples: [
            Example("status", "An overview."),
            Example("status --json", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let rows = invocation.wantsJSON ? nil : StatusText.rows(invocation.console)
        let report = try invocation.ask(Control1.Overview { $0.rows = rows })
        try invocation.show(report) {
            StatusText(invocation: invocation, report: $0.report).print()
        }
    }
}

/// `offstage status` in words.
private struct StatusText {
    let invocation: Invocation
    let report: Report.Status
    var console: Console { invocation.console }
    /// Of each section, so that all of it is seen at once: the device takes sixteen lines.
    static func rows(_ console: Console) -> Int64 {
        console.height.map { Int64(max(3, ($0 - 16) / 3)) } ?? 10
    }

    func print() {
        printClock()
        printInvalid()
        printFailing()
        printPause()
        printRunning()
        printWaiting()
        printConditions()
        let (apps, wakes) = (report.apps, report.today.wakes)
        console.print(
            "\(apps) \(apps == 1 ? "app" : "apps"); today \(wakes) background "
                + (wakes == 1 ? "run" : "runs") + ", \(Times.span(report.today.seconds)) in all"
        )
    }

    /// What was left out of a section, and which command lists it.
    private func printMore(_ count: Int64?, _ command: String) {
        if let count { console.print("  … and \(count) more: \"offstage \(command)\"") }
        console.print("")
    }

    private func section(_ title: String, _ style: Console.Style) {
        console.print(console.styled(title, style))
    }

    /// One that is ahead is virtual: all times are by it.
    private func printClock() {
        guard let now = report.now.wall, now - console.now.wall > .minutes(1) else { return }
        let ahead = (now - console.now.wall).seconds
        console.print(
            "For the daemon it is \(Times.stamp(now, at: console.now)): its clock is "
                + "\(Times.rest(ahead)) ahead"
        )
    }

    private func printInvalid() {
        guard let invalid = report.invalid, !invalid.isEmpty else { return }
        section("Manifests and settings that cannot be used", .red)
        var table = Table("APP", "PROBLEM")
        for manifest in invalid {
            table.add([Table.Cell(manifest.what), Table.Cell(manifest.problem, .red)])
        }
        table.print(console, indent: 2)
        if let file = invalid.first(where: { $0.app != nil && $0.file != nil })?.file {
            console.print("  All that is wrong: offstage lint \(file.printable)")
        }
        if invalid.contains(where: { $0.app == nil }) {
            console.print("  Settings take effect when all of them are valid: offstage doctor")
        }
        console.print("")
    }

    private func printFailing() {
        guard !report.failing.isEmpty else { return }
        section("Failing", .red)
        var table = Table("APP", "IN A ROW", "SINCE", "NEXT TRY", "REASON")
        for app in report.failing {
            table.add([
                Table.Cell(app.app.name),
                Table.Cell("\(app.failures.count)", .red),
                Table.Cell(invocation.timeText(app.failures.since)),
                Table.Cell(nextTry(of: app)),
                Table.Cell(app.failures.reason),
            ])
        }
        table.print(console, indent: 2)
        printMore(report.moreFailing, "apps")
        let first = report.failing[0].app.name.printable
        console.print("  What it wrote: offstage logs \(first)")
        if report.failing.contains(where: { !isTriedAgain($0) }) {
            console.print("  To take one off this list: offstage dismiss APP")
        }
        console.print("")
    }

    private func isTriedAgain(_ app: Report.FailingApp) -> Bool {
        app.next != nil || report.running.contains { $0.app == app.app }
            || report.waiting.contains { $0.app == app.app }
    }

    /// The time that stands beside the task below: the back-off is only one of the gates that may
    /// hold it.
    private func nextTry(of app: Report.FailingApp) -> String {
        if report.running.contains(where: { $0.app == app.app && $0.task != nil }) { return "now" }
        if let next = app.next { return invocation.timeText(next) }
        return report.waiting.contains { $0.app == app.app } ? "when nothing holds it" : "–"
    }

    private func printPause() {
        guard let pause = report.paused else { return }
        let rest = pause.until?.wall.map { ($0 - console.now.wall).seconds }
        section("Paused", .yellow)
        console.print(
            "  All background work is held "
                + (rest.map { "for \(Times.rest($0)) more" } ?? "until \"offstage continue\"")
                + "; paused \(invocation.timeText(pause.since))."
        )
        console.print("")
    }

    private func printRunning() {
        guard !report.running.isEmpty else { return }
        section("Running", .green)
        var table = Table("APP", "STATE", "TASK", "SINCE", "TIME LEFT", "PID")
        for launch in report.running {
            // What was launched for nothing may hold time of its own.
            let held = launch.backgroundTasks?.joined(separator: ", ")
            let task = [launch.task, held].compactMap(\.self).first { !$0.isEmpty }
            table.add(
                launch.app.name,
                launch.ending.map { "ending: \($0)" } ?? launch.state,
                task ?? "–",
                invocation.timeText(launch.since),
                launch.secondsLeft.map(Times.span) ?? "–",
                launch.pid.map { "\($0)" } ?? "–"
            )
        }
        table.print(console, indent: 2)
        printMore(report.moreRunning, "apps")
    }

    private func printWaiting() {
        guard !report.waiting.isEmpty else { return }
        section("Waiting", .bold)
        var table = Table("APP", "TASK", "NEXT", "WHY")
        for task in report.waiting {
            table.add(
                task.app.name,
                task.task,
                invocation.timeText(task.next),
                task.sentence
            )
        }
        table.print(console, indent: 2)
        printMore(report.moreWaiting, "tasks")
    }

    private func printConditions() {
        guard !report.conditions.isEmpty else { return }
        section("Device", .bold)
        var table = Table("CONDITION", "VALUE", "SINCE", "SOURCE")
        for condition in report.conditions where !condition.isUnknown {
            table.add([
                Table.Cell(condition.condition),
                condition.valueCell(nil),
                Table.Cell(invocation.timeText(condition.since)),
                Table.Cell(condition.source ?? "–"),
            ])
        }
        table.print(console, indent: 2)
        printUnknown(
            report.conditions.filter(\.isUnknown).map(\.condition)
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

extension Report.InvalidManifest {
    fileprivate var what: String { app?.name ?? "settings" }
}

extension Report.Condition {
    var isUnknown: Bool { sensing == Sensing.unknown.rawValue }

    func valueCell(_ usual: Console.Style?) -> Table.Cell {
        let value = value ?? ""
        return switch Sensing(rawValue: sensing) {
        case .noDevice:
            Table.Cell(Condition(named: condition).map { "\(value) (\($0.row.absence))" } ?? value)
        case .unknown: Table.Cell("unknown", .yellow)
        case .lost: Table.Cell("lost, taken as " + value, .yellow)
        case .known, nil: Table.Cell(value, usual)
        }
    }
}
