import Linux
import Vocabulary

/// What clients were told, what commands wrote, and what the history says; and what of it cannot
/// be. Each judgement is a list of what is against it, in words; empty is as it should be.
///
/// Only what was acknowledged binds: between the question and its answer both is true.
struct CampaignRecord {
    let entries: [Ledger.Entry]
    /// By the time at which they were made.
    let runs: [Run]
    /// The history, oldest first.
    let lines: [Value]
    /// Lines of the journal that no command writes.
    let odd: [String]

    private let works: [String: Work]
    private let byToken: [String: [Run]]
    private let byName: [String: [Ledger.Entry]]
    private let linesOf: [String: [Value]]

    init(entries: [Ledger.Entry], runs: [Run], lines: [Value], odd: [String] = []) {
        (self.entries, self.runs, self.lines, self.odd) = (entries, runs, lines, odd)
        var works: [String: Work] = [:]
        var byName: [String: [Ledger.Entry]] = [:]
        for entry in entries {
            switch entry.asked {
            case .submit(let work), .publish(let work):
                works[work.token] = work
                byName[work.name, default: []].append(entry)
            case .cancel(let name), .withdraw(let name):
                byName[name, default: []].append(entry)
            case .run, .hold, .release, .setting: break
            }
        }
        (self.works, self.byName) = (works, byName)
        byToken = Dictionary(grouping: runs, by: \.token)
        linesOf = Dictionary(grouping: lines.filter { $0["what"] == "run" }) {
            $0["app"]?.stringValue ?? ""
        }
    }

    // MARK: Words

    private func runs(of work: Work) -> [Run] { byToken[work.token] ?? [] }

    private var submissions: [(entry: Ledger.Entry, work: Work)] {
        entries.compactMap { entry in
            guard case .submit(let work) = entry.asked else { return nil }
            return (entry, work)
        }
    }

    private func results(of app: String) -> [String] {
        (linesOf[app] ?? []).map { $0["outcome"]?.stringValue ?? "" }
    }

    /// All that is known of a command, for the message of a test that fails.
    private func story(_ work: Work) -> String {
        var told: [(BootTime, String)] = []
        for entry in byName[work.name] ?? [] {
            let until = entry.until == .distantFuture ? "never" : "\(entry.until.nanoseconds)"
            told.append(
                (entry.from, "\(entry.asked) \(entry.answer) x\(entry.attempts) until \(until)")
            )
        }
        for entry in entries where entry.asked == .run(app: work.app) {
            told.append((entry.from, "run \(entry.answer) until \(entry.until.nanoseconds)"))
        }
        for run in runs where works[run.token]?.name == work.name {
            let end = run.ended.map { "\($0.nanoseconds)" } ?? "-"
            let how = run.status.map { "\($0)" } ?? (run.wasStopped ? "stopped" : "-")
            told.append((run.made, "process \(run.pid) of \(run.token) until \(end): \(how)"))
        }
        let lines = (linesOf[work.app] ?? []).map {
            "\($0["launch"] ?? .null) \($0["outcome"] ?? .null): \($0["reason"] ?? .null)"
        }
        let sorted = told.sorted { $0.0 < $1.0 }.map { "\($0.0.nanoseconds) \($0.1)" }
        return "\(work.token): " + (sorted + lines).joined(separator: "\n    ")
    }

    /// Whether somebody may have taken it back, or put another in its place.
    private func mayBeTakenBack(_ work: Work, after time: BootTime) -> Bool {
        (byName[work.name] ?? []).contains { entry in
            guard time < entry.until else { return false }
            switch entry.asked {
            case .cancel: return true
            case .submit(let other): return other.token != work.token && entry.mayHold
            case .run, .hold, .release, .publish, .withdraw, .setting: return false
            }
        }
    }

    /// Stretches in which a hold was in force for sure.
    private var holds: [(hold: Hold, from: BootTime, to: BootTime)] {
        var holds: [(hold: Hold, from: BootTime, to: BootTime)] = []
        for (place, entry) in entries.enumerated() where entry.answer == .done {
            guard case .hold(let hold, let time) = entry.asked else { continue }
            let next = entries[(place + 1)...].first { other in
                switch other.asked {
                case .hold(let another, _), .release(let another): another == hold
                case .submit, .cancel, .run, .publish, .withdraw, .setting: false
                }
            }
            var to = next?.from ?? .distantFuture
            if let time { to = min(to, entry.from + time) }
            if entry.until < to { holds.append((hold, entry.until, to)) }
        }
        return holds
    }

