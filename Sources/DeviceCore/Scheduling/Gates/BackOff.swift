import Vocabulary

extension GateTable.Definition {
    /// The wait after failures and crashes in a row, and of a task that asks to run again as soon
    /// as it has run. Each doubles.
    static let backOff = Self(
        title: "back-off after failures, crashes, or launches in quick succession",
        kind: .saving,
        check: {
            guard let until = $0.app.backOffEnd(of: $0.work, $0.settings) else {
                return .open
            }
            return .held(until: until, at: $0.now)
        },
        explain: {
            let failures = $0.app.record.failures
            if let (until, pace) = $0.tooClose, until > failures.until ?? .distantPast {
                if $0.work.trigger.launchWait != nil {
                    let label = $0.work.trigger.label
                    return GateExplanation(
                        value: "launched for \(label) just before",
                        needed: $0.now.text(for: until),
                        since: pace.began,
                        sentence: "the app was launched for this just before (\(label))"
                    )
                }
                let times = pace.close == 1 ? "once" : "\(pace.close) times in a row"
                return GateExplanation(
                    value: "submitted again too soon \(times)",
                    needed: $0.now.text(for: until),
                    since: pace.began,
                    sentence: "it was submitted again too soon after its last launch (\(times))"
                )
            }
            let times = failures.count == 1 ? "once" : "\(failures.count) times in a row"
            return GateExplanation(
                value: "failed \(times)",
                needed: $0.now.text(for: failures.until ?? $0.now.wall),
                since: failures.since,
                sentence: "it failed \(times) (\(failures.reason))"
            )
        }
    )
}

extension GateContext {
    fileprivate var tooClose: (until: WallTime, pace: Pace)? {
        app.tooClose(work, settings)
    }
}

extension AppState {
    /// Until when failures, or its own haste, hold work back; nil: neither does.
    func backOffEnd(of work: Work, _ settings: Shared<Settings>) -> WallTime? {
        guard let until = tooClose(work, settings)?.until else { return failedUntil }
        return max(until, failedUntil ?? until)
    }
}
