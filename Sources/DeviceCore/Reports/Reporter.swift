package import Vocabulary

extension Interval {
    /// Seconds; milliseconds are enough for people and programs.
    var reported: Double { Double(nanoseconds / 1_000_000) / 1000 }
}

/// Builds reports at one moment.
struct Reporter {
    let now: Moment

    func time(_ time: WallTime?) -> Report.Time? {
        guard let time, time != .distantFuture, time != .distantPast else { return nil }
        return Report.Time(time, at: now)
    }

    func app(_ app: AppState) -> Report.App {
        Report.App {
            ($0.app, $0.name, $0.state) = (app.id, app.displayName, app.stateLabel)
            $0.modes = app.manifest?.modes.map(\.rawValue) ?? []
            ($0.problem, $0.file) = (app.problem, app.manifest?.file ?? app.problemFile)
            $0.transient = app.isTransient
            $0.lastUsed = time(app.record.lastUsed)
            $0.closed = time(app.record.closedAt)
            $0.lastRun = app.record.lastRun.map(lastRun)
            $0.failures = failures(app.record.failures)
            $0.tasks = Int64(app.requests.count)
            $0.today = spent(app.record.ledger)
        }
    }

    private func lastRun(_ run: LastRun) -> Report.LastRun {
        Report.LastRun {
            ($0.at, $0.task) = (time(run.at), run.identifier)
            ($0.outcome, $0.result) = (Word(run.result.outcome), run.result.summary)
            // The result of a stopped run says why it was stopped.
            let isSaid = ["", run.result.summary, run.result.stop?.summary].contains(run.reason)
            if !isSaid { $0.reason = run.reason }
            if run.result.isFailure { $0.failed = true }
            $0.decision = run.decision?.report
        }
    }

    func failures(_ failures: Failures) -> Report.Failures? {
        guard failures.count > 0 else { return nil }
        return Report.Failures {
            ($0.count, $0.reason) = (failures.count, failures.reason)
            ($0.since, $0.until) = (time(failures.since), time(failures.until))
        }
    }

    func spent(_ ledger: Ledger) -> Report.Spent {
        let today = ledger.spent(on: now.local.day)
        return Report.Spent {
            $0.wakes = today.wakes
            ($0.seconds, $0.cpuSeconds) = (today.runTime.reported, today.cpu.reported)
        }
    }

    func explanation(_ explanation: Explanation) -> Report.Explanation {
        Report.Explanation {
            ($0.app, $0.name, $0.task) = (explanation.app, explanation.name, explanation.identifier)
            ($0.state, $0.sentence) = (Word(explanation.state), explanation.sentence)
            $0.next = time(explanation.next)
            $0.holds = explanation.holds.map(hold)
            $0.lastRun = explanation.lastRun.map(lastRun)
            $0.held = explanation.held.map(held)
            $0.forecast = explanation.forecast.map(forecast)
        }
    }

    private func held(_ hold: HoldTime) -> Report.HoldTime {
        Report.HoldTime {
            ($0.gate, $0.title) = (hold.gate.name, hold.gate.row.title)
            ($0.since, $0.until) = (time(hold.since), time(hold.until))
        }
    }

    func hold(_ hold: Hold) -> Report.Hold {
        Report.Hold {
            ($0.gate, $0.title) = (hold.gate, hold.title)
            ($0.value, $0.needed) = (hold.value, hold.needed)
            ($0.since, $0.next) = (time(hold.since), time(hold.next))
            $0.fix = hold.fix.isEmpty ? nil : hold.fix
        }
    }

    private func forecast(_ forecast: RefreshForecast) -> Report.Forecast {
        Report.Forecast {
            ($0.chance, $0.price) = (share(forecast.chance), share(forecast.price))
            ($0.left, $0.budget) = (forecast.left, forecast.budget)
            $0.scope = Word(forecast.scope)
            $0.likelyAt = time(forecast.likelyAt)
            $0.likelyChance = share(forecast.likelyChance)
            $0.blocker = forecast.blocker.map { Word($0) }
            $0.expectedAt = time(forecast.expectedAt)
        }
    }
}

private func share(_ thousandths: Int64) -> Double { Double(thousandths) / 1000 }

extension [Explanation] {
    /// As programs read them.
    package func report(at now: Moment) -> [Report.Explanation] {
        map(Reporter(now: now).explanation)
    }
}

extension RefreshDecision {
    fileprivate var report: Report.Decision {
        Report.Decision {
            ($0.chance, $0.price) = (share(chance), share(price))
            ($0.left, $0.budget, $0.together) = (left, budget, together)
            ($0.scope, $0.because) = (Word(scope), because.map { Word($0) })
        }
    }
}

extension HistoryLine {
    /// The line as programs read it.
    package var report: Report.HistoryLine {
        Report.HistoryLine {
            ($0.at, $0.app) = (Report.Time(at, utcOffset: utcOffset), app)
            $0.what = Word(entry.kind)
            switch entry {
            case .wake(let wake):
                $0.launch = wake.launch
                ($0.trigger, $0.task) = (wake.trigger.rawValue, wake.identifier)
                ($0.resumed, $0.simulated) = (wake.resumed, wake.simulated)
                $0.end(wake.result, wake.reason)
                $0.mistake = AppMistake.told(in: wake.reason).map { Word($0.mistake) }
                ($0.seconds, $0.cpuSeconds) = (wake.runTime.reported, wake.cpu?.reported)
                ($0.memory, $0.decision) = (wake.memory, wake.decision?.report)
                if wake.memory != nil, !wake.isPeak { $0.memorySampled = true }
            case .ended(let result, let reason): $0.end(result, reason)
            case .dropped(let identifier, let reason): ($0.task, $0.reason) = (identifier, reason)
            case .note(let text):
                $0.reason = text
                if let told = AppMistake.told(in: text) {
                    ($0.mistake, $0.subject) = (Word(told.mistake), told.subject)
                }
            case .transferred(let id, let url, let end):
                // Older versions have kept it with its password.
                ($0.transfer, $0.url) = (id, url.withoutPassword)
                ($0.outcome, $0.result) = (Word(HistoryOutcome(end.outcome)), end.summary)
            case .use: break
            }
        }
    }
}

extension Report.HistoryLine {
    fileprivate mutating func end(_ result: RunResult, _ reason: String) {
        (outcome, self.result) = (Word(result.outcome), result.summary)
        (stop, self.reason) = (result.stop.map { Word($0) }, reason)
    }
}
