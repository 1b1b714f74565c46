package import Vocabulary

/// The questions that the command line and other programs ask. They change nothing.
extension Device {
    /// The ids of all apps that a user may name, to suggest one for a mistyped name.
    package var appNames: [String] { usedIndices.filter(isListed).map { apps[$0].id.name } }

    /// Apps that there are: what is kept of one whose manifest is gone, or of a command that was
    /// cancelled before it ran, is no app. What never runs may have transfers.
    var listed: [Int] {
        usedIndices.filter {
            isListed($0) && (!apps[$0].isLeftOver || transfers.contains(app: $0))
        }
    }

    /// Whether an app of that id is one that there is.
    package func isListed(_ app: AppID) -> Bool { apps.index(of: app).map(isListed) ?? false }

    func isListed(_ index: Int) -> Bool {
        apps[index].manifest != nil || apps[index].problem != nil || !apps[index].requests.isEmpty
    }

    /// Whose launch it is.
    package func app(of launch: LaunchID) -> AppID? { find(launch).map { apps[$0.app].id } }

    /// Whether a launch stands still.
    package func isFrozen(_ launch: LaunchID) -> Bool {
        find(launch).map { apps[$0.app].launches[$0.launch].isFrozen } ?? false
    }

    /// Live launches, as the store remembers them.
    package var launchIDs: [LaunchID] { liveLaunches.map(\.launch) }

    /// In the order of their ids, without those of programs that are not installed.
    package var invalidManifests: [Report.InvalidFile] {
        usedIndices.filter { apps[$0].problem != nil && !apps[$0].lacksProgram }
            .sorted { apps[$0].id < apps[$1].id }
            .map { index in
                Report.InvalidFile {
                    ($0.app, $0.file) = (apps[index].id, apps[index].problemFile)
                    $0.problem = apps[index].problem ?? ""
                }
            }
    }

    /// Apps that had a manifest when a daemon looked last, or of which something runs.
    package var expectedApps: [AppID] {
        usedIndices.filter {
            let app = apps[$0]
            return !app.isTransient && app.record.firstSeen != nil
                && (app.record.goneSince == nil || !app.launches.isEmpty)
        }
        .map { apps[$0].id }
    }

    /// How many apps have a manifest in force.
    package var usableManifests: Int {
        usedIndices.count { apps[$0].manifest != nil && !apps[$0].isTransient }
    }

    func pauseReport(_ reporter: Reporter) -> Report.Pause? {
        let until: WallTime?
        switch pause {
        case .none: return nil
        case .untilContinued: until = nil
        case .until(let end): until = reporter.now.wall + (end - reporter.now.boot)
        case .untilDate(let end): until = end
        }
        return Report.Pause {
            ($0.since, $0.until) = (reporter.time(pausedAt), reporter.time(until))
        }
    }

    func launch(_ launch: Launch, of app: AppState, _ reporter: Reporter) -> Report.Launch {
        Report.Launch {
            ($0.app, $0.name, $0.launch) = (app.id, app.displayName, launch.id)
            ($0.state, $0.frozen) = (launch.stateLabel, launch.isFrozen)
            $0.pid = launch.process.map { Int64($0.pid) }
            if let wake = launch.wake {
                // Of several tasks the one that may run longest.
                let delivery = launch.deliveries.max { $0.end < $1.end }
                $0.trigger = (delivery?.trigger ?? wake.trigger).rawValue
                $0.task = delivery?.identifier ?? wake.identifier
                let (began, end) = (delivery?.began ?? wake.began, delivery?.end ?? wake.end)
                $0.since = reporter.time(began.wall)
                $0.seconds = (reporter.now.awake - began.awake).reported
                if end != .distantFuture {
                    $0.secondsLeft = max(.zero, end - reporter.now.awake).reported
                }
            }
            if launch.presence == .background, !launch.tasks.isEmpty {
                $0.backgroundTasks = launch.tasks.map(\.name)
                if launch.wake == nil {
                    $0.secondsLeft = allowance(of: launch.id, at: reporter.now)?.timeLeft?.reported
                }
            }
            $0.ending = launch.ending?.reason.summary
        }
    }

    /// The apps, last used first.
    package func appList(at now: Moment) -> [Report.App] {
        let reporter = Reporter(now: now)
        let ordered = listed.sorted { left, right in
            let (first, second) = (apps[left].record, apps[right].record)
            if first.lastUsed != second.lastUsed {
                return first.lastUsed ?? .distantPast > second.lastUsed ?? .distantPast
            }
            return first.id < second.id
        }
        return ordered.map { reporter.app(apps[$0]) }
    }

