package import Vocabulary

/// The questions that the command line and other programs ask. They change nothing.
extension Device {
    /// The ids of all apps that are known, for a guess at what was meant.
    package var appNames: [String] { usedIndices.map { apps[$0].id.name } }

    /// Whose launch it is.
    package func app(of launch: LaunchID) -> AppID? { find(launch).map { apps[$0.app].id } }

    /// Whether a launch stands still.
    package func isFrozen(_ launch: LaunchID) -> Bool {
        find(launch).map { apps[$0.app].launches[$0.launch].isFrozen } ?? false
    }

    /// Live launches, as the store remembers them.
    package var launchIDs: [LaunchID] { owners.map(\.launch) }

    package func status(at now: Moment) -> Value {
        let reporter = Reporter(now: now)
        var failing: [Value] = []
        var running: [Value] = []
        var waiting: [Value] = []
        var requests = 0
        for index in usedIndices {
            let app = apps[index]
            requests += app.requests.count
            if app.record.failures.count > 0, app.manifest != nil {
                var failures = app.record.failures
                // Nobody tries again what was asked for once.
                if app.requests.isEmpty { failures.until = nil }
                failing.append(
                    Report.map([
                        ("app", .string(app.id.name)), ("name", .string(app.displayName)),
                        ("failures", reporter.failures(failures)),
                    ])
                )
            }
            running.append(contentsOf: app.launches.map { launch($0, of: app, reporter) })
            for request in app.requests where app.isWaiting(request) {
                waiting.append(task(request, index, reporter))
            }
        }
        return Report.map([
            ("now", reporter.time(now.wall)), ("paused", pauseReport(reporter)),
            ("failing", .list(failing)), ("running", .list(running)),
            ("waiting", .list(waiting)),
            ("conditions", .list(conditionsReport(at: now))),
            ("apps", .integer(Int64(apps.count))), ("requests", .integer(Int64(requests))),
            ("today", reporter.spent(ledger)),
        ])
    }

    private func pauseReport(_ reporter: Reporter) -> Value {
        let until: WallTime?
        switch pause {
        case .none: return .null
        case .untilContinued: until = nil
        case .until(let end): until = reporter.now.wall + (end - reporter.now.boot)
        }
        return Report.map([("since", reporter.time(pausedAt)), ("until", reporter.time(until))])
    }

    private func launch(_ launch: Launch, of app: AppState, _ reporter: Reporter) -> Value {
        var fields: [(String, Value)] = [
            ("app", .string(app.id.name)), ("name", .string(app.displayName)),
            ("launch", .integer(Int64(launch.id.number))), ("state", .string(launch.stateLabel)),
            ("pid", launch.process.map { .integer(Int64($0.pid)) } ?? .null),
            ("frozen", .bool(launch.isFrozen)),
        ]
        if let wake = launch.wake {
            fields += [
                ("trigger", .string(wake.trigger.rawValue)), ("task", .string(wake.identifier)),
                ("since", reporter.time(wake.began.wall)),
                ("seconds", Report.seconds(reporter.now.awake - wake.began.awake)),
                (
                    "secondsLeft",
                    wake.end == .distantFuture
                        ? .null
                        : Report.seconds(max(.zero, wake.end - reporter.now.awake))
                ),
            ]
        }
        if launch.presence == .background, !launch.isCommand, !launch.tasks.isEmpty {
            fields.append(("backgroundTasks", .list(launch.tasks.map { .string($0.name) })))
            if launch.wake == nil, let left = allowance(of: launch.id, at: reporter.now)?.timeLeft {
                fields.append(("secondsLeft", Report.seconds(left)))
            }
        }
        if let ending = launch.ending { fields.append(("ending", .string(ending.reason.summary))) }
        return Report.map(fields)
    }

    /// The apps, last used first.
    package func appList(at now: Moment) -> [Value] {
        let reporter = Reporter(now: now)
        let shown = usedIndices.filter {
            apps[$0].manifest != nil || apps[$0].problem != nil || !apps[$0].requests.isEmpty
        }
        let ordered = shown.sorted { left, right in
            let (first, second) = (apps[left].record, apps[right].record)
            if first.lastUsed != second.lastUsed {
                return first.lastUsed ?? .distantPast > second.lastUsed ?? .distantPast
            }
            return first.id < second.id
        }
        return ordered.map { index in
            let app = apps[index]
            return Report.map([
                ("app", .string(app.id.name)), ("name", .string(app.displayName)),
                ("state", .string(app.stateLabel)),
                ("modes", .list(app.manifest?.modes.map { .string($0.rawValue) } ?? [])),
                ("problem", app.problem.map { .string($0) } ?? .null),
                ("file", app.manifest.map { .string($0.file) } ?? .null),
                ("transient", .bool(app.isTransient)),
                ("lastUsed", reporter.time(app.record.lastUsed)),
                ("closed", reporter.time(app.record.closedAt)),
                ("lastRun", reporter.lastRun(app.record.lastRun)),
                ("failures", reporter.failures(app.record.failures)),
                ("tasks", .integer(Int64(app.requests.count))),
                ("today", reporter.spent(app.record.ledger)),
            ])
        }
    }

    /// The tasks of one app, or of all; nil: no such app.
    package func taskList(of app: AppID?, at now: Moment) -> [Value]? {
        let reporter = Reporter(now: now)
        guard let app else {
            return usedIndices.flatMap { index in
                apps[index].requests.map { task($0, index, reporter) }
            }
        }
        guard let index = apps.index(of: app) else { return nil }
        return apps[index].requests.map { task($0, index, reporter) }
    }

