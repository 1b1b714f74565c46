package import Vocabulary

/// Why something did or did not run: asked of the device, never an event, never empty.
package struct Explanation: Hashable, Sendable, Codable {
    package var app: AppID
    package var name: String
    /// Nil: the app as a whole.
    package var identifier: String?
    /// What a user understands.
    package var sentence: String
    package var state: WorkState
    /// The gates that hold, the most stubborn first.
    package var holds: [Hold]
    /// When it may run at the earliest, as far as time alone decides.
    package var next: WallTime?
    package var lastRun: LastRun?
    /// The gates that held the app before, the last one first; only the last few.
    package var held: [HoldTime] = []
    /// What its refreshes go by; nil: nothing that was learned.
    package var forecast: RefreshForecast?
}

/// One gate that holds something back.
package struct Hold: Hashable, Sendable, Codable {
    package var gate: String
    package var title: String
    package var value: String
    package var needed: String
    package var since: WallTime?
    /// Nil: when something happens, not at a time.
    package var next: WallTime?
    /// What it waits for is only tried then.
    package var isTry: Bool
    package var sentence: String
    /// What the user can do about it; empty: only what is needed helps.
    package var fix: String
}

extension Device {
    /// One explanation per task of the app; one for the app itself when it has none.
    package func explain(
        _ app: AppID,
        identifier: String? = nil,
        at now: Moment
    ) -> [Explanation] {
        guard let index = apps.index(of: app) else {
            return [nobody(app)]
        }
        let state = apps[index]
        let requests = state.requests.filter {
            identifier == nil || $0.identifier == identifier
        }
        let fetched = explainTransfers(of: index, identifier: identifier, at: now)
        if requests.isEmpty, fetched.isEmpty {
            // What is kept of an app that is gone does not make it one.
            let isThere = isListed(index) || !state.launches.isEmpty
            return [isThere ? nothing(state, identifier, index, now) : nobody(app)]
        }
        return requests.map { explain($0, state, index, now) } + fetched
    }

    private func nobody(_ app: AppID) -> Explanation {
        Explanation(
            app: app,
            name: app.name,
            identifier: nil,
            sentence: "No app called \(app) is known: there is no \(app).desktop with an "
                + "[X-Offstage] group in any applications folder.",
            state: .unknown,
            holds: [],
            next: nil,
            lastRun: nil
        )
    }

    private func nothing(
        _ state: AppState,
        _ identifier: String?,
        _ index: Int,
        _ now: Moment
    ) -> Explanation {
        let name = state.displayName
        let last = identifier.map { state.record.lastRun(of: $0) } ?? state.record.lastRun
        let what =
            switch (identifier, last) {
            case (nil, _): "\(name) has nothing to run"
            case (let task?, nil): "\(name) has no task called \(task)"
            case (let task?, _?): "\(name) has nothing to run for \(task)"
            }
        let why: String
        if state.lacksProgram, let aside = state.problemAside {
            why = aside
        } else if let problem = state.problem {
            why = "its manifest is not valid: \(problem)"
        } else if let manifest = state.manifest {
            why =
                state.id == Self.downloads || state.id == Self.uploads
                ? "nothing is being transferred"
                : manifest.modes.isEmpty
                    ? "its manifest declares no background modes"
                    : state.isTransient
                        ? once(state.record.lastRun, state.id)
                        : unsubmitted(identifier, last)
        } else {
            why = "its manifest is gone"
        }
        return Explanation(
            app: state.id,
            name: name,
            identifier: identifier,
            // A diagnostic is a sentence already.
            sentence: "\(what): \(why)" + (why.endsSentence ? "" : "."),
            state: .nothingToDo,
            holds: [],
            next: nil,
            lastRun: last
        )
    }

    private func unsubmitted(_ identifier: String?, _ last: LastRun?) -> String {
        if identifier != nil, last != nil {
            return "it has not submitted it again since its last run"
        }
        return "it has submitted nothing" + (last == nil ? "" : " since its last run")
            + ", and its manifest names no command"
    }

