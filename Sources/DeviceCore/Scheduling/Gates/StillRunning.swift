import Vocabulary

extension GateTable.Definition {
    /// The same work, or for a plain command the same program, is still running, or frozen in the
    /// middle of it.
    static let stillRunning = Self(
        title: "still running",
        kind: .rule,
        check: {
            guard let request = $0.request else { return .open }
            return $0.app.conflict(to: request) == nil ? .open : .held(.event)
        },
        explain: { _ in
            GateExplanation(
                value: "running",
                needed: "ended",
                since: nil,
                sentence: "its last run has not ended"
            )
        }
    )
}

extension AppState {
    /// Why work cannot begin beside what runs of its app.
    enum Conflict {
        /// The process that would do it is being ended, or its run expired: it takes nothing more.
        case ending
        /// The same program: two of one would share their files.
        case program
        /// The same task, in the app's own process.
        case task
    }

    func conflict(to request: Request) -> Conflict? {
        for launch in launches {
            switch launch.role {
            case .command(let other, let kind):
                if other == request.id {
                    if launch.ending != nil { return .ending }
                } else if kind == request.kind
                    || requests.contains(where: {
                        $0.id == other && $0.identifier == request.identifier
                    })
                {
                    return .program
                }
            case .main:
                guard !runsCommand(for: request) else { continue }
                if launch.ending != nil || launch.wake?.stop != nil { return .ending }
                if launch.deliveries.contains(where: { $0.identifier == request.identifier }) {
                    return .task
                }
            }
        }
        return nil
    }
}
