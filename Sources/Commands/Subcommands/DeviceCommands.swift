import AppProtocol
import CommandTable
import DeviceCore
import Linux
import Vocabulary

/// Pausing, conditions set by hand, settings.
extension OffstageProgram {
    static let pause = Subcommand(
        "pause",
        "hold all background work, or single transfers",
        forms: ["[TIME]", "ID..."],
        operands: 0...1024,
        details: [
            "Nothing starts, and what is running expires, until the time is over or \"offstage "
                + "continue\" is called. Without a time, the pause lasts until \"offstage "
                + "continue\". A time is a span, such as 2h, or a date or time of day, such as "
                + "2026-12-24, 18:30 or tomorrow 07:00. A span has the same length, and a date "
                + "stays that date, if the clock is set meanwhile.",
            "With the numbers of transfers, only these stop, until \"offstage resume\".",
            "An upload by POST that is under way fails when it is stopped by either, unless its "
                + "server supports resumable uploads or --idempotent was given.",
        ],
        examples: [
            Example("pause 2h", "No background work during a talk."),
            Example("pause 18:30", "No background work until half past six."),
            Example("pause tomorrow 07:00", "No background work overnight."),
            Example("pause", "No background work until \"offstage continue\"."),
            Example("pause 12 13", "Stop two transfers for now."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        if let ids = invocation.transferIDs { return try changeTransfers(.pause, ids, invocation) }
        let end = try pauseEnd(invocation)
        let call = Control1.Pause { ($0.seconds, $0.until) = (end?.span, end?.date) }
        try invocation.ask(call, look: "offstage status")
        var done: ValueMap = ["paused": true]
        if let end {
            done["seconds"] = .double((end.time - end.now.wall).seconds)
            done["until"] = .string(Report.Time(end.time, at: end.now).rawValue)
        }
        invocation.report(done)
        guard !invocation.wantsJSON else { return }
        let until = end?.text ?? "\"offstage continue\""
        invocation.console.print("Paused until \(until).")
    }

    private static func pauseEnd(_ invocation: Invocation) throws(Failure) -> TimeToCome? {
        let operands = invocation.operands
        guard !operands.isEmpty else { return nil }
        // A date and a time of day are two words to the shell.
        let words = operands.joined(separator: " ")
        let typed = TypedTime(words)
        guard operands.count == 1 || typed != nil else {
            throw Failure(
                unexpected: operands[1],
                to: "pause",
                fix: "Give one time, or the numbers of transfers."
            )
        }
        let isNow = Failure(
            .usage,
            "\(words.quoted) is not a time greater than zero",
            fix: "To end a pause: offstage continue."
        )
        guard typed?.span != .zero else { throw isNow }
        let end = try invocation.timeToCome(words)
        guard end.time > end.now.wall else { throw isNow }
        return end
    }

    static let `continue` = Subcommand(
        "continue",
        "end a pause",
        examples: [Example("continue", "Background work resumes.")],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.ask(Control1.Continue(), look: "offstage status")
        invocation.report(["paused": false])
    }

    static let reload = Subcommand(
        "reload",
        "read settings and manifests again",
        details: [
            "The daemon notices changes of these files by itself. Use this command where it "
                + "cannot: on a file system that does not report changes, such as some network "
                + "file systems, or for a directory that may not be watched. \"offstage doctor\" "
                + "and \"offstage status\" say what is wrong with what was read."
        ],
        examples: [Example("reload", "Apply a settings file that another machine has changed.")],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.ask(Control1.Reload(), look: "offstage doctor")
        invocation.report(["reloaded": true])
    }

    static let set = Subcommand(
        "set",
        "override a condition of the device, or change a setting",
        forms: ["CONDITION VALUE|auto", "SETTING VALUE|default"],
        operands: 2...2,
        options: [
            OptionRow("app", "for this app only (background-refresh)", argument: "APP")
        ],
        details: [
            "A condition that is set overrides the sensors until it is set to auto. A setting is "
                + "stored in offstage.conf; default takes it out of there. \"offstage "
                + "conditions\" and \"offstage settings\" list the names and permitted values."
        ],
        examples: [
            Example("set power off", "Simulate a pulled plug."),
            Example("set battery 15", "Simulate a nearly empty battery."),
            Example("set battery auto", "Use the real battery again."),
            Example("set wake-price default", "Take back what was set."),
            Example("set background-refresh off --app newsboat", "Turn off refreshes of newsboat."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let (name, value) = (invocation.operands[0], invocation.operands[1])
        try checkAssignment(name, value)
        try invocation.ask(
            Control1.Set { ($0.name, $0.value, $0.app) = (name, value, invocation.options["app"]) },
            look: Condition(named: name) == nil ? "offstage settings" : "offstage conditions"
        )
        let isCondition = Condition(named: name) != nil
        var done: ValueMap = ["value": .string(value)]
        done[isCondition ? "condition" : "setting"] = .string(name)
        if let app = invocation.options["app"] { done["app"] = .string(app) }
        invocation.report(done)
    }

    /// What can be known to be wrong without asking the daemon.
    private static func checkAssignment(_ name: String, _ value: String) throws(Failure) {
        if let condition = Condition(named: name) {
            let row = condition.row
            if row.byHand(value) != nil { return }
            throw Failure(
                .usage,
                "\(name) cannot be \(value.quoted)",
                fix: "Write one of: \(row.choices), auto."
            )
        }
        if let row = SettingRow.table.first(where: { $0.name == name }) {
            var settings = Settings()
            if value == SettingRow.default || row.set(value, in: &settings) { return }
            let mistake = row.mistake(in: value)
            let why = mistake.kind == .noChoice ? "" : ": it \(mistake.reason)"
            throw Failure(
                .usage,
                "\(name) cannot be \(value.quoted)\(why)",
                fix: mistake.fix
            )
        }
        if let new = SettingRow.name(formerly: name) {
            throw Failure(.usage, "\(name) is now called \(new)", fix: "Write \(new) instead.")
        }
        let names = Condition.allCases.map(\.row.name) + SettingRow.table.map(\.name)
        throw Failure.unknown(
            "condition or setting",
            name,
            among: names,
            otherwise: "\"offstage conditions\" and \"offstage settings\" list them."
        )
    }

    static let conditions = Subcommand(
        "conditions",
        "list the conditions of the device and their sources",
        examples: [Example("conditions", "Battery, power, network and the other conditions.")],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.show(try invocation.ask(Control1.Conditions())) { conditions in
            var table = Table("CONDITION", "VALUE", "SOURCE", "SINCE", "MAY BE", "MEANING")
            for condition in conditions {
                table.add([
                    Table.Cell(condition.condition),
                    condition.report.valueCell(.bold),
                    Table.Cell(condition.source ?? "–"),
                    Table.Cell(invocation.timeText(condition.since)),
                    Table.Cell(condition.choices),
                    Table.Cell(condition.documentation),
                ])
            }
            table.print(invocation.console)
        }
    }

    static let settings = Subcommand(
        "settings",
        "list all settings with their values",
        options: [
            OptionRow("defaults", "the defaults of this version, without asking the daemon")
        ],
        details: [
            "Settings are in offstage.conf, one NAME=VALUE per line; the daemon reloads the file "
                + "when it changes. \"offstage set\" changes one.",
            "Settings below a line [app ID] apply to that app only: background-refresh.",
        ],
        examples: [
            Example("settings", "The settings in force."),
            Example("settings --defaults --json", "The table of settings, as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let report =
            invocation.options.has("defaults")
            ? Settings().report.map(Reported.init) : try invocation.ask(Control1.Settings())
        try invocation.show(report) { report in
            var table = Table("SETTING", "VALUE", "DEFAULT", "MEANING")
            for setting in report {
                let isChanged = setting.value != setting.default
                table.add([
                    Table.Cell(
                        setting.setting + (setting.app.map { " (\($0))" } ?? ""),
                        setting.unknown == true ? .yellow : nil
                    ),
                    Table.Cell(setting.value, isChanged ? .bold : nil),
                    Table.Cell(setting.default),
                    Table.Cell(
                        setting.unknown == true
                            ? "Unknown app."
                            : (setting.enforced == true ? "Set by the administrator. " : "")
                                + setting.documentation
                    ),
                ])
            }
            table.print(invocation.console)
        }
    }
}