    /// Whether a run may have been asked to end by something that it comes back after.
    private func mayHaveBeenStopped(_ run: Run, of work: Work) -> Bool {
        guard let ended = run.ended, !run.wasStopped else { return true }
        if work.isProcessing, ended - run.made >= CampaignSettings.leastProcessing { return true }
        return entries.contains { entry in
            guard case .hold = entry.asked else { return false }
            return entry.from < ended + .seconds(1) && run.made < entry.until
        }
    }

    // MARK: What was acknowledged runs, once

    /// What was acknowledged and never ran.
    var lost: [String] {
        submissions.compactMap { entry, work in
            guard entry.answer == .done, runs(of: work).isEmpty,
                !mayBeTakenBack(work, after: entry.from)
            else { return nil }
            return story(work)
        }
    }

    /// What ran again though it was done.
    var repeated: [String] {
        submissions.compactMap { _, work in
            let runs = runs(of: work)
            for run in runs.dropLast() where run.status != 75 {
                if !mayHaveBeenStopped(run, of: work) { return story(work) }
            }
            return nil
        }
    }

    /// What was stopped, or asked to be run again, and was not. Whose end nobody saw is used up.
    var forgotten: [String] {
        submissions.compactMap { _, work in
            guard let last = runs(of: work).last, !mayBeTakenBack(work, after: last.made),
                last.status == 75 || last.ended == nil,
                !results(of: work.app).contains("unknown")
            else { return nil }
            return story(work)
        }
    }

    /// What was refused and ran.
    var ranThoughRefused: [String] {
        submissions.compactMap { entry, work in
            guard case .refused = entry.answer, !runs(of: work).isEmpty else { return nil }
            return story(work)
        }
    }

    /// What nobody answered in the end.
    var unanswered: [String] {
        entries.filter { $0.answer == .none }.map { "\($0)" }
    }

    // MARK: Nothing against a word

    /// What began although it had been cancelled.
    var ranAfterCancel: [String] {
        ranAfter { entry, _ in
            guard case .cancel = entry.asked else { return false }
            return entry.answer == .done || entry.answer == .notFound
        }
    }

    /// What began although another had been put in its place.
    var ranAfterReplacement: [String] {
        ranAfter { entry, work in
            guard case .submit(let other) = entry.asked else { return false }
            return entry.answer == .done && other.token != work.token
        }
    }

    private func ranAfter(_ ends: (Ledger.Entry, Work) -> Bool) -> [String] {
        submissions.compactMap { submission, work in
            let end = (byName[work.name] ?? [])
                .filter { submission.until < $0.from && ends($0, work) }
                .map(\.until).min()
            guard let end, runs(of: work).contains(where: { end < $0.made }) else { return nil }
            return story(work)
        }
    }

    /// What began before its time.
    var ranTooEarly: [String] {
        submissions.compactMap { entry, work in
            guard let after = work.after, let first = runs(of: work).first,
                first.made + Run.tick < entry.from + after
            else { return nil }
            return story(work)
        }
    }

    /// What somebody wanted at once: it does not mind that the device is in use.
    private var userInitiated: Set<String> {
        var apps: Set<String> = []
        for entry in entries {
            if case .run(let app) = entry.asked { apps.insert(app) }
        }
        return apps
    }

    /// What began while a condition, a pause or a setting held it back.
    var ranAgainstHold: [String] {
        // A run begins with the reading of its result, perhaps by the manifest before.
        let userInitiated = userInitiated
        let probed = Set(works.values.filter { $0.probe != nil }.map(\.name))
        return holds.flatMap { hold, from, to in
            runs.compactMap { run in
                guard from < run.made, run.made + Run.tick < to, let work = works[run.token],
                    hold.keepsBack(work), hold != .idle || !userInitiated.contains(work.app),
                    hold.stops(work) || !probed.contains(work.name)
                else { return nil }
                return "\(hold) from \(from.nanoseconds) to \(to.nanoseconds)\n" + story(work)
            }
        }
    }

