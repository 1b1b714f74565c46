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
                + "failed. Empty sections are left out. On a terminal the output fits one screen: "
                + "long sections are truncated; of waiting work, what is due next is shown; long "
                + "rows are cut. Elsewhere ten rows of each section are shown. --json prints all."
        ],
        examples: [
            Example("status", "An overview."),
            Example("status --json", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let rows = invocation.wantsJSON ? nil : Int64(Screen.rows(invocation.console))
        let report = try invocation.ask(Control1.Overview { $0.rows = rows })
        invocation.keepDaemonNow(report.report.now)
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

    func print() {
        var screen = Screen(console: console)
        screen.heading = clock.map { [$0] } ?? []
        screen.sections = [
            invalid, failing, pause, running, waiting, conditions,
        ].compactMap(\.self)
        let (apps, wakes) = (report.apps, report.today.wakes)
        screen.summary = [
            "\(apps) \(apps == 1 ? "app" : "apps"); today \(wakes) background "
                + (wakes == 1 ? "run" : "runs") + ", \(Times.span(report.today.seconds)) in all"
        ]
        if let transfers { screen.summary.insert(transfers, at: 0) }
        screen.print()
    }

    private var transfers: String? {
        guard let counts = report.transfers else { return nil }
        let parts = [
            (counts.running, "running"), (counts.waiting, "waiting"), (counts.paused, "paused"),
            (counts.failed ?? 0, "failed"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "Transfers: " + words.joined(separator: ", ") + " (offstage transfers)"
    }

    /// One that is ahead is virtual: all times are by it.
    private var clock: String? {
        guard let now = report.now.wall, now - console.now.wall > .minutes(1) else { return nil }
        let ahead = (now - console.now.wall).seconds
        return "For the daemon it is \(Times.stamp(now, at: console.now)): its clock is "
            + "\(Times.rest(ahead)) ahead"
    }

    private var invalid: Screen.Section? {
        guard let invalid = report.invalid, !invalid.isEmpty else { return nil }
        var table = Table("APP", "PROBLEM")
        for manifest in invalid {
            table.add([Table.Cell(manifest.what), Table.Cell(manifest.problem, .red)])
        }
        let title = "Manifests and settings that cannot be used"
        var section = Screen.Section(title: title, style: .red)
        (section.table, section.lister) = (table, "apps")
        if let file = invalid.first(where: { $0.app != nil && $0.file != nil })?.file {
            let hint = "All that is wrong: offstage lint \(file.printable)"
            section.hints.append(whole(hint) ?? "What is wrong: offstage doctor")
        }
        if invalid.contains(where: { $0.app == nil }) {
            section.hints.append(
                "Settings take effect when all of them are valid: offstage doctor"
            )
        }
        return section
    }

    private var failing: Screen.Section? {
        guard !report.failing.isEmpty else { return nil }
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
        var section = Screen.Section(title: "Failing", style: .red)
        (section.table, section.more, section.lister) = (table, report.moreFailing ?? 0, "apps")
        let first = report.failing[0].app.name.printable
        let hint = "What it wrote: offstage logs \(first)"
        section.hints = [whole(hint) ?? "What it wrote: offstage logs APP"]
        if report.failing.contains(where: { $0.again == nil }) {
            section.hints.append("To take one off this list: offstage dismiss APP")
        }
        return section
    }

    /// Nil if it would be cut: half a command cannot be copied.
    private func whole(_ hint: String) -> String? {
        console.width.map { hint.columns + Screen.indent <= $0 } ?? true ? hint : nil
    }

    /// The time that stands beside the task below: the back-off is only one of the gates that may
    /// hold it.
    private func nextTry(of app: Report.FailingApp) -> String {
        if app.again?.known == .running { return "now" }
        if let next = app.next { return invocation.timeText(next) }
        return app.again == nil ? "–" : "when nothing holds it"
    }

    private var pause: Screen.Section? {
        guard let pause = report.paused else { return nil }
        let now = report.now.wall ?? console.now.wall
        let rest = pause.until?.wall.map { ($0 - now).seconds }
        var section = Screen.Section(title: "Paused", style: .yellow)
        section.sentences = [
            "All background work is held "
                + (rest.map { "for \(Times.rest($0)) more" } ?? "until \"offstage continue\"")
                + "; paused \(invocation.timeText(pause.since))."
        ]
        return section
    }

    private var running: Screen.Section? {
        guard !report.running.isEmpty else { return nil }
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
        var section = Screen.Section(title: "Running", style: .green)
        (section.table, section.more, section.lister) = (table, report.moreRunning ?? 0, "apps")
        return section
    }

    private var waiting: Screen.Section? {
        guard !report.waiting.isEmpty else { return nil }
        var table = Table("APP", "TASK", "NEXT", "WHY")
        for task in report.waiting {
            table.add(
                task.app.name,
                task.task,
                invocation.timeText(task.next),
                task.sentence
            )
        }
        var section = Screen.Section(title: "Waiting", style: .bold)
        (section.table, section.more, section.lister) = (table, report.moreWaiting ?? 0, "tasks")
        return section
    }

    private var conditions: Screen.Section? {
        guard !report.conditions.isEmpty else { return nil }
        var table = Table("CONDITION", "VALUE", "SINCE", "SOURCE")
        let known = report.conditions.filter { !$0.isUnknown }
        for condition in known {
            table.add([
                Table.Cell(condition.condition),
                condition.valueCell(nil),
                Table.Cell(invocation.timeText(condition.since)),
                Table.Cell(condition.source ?? "–"),
            ])
        }
        var section = Screen.Section(title: "Device", style: .bold)
        (section.table, section.lister) = (table, "conditions")
        // What only the user sets is no news until it is set.
        let told = report.conditions.filter { !$0.isUnset }
        section.hints = unknown(told.filter(\.isUnknown).map(\.condition))
        let values = told.map { "\($0.condition) \($0.valueCell(nil).text)" }
        section.brief = "Device: " + values.joined(separator: ", ")
        return section
    }

    /// What nothing can ask for is told apart: nothing waits for it.
    private func unknown(_ names: [String]) -> [String] {
        let isAsked = { name in Condition(named: name)?.canBeAskedFor ?? false }
        let asked = names.filter(isAsked).joined(separator: ", ")
        let others = names.filter { !isAsked($0) }.joined(separator: ", ")
        var lines: [String] = []
        if !asked.isEmpty {
            lines.append("Unknown: \(asked). Work that asks for one of them waits.")
        }
        if !others.isEmpty {
            lines.append("\(asked.isEmpty ? "Unknown" : "Also unknown"): \(others).")
        }
        return lines
    }
}

extension Report.InvalidFile {
    fileprivate var what: String { app?.name ?? "settings" }
}

extension Report.Condition {
    var isUnknown: Bool { sensing == .unknown }
    /// Nobody reports it, and the user has not set it.
    var isUnset: Bool {
        isUnknown && Condition(named: condition)?.isOnlySetByHand ?? false
    }

    func valueCell(_ usual: Console.Style?) -> Table.Cell {
        let value = value ?? ""
        return switch sensing.known {
        case .noDevice:
            Table.Cell(Condition(named: condition).map { "\(value) (\($0.row.absence))" } ?? value)
        case .unknown:
            isUnset ? Table.Cell("off") : Table.Cell("unknown", .yellow)
        case .lost: Table.Cell("lost, taken as " + value, .yellow)
        case .known, nil: Table.Cell(value, usual)
        }
    }
}