    /// The tasks of one app, or of all; nil: no such app.
    package func taskList(of app: AppID?, at now: Moment) -> [Report.Request]? {
        let reporter = Reporter(now: now)
        guard let app else {
            return usedIndices.flatMap { index in
                apps[index].requests.map { task($0, index, reporter) }
            }
        }
        guard let index = apps.index(of: app) else { return nil }
        return apps[index].requests.map { task($0, index, reporter) }
    }

    func task(_ request: Request, _ index: Int, _ reporter: Reporter) -> Report.Request {
        let app = apps[index]
        let explanation = explain(request, app, index, reporter.now)
        return Report.Request {
            ($0.app, $0.name, $0.task) = (app.id, app.displayName, request.identifier)
            $0.request = Int64(clamping: request.id.number)
            ($0.kind, $0.origin) = (request.trigger.rawValue, request.origin.rawValue)
            if app.isWaiting(request), request.isUserInitiated { $0.userInitiated = true }
            ($0.state, $0.sentence) = (Word(explanation.state), explanation.sentence)
            $0.submitted = reporter.time(request.submittedAt)
            $0.earliest = reporter.time(request.earliest)
            $0.everySeconds = request.every?.reported
            $0.needs = request.needs.names
            $0.next = reporter.time(explanation.next)
        }
    }

    package func conditionsReport(at now: Moment) -> [Report.Condition] {
        let reporter = Reporter(now: now)
        return Condition.allCases.map { condition in
            let state = conditions[condition]
            let row = condition.row
            return Report.Condition {
                $0.condition = row.name
                // What is assumed meanwhile was not measured.
                if state.sensing != .unknown {
                    ($0.value, $0.number) = (row.word(state.value), Int64(state.value))
                }
                ($0.sensing, $0.source) = (Word(state.sensing), state.source?.label)
                $0.since = reporter.time(state.since)
                ($0.choices, $0.documentation) = (row.choices, row.documentation)
            }
        }
    }

    /// The settings in force; a section of an unknown app says so.
    package var settingsReport: [Report.Setting] {
        let strangers = strangersInSettings
        return settings.report.map { row in
            var row = row
            if let app = row.app, strangers.contains(app) { row.unknown = true }
            return row
        }
    }
}

extension Settings {
    /// The table of settings with their values.
    package var report: [Report.Setting] {
        let defaults = Settings()
        return SettingRow.table.map { row in
            Report.Setting {
                ($0.setting, $0.value) = (row.name, row.text(self))
                ($0.default, $0.choices) = (row.text(defaults), row.choices)
                $0.documentation = row.documentation
                $0.enforced = isEnforced(row.name, app: nil) ? true : nil
            }
        }
            + apps.map { app in
                Report.Setting {
                    ($0.setting, $0.app) = ("background-refresh", app.app)
                    $0.value = app.backgroundRefresh ? "on" : "off"
                    ($0.default, $0.choices) = ("on", "on or off")
                    $0.documentation = "Background work of this app only."
                    $0.enforced = isEnforced($0.setting, app: app.app) ? true : nil
                }
            }
    }
}

extension Gate {
    /// The table gate × trigger, a row each; a cell holds ●, or what the row depends on.
    package static var report: [Report.Gate] {
        GateTable.rows.map { row in
            Report.Gate {
                $0.gate = row.gate.name
                ($0.title, $0.kind) = (row.title, row.kind.label)
                for (trigger, cell) in zip(Trigger.allCases, row.cells) where cell != .no {
                    $0.cells[trigger.letter] = cell.label
                }
            }
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
        if problem != nil { return lacksProgram ? "not installed" : "invalid manifest" }
        if manifest == nil { return "not installed" }
        if let main = launches.first(where: { $0.role == .main }) { return main.stateLabel }
        if let command = launches.first { return command.stateLabel }
        return record.closedAt == nil ? "not running" : "closed"
    }
}

extension BackgroundMode {
    /// The table of modes.
    package static var report: [Report.Mode] {
        allCases.map { mode in
            let row = mode.description
            return Report.Mode {
                ($0.mode, $0.trigger, $0.grant) = (mode.rawValue, row.trigger, row.grant)
                ($0.rate, $0.appGets, $0.works) = (row.rate, row.appGets, mode.isServed)
            }
        }
    }
}
