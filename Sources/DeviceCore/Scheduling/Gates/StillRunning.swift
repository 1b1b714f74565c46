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
        for index in span.indices {
            if let conflict = conflict(with: span[index], of: work) { return conflict }
        }
        return nil
    }

    private func conflict(with launch: Launch, of work: Work) -> Conflict? {
        switch launch.role {
        case .command(let other, let trigger):
            guard other != work.request else { return launch.ending == nil ? nil : .ending }
            let isSame =
                trigger == work.trigger
                || requests.contains { $0.id == other && $0.identifier == work.identifier }
            return isSame ? .program : nil
        case .main:
            guard !runsCommand(for: work) else { return nil }
            if launch.ending != nil || launch.wake?.stop != nil { return .ending }
            return launch.deliveries.contains { $0.identifier == work.identifier } ? .task : nil
        }
    }
}
