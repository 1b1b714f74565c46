import Vocabulary

extension GateTable.Definition {
    /// The same work, or for a plain command the same program, is still running.
    static let stillRunning = Self(
        title: "still running",
        kind: .needed,
        check: { conflicts($0) ? .held(.event) : .open },
        words: { _ in
            GateWords(
                value: "running",
                needed: "ended",
                since: nil,
                sentence: "its last run has not ended"
            )
        }
    )

    private static func conflicts(_ context: GateContext) -> Bool {
        guard let request = context.request else { return false }
        for launch in context.app.launches {
            if let other = launch.request, other != request.id {
                // One command of an app at a time: they share its files.
                return true
            }
            if launch.ending != nil { return true }
            if launch.deliveries.contains(where: {
                $0.isOpen && $0.identifier == request.identifier
            }) {
                return true
            }
            // A wake that is being expired takes nothing more.
            if launch.wake?.stop != nil, launch.request == nil { return true }
        }
        return false
    }
}
