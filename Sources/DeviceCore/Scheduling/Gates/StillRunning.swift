import Vocabulary

extension GateTable.Definition {
    /// The same work, or for a plain command the same program, is still running, or frozen in the
    /// middle of it.
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
        let app = context.app
        return app.launches.contains { launch in
            switch launch.role {
            case .command(let other, let kind):
                guard other != request.id else { return launch.ending != nil }
                return kind == request.kind
                    || app.requests.contains {
                        $0.id == other && $0.identifier == request.identifier
                    }
            case .main:
                guard !app.runsCommand(for: request) else { return false }
                // A wake that is being expired takes nothing more.
                return launch.ending != nil || launch.wake?.stop != nil
                    || launch.deliveries.contains { $0.identifier == request.identifier }
            }
        }
    }
}
