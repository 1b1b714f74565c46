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
        let launches = launches
        let span = launches.span
        // By parts: a launch would be copied to be looked at.
        for index in span.indices {
            let isEnding = span[index].ending != nil
            switch span[index].role {
            case .command(let other, let trigger):
                if other == work.request {
                    if isEnding { return .ending }
                } else if trigger == work.trigger || isRequest(other, for: work) {
                    return .program
                }
            case .main:
                guard !runsCommand(for: work) else { continue }
                if isEnding || span[index].wake?.stop != nil { return .ending }
                if span[index].deliveries.contains(where: { $0.identifier == work.identifier }) {
                    return .task
                }
            }
        }
        return nil
    }

    private func isRequest(_ id: RequestID, for work: Work) -> Bool {
        guard let requestIndex = index(of: id) else { return false }
        let requests = requests
        return requests.span[requestIndex].identifier == work.identifier
    }
}