    /// What became of a command that was asked for once.
    private func once(_ run: LastRun?, _ app: AppID) -> String {
        let again = "submit it again; --every repeats it"
        guard let run else {
            return "it was cancelled or dropped; offstage history \(app) says why"
        }
        switch run.result {
        case .expired, .interrupted, .terminated:
            return
                "it was stopped before it finished (\(run.reason)), and was submitted for one run "
                + "only; \(again)"
        case .unknown:
            return
                "how its run ended is not known, since the daemon that had started it was gone; "
                + "offstage logs \(app) shows what it printed; \(again)"
        case .failed, .unsuccessful, .crashed, .exited, .notStarted:
            return
                "its run failed (\(run.reason)), and it was submitted for one run only; \(again)"
        case .newData, .noData, .succeeded, .retry:
            return "it has run, and was not submitted again"
        }
    }

    func explain(
        _ request: Request,
        _ state: AppState,
        _ index: Int,
        _ now: Moment
    ) -> Explanation {
        let subject = subject(request, state)
        var explanation = Explanation(
            app: state.id,
            name: state.displayName,
            identifier: request.identifier,
            sentence: "",
            state: .waiting,
            holds: [],
            next: nil,
            lastRun: state.record.lastRun(of: request.identifier),
            held: state.holdTimes.filter { $0.until != nil }.reversed()
        )
        if request.trigger.spendsRefreshBudget {
            explanation.forecast = forecast(of: request, index, at: now)
        }
        if !state.isWaiting(request) {
            explanation.state = .running
            explanation.sentence = runningSentence(subject, request, state, now)
            return explanation
        }
        let work = request.work(at: now.wall)
        explanation.holds = holdList(work, index, explanation.forecast, now)
        if request.interruptedAt != nil { explanation.state = .interrupted }
        guard let first = explanation.holds.first else {
            explanation.state = .ready
            explanation.sentence = "\(subject) may run now and starts with the next event."
            return explanation
        }
        let verb = request.interruptedAt == nil ? "waits" : "is frozen in mid-run"
        var sentence = "\(subject) \(verb): \(first.sentence)"
        sentence += explanation.addition(at: now)
        explanation.sentence = sentence + "."
        return explanation
    }

    /// What the user calls it, and its id where that is another word.
    private func subject(_ request: Request, _ state: AppState) -> String {
        let name = state.displayName
        var parts: [String] = []
        if name.lowercased() != state.id.name.lowercased() { parts.append(state.id.name) }
        if !state.isTransient, request.identifier != Trigger.refresh.rawValue {
            parts.append(request.identifier)
        }
        return parts.isEmpty ? name : "\(name) (\(parts.joined(separator: ", ")))"
    }

    private func runningSentence(
        _ subject: String,
        _ request: Request,
        _ state: AppState,
        _ now: Moment
    ) -> String {
        guard let launch = request.launch.flatMap({ id in state.launches.first { $0.id == id } })
        else { return "\(subject) is about to run." }
        if let ending = launch.ending {
            return "\(subject) is being terminated: \(ending.reason.summary)."
        }
        guard let wake = launch.wake else { return "\(subject) is running." }
        let delivery = launch.deliveries.first { $0.request == request.id }
        let end = delivery?.end ?? wake.end
        let so = now.awake - (delivery?.began ?? wake.began).awake
        switch launch.phase {
        case .probing: return "\(subject) is about to run; its current data is being read."
        case .starting: return "\(subject) is being started."
        case .judging: return "\(subject) has run; its result is being read."
        case .running:
            guard end != .distantFuture else {
                return "\(subject) has been running for \(so)."
            }
            return "\(subject) has been running for \(so) and has "
                + "\(max(.zero, end - now.awake)) left."
        }
    }

