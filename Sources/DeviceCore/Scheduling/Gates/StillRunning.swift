import Vocabulary

extension GateTable.Definition {
    /// The same work, or for a plain command the same program, is still running, or frozen in the
    /// middle of it.
    static let stillRunning = Self(
        title: "still running",
        kind: .rule,
        check: { $0.app.conflict(to: $0.work) == nil ? .open : .held(.event) },
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

    func conflict(to work: Work) -> Conflict? {
        for launch in launches {
            switch launch.role {
            case .command(let other, let trigger):
                if other == work.request {
                    if launch.ending != nil { return .ending }
                } else if trigger == work.trigger
                    || requests.contains(where: {
                        $0.id == other && $0.identifier == work.identifier
                    })
                {
                    return .program
                }
            case .main:
                guard !runsCommand(for: work) else { continue }
                if launch.ending != nil || launch.wake?.stop != nil { return .ending }
                if launch.deliveries.contains(where: { $0.identifier == work.identifier }) {
                    return .task
                }
            }
        }
        return nil
    }
}