    private func task(_ request: Request, _ index: Int, _ reporter: Reporter) -> Value {
        let app = apps[index]
        let explanation = explain(request, app, index, reporter.now)
        return Report.map([
            ("app", .string(app.id.name)), ("name", .string(app.displayName)),
            ("task", .string(request.identifier)), ("kind", .string(request.trigger.rawValue)),
            ("origin", .string(request.origin.rawValue)),
            ("state", .string(explanation.state.rawValue)),
            ("submitted", reporter.time(request.submittedAt)),
            ("earliest", reporter.time(request.earliest)),
            ("everySeconds", request.every.map(Report.seconds) ?? .null),
            ("needs", .list(request.needs.names.map { .string($0) })),
            ("sentence", .string(explanation.sentence)),
            ("next", reporter.time(explanation.next)),
        ])
    }

    /// `explain` as programs read it.
    package func report(of explanations: [Explanation], at now: Moment) -> [Value] {
        let reporter = Reporter(now: now)
        return explanations.map { explanation in
            Report.map([
                ("app", .string(explanation.app.name)), ("name", .string(explanation.name)),
                ("task", explanation.identifier.map { .string($0) } ?? .null),
                ("state", .string(explanation.state.rawValue)),
                ("sentence", .string(explanation.sentence)),
                ("next", reporter.time(explanation.next)),
                ("holds", .list(explanation.holds.map(reporter.hold))),
                ("lastRun", reporter.lastRun(explanation.lastRun)),
                ("held", .list(explanation.held.map(reporter.held))),
                ("forecast", reporter.forecast(explanation.forecast)),
            ])
        }
    }

    package func conditionsReport(at now: Moment) -> [Value] {
        let reporter = Reporter(now: now)
        return Condition.allCases.map { condition in
            let state = conditions[condition]
            let row = condition.row
            return Report.map([
                ("condition", .string(row.name)), ("value", .string(row.word(state.value))),
                ("number", .integer(Int64(state.value))),
                ("sensing", .string(state.sensing.rawValue)),
                ("source", state.source.map { .string($0.label) } ?? .null),
                ("since", reporter.time(state.since)),
                ("choices", .string(row.choices)), ("documentation", .string(row.documentation)),
            ])
        }
    }
}

extension Settings {
    /// The table of settings with their values.
    package var report: [Value] {
        let defaults = Settings()
        return SettingRow.table.map { row in
            Report.map([
                ("setting", .string(row.name)), ("value", .string(row.text(self))),
                ("default", .string(row.text(defaults))), ("choices", .string(row.choices)),
                ("documentation", .string(row.documentation)),
                ("enforced", isEnforced(row.name, app: nil) ? true : .null),
            ])
        }
            + apps.map { app in
                Report.map([
                    ("setting", "background-refresh"), ("app", .string(app.app.name)),
                    ("value", app.backgroundRefresh ? "on" : "off"), ("default", "on"),
                    ("choices", "on or off"),
                    ("documentation", "Background work of this app only."),
                    ("enforced", isEnforced("background-refresh", app: app.app) ? true : .null),
                ])
            }
    }
}

extension Gate {
    /// The table gate × trigger, a row each; a cell holds ●, or what the row depends on.
    package static var report: [Value] {
        GateTable.rows.map { row in
            Report.map([
                ("gate", .string(row.gate.name)), ("title", .string(row.title)),
                (
                    "cells",
                    .map(
                        ValueMap(
                            zip(Trigger.allCases, row.cells).compactMap { trigger, cell in
                                cell == .no ? nil : (trigger.letter, .string(cell.label))
                            }
                        )
                    )
                ),
                ("kind", .string(row.kind.label)),
            ])
        }
    }
}

extension GateRow.Kind {
    fileprivate var label: String {
        switch self {
        case .needed: "always"
        case .rule: "rule"
        case .saving, .pause: "saving"
        }
    }
}

extension Launch {
    /// What it is doing, in a few words.
    package var stateLabel: String {
        if ending != nil { return "ending" }
        switch (role, presence) {
        case (_, .suspended): return isCommand ? "interrupted" : "suspended"
        case (.command, _):
            switch phase {
            case .probing: return "about to run"
            case .starting: return "starting"
            case .running: return "running"
            case .judging: return "reading its result"
            }
        case (.main, .foreground): return "foreground"
        case (.main, .background): return "background"
        }
    }
}

extension AppState {
    /// The app's own program first, then what runs for it.
    package var stateLabel: String {
        if problem != nil { return "invalid manifest" }
        if manifest == nil { return "not installed" }
        if let main = launches.first(where: { $0.role == .main }) { return main.stateLabel }
        if let command = launches.first { return command.stateLabel }
        return record.closedAt == nil ? "not running" : "closed"
    }
}

extension BackgroundMode {
    /// The table of modes.
    package static var report: [Value] {
        allCases.map { mode in
            let row = mode.description
            return Report.map([
                ("mode", .string(mode.rawValue)), ("trigger", .string(row.trigger)),
                ("grant", .string(row.grant)), ("rate", .string(row.rate)),
                ("appGets", .string(row.appGets)), ("works", .bool(mode.isServed)),
            ])
        }
    }
}
