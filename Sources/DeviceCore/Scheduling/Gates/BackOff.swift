import Vocabulary

extension GateTable.Definition {
    /// The wait after failures in a row. Launches that follow too closely have no wait of their
    /// own: what comes back by itself has its quiet period, and a refresh its better moment.
    static let backOff = Self(
        title: "back-off after failures",
        kind: .saving,
        check: {
            guard let until = $0.app.record.failures.until else { return .open }
            return .held(until: until, at: $0.now)
        },
        words: {
            let failures = $0.app.record.failures
            let times = failures.count == 1 ? "once" : "\(failures.count) times in a row"
            return GateWords(
                value: "failed \(times)",
                needed: $0.device.words(for: failures.until ?? $0.now.wall, at: $0.now),
                since: failures.since,
                sentence: "it failed \(times) (\(failures.reason))"
            )
        }
    )
}