    /// Gates that wait for an event stand before those that only wait for a time. Behind these are
    /// the shared wake, which only rounds up what another one chose, and the other transfers, which
    /// are the reason only when there is no other.
    func holdList(
        _ work: Work,
        _ index: Int,
        _ forecast: RefreshForecast?,
        _ now: Moment
    ) -> [Hold] {
        var holds: [Hold] = []
        let told = self.told(self.holds(on: work, of: index, at: now).gates)
        for row in GateTable.rows where told.contains(row) {
            guard var context = context(row, work, of: index, at: now),
                case .held(let chance) = row.check(context)
            else { continue }
            context.forecast = forecast
            let text = row.explain(context)
            // Since when transfers are held is not noted: at most since they were asked for.
            let seen = work.transfer == nil ? now.wall : min(work.since, now.wall)
            let next: WallTime?
            var isTry = false
            switch chance {
            case .wall(let time): next = time
            case .boot(let time): next = now.wall + (time - now.boot)
            case .attempt(let time):
                next = now.wall + (time - now.boot)
                isTry = true
            case .look: next = nil
            // Of a moment that is chosen, as far as can be told.
            case .event: next = row.gate == .betterMoment ? forecast?.expectedAt : nil
            }
            holds.append(
                Hold(
                    gate: row.gate.name,
                    title: row.title,
                    value: text.value,
                    needed: text.needed,
                    // Where nothing tells, since when it was seen to hold.
                    since: text.since ?? apps[index].holdsSince(row.gate) ?? seen,
                    next: next,
                    isTry: isTry,
                    sentence: text.sentence,
                    fix: text.fix
                )
            )
        }
        let turn = holds.filter { $0.gate == Gate.transferSlots.name }
        let byEvent = holds.filter { $0.next == nil && $0.gate != Gate.transferSlots.name }
        let byTime = holds.filter { $0.next != nil }.sorted {
            ($0.next ?? .distantPast) > ($1.next ?? .distantPast)
        }
        let rounding = byTime.filter { $0.gate == Gate.sharedWake.name }
        return byEvent + byTime.filter { $0.gate != Gate.sharedWake.name } + rounding + turn
    }
}

extension String {
    fileprivate var endsSentence: Bool { hasSuffix(".") || hasSuffix("?") }
}

extension Explanation {
    /// What is said after the first reason. Sets when it may run.
    mutating func addition(at now: Moment) -> String {
        var text = ""
        let others = holds.count - 1
        if others > 0 { text += ", and \(others) more reason\(others == 1 ? "" : "s")" }
        let times = holds.map(\.next)
        if times.allSatisfy({ $0 != nil }), let last = times.compactMap(\.self).max() {
            next = last
            // Its sentence ends with that time.
            if others == 0, holds[0].gate == Gate.earliest.name { return text }
            text +=
                holds.contains(where: \.isTry)
                ? ". It is tried again \(now.text(for: last))"
                : ". It runs \(now.text(for: last)) or soon after"
        }
        return text
    }
}

extension Moment {
    /// A time as a person says it: `at 14:05`, `tomorrow at 07:00`, `on 2026-03-01 at 07:00`.
    func text(for time: WallTime, toSecond: Bool = true) -> String {
        if time == .distantPast { return "at once" }
        if time == .distantFuture { return "never" }
        let local = self.local(time)
        let clock = SettingRow.timeText(local.timeOfDay)
        let seconds = toSecond ? local.second < 10 ? ":0\(local.second)" : ":\(local.second)" : ""
        switch local.day - self.local.day {
        case 0: return "at \(clock)\(seconds)"
        case 1: return "tomorrow at \(clock)"
        case -1: return "yesterday at \(clock)"
        default: return "on \(local.description.prefix(10)) at \(clock)"
        }
    }
}

extension Conditions {
    /// The value in force, as a person writes it.
    func word(_ condition: Condition) -> String { condition.row.word(value(condition)) }
}

extension AppState {
    func holdsSince(_ gate: Gate) -> WallTime? {
        holdTimes.first { $0.gate == gate && $0.until == nil }?.since
    }

    /// What the user calls it.
    package var displayName: String {
        guard let manifest, !manifest.name.isEmpty else { return id.name }
        return manifest.name
    }
}