    /// What went on although it was to stand still; it has a while to come to that.
    var movedAgainstHold: [String] {
        let userInitiated = userInitiated
        return holds.flatMap { hold, from, to in
            runs.compactMap { run in
                guard let work = works[run.token], work.freezes, hold.stops(work),
                    hold != .idle || !userInitiated.contains(work.app),
                    run.ticks.contains(where: { from + Self.patience < $0 && $0 + Run.tick < to })
                else { return nil }
                return "\(hold) from \(from.nanoseconds) to \(to.nanoseconds)\n" + story(work)
            }
        }
    }

    private static let patience = Interval.seconds(1)

    /// What began of a manifest that was gone, or was another by then.
    var ranWithoutManifest: [String] {
        works.values.filter(\.isStanding).sorted { $0.token < $1.token }.compactMap { work in
            let entries = byName[work.name] ?? []
            guard let place = entries.firstIndex(where: { $0.asked == .publish(work) }),
                let next = entries[(place + 1)...].first(where: {
                    $0.answer == .done && $0.asked != .publish(work)
                }),
                runs(of: work).contains(where: { next.until < $0.made })
            else { return nil }
            return story(work)
        }
    }

    // MARK: Side by side

    /// Two processes of one name at once; those of a manifest are two commands, one of each kind.
    var doubled: [String] {
        Dictionary(grouping: runs) { run in
            works[run.token].map { $0.name + ($0.isStanding && $0.isProcessing ? " p" : "") } ?? ""
        }
        .sorted { $0.key < $1.key }
        .flatMap { _, runs in
            zip(runs, runs.dropFirst()).compactMap { run, next in
                guard let ended = run.ended, next.made + Run.tick < ended else { return nil }
                return "\(run)\n    beside \(next)\n" + (works[run.token].map(story) ?? "")
            }
        }
    }

    /// More at once than there are slots.
    var crowded: [String] {
        var changes: [(BootTime, Int, String)] = []
        // What stands still takes no slot.
        for run in runs where works[run.token]?.freezes == false {
            guard let ended = run.ended, run.made + Run.tick < ended else { continue }
            changes += [(run.made + Run.tick, 1, run.token), (ended, -1, run.token)]
        }
        var (count, crowded): (Int, [String]) = (0, [])
        for (time, change, token) in changes.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            count += change
            if count > CampaignSettings.mostRuns {
                crowded.append("\(count) with \(token) at \(time.nanoseconds)")
            }
        }
        return crowded
    }

    // MARK: The history

    /// Starts without a line.
    var unlined: [String] {
        compareLines { started, lines, _ in started > lines.count }
    }

    /// Lines without a start: what was stopped may have had no time to say a word, and what stood
    /// still has a line for each time.
    var startless: [String] {
        compareLines { started, lines, _ in
            let stopped = lines.count { ["expired", "terminated", "interrupted"].contains($0) }
            return lines.count - started > stopped
        }
    }

    /// Runs that were wanted at once and acknowledged, without a line. Of a manifest that may be
    /// gone before they begin.
    var userInitiatedWithoutLine: [String] {
        compareLines { _, lines, userInitiated in userInitiated > lines.count }
    }

    private func compareLines(_ isWrong: (Int, [String], Int) -> Bool) -> [String] {
        var started: [String: Int] = [:]
        for run in runs {
            if let work = works[run.token] { started[work.app, default: 0] += 1 }
        }
        var userInitiated: [String: Int] = [:]
        for entry in entries where entry.answer == .done {
            if case .run(let app) = entry.asked { userInitiated[app, default: 0] += 1 }
        }
        for work in works.values where work.isStanding { userInitiated[work.app] = nil }
        let apps = Set(works.values.map(\.app)).sorted()
        return apps.compactMap { app in
            let results = results(of: app)
            guard isWrong(started[app] ?? 0, results, userInitiated[app] ?? 0) else { return nil }
            let work = works.values.filter { $0.app == app }.min { $0.token < $1.token }
            return "\(app): \(started[app] ?? 0) starts, \(results)\n" + (work.map(story) ?? "")
        }
    }

    /// Lines of a start that failed: nothing here is missing.
    var notStarted: [String] {
        lines.filter { $0["outcome"] == "not-started" }.map(\.description)
    }
}
