package import Vocabulary

/// Questions about transfers, which change nothing.
extension Device {
    package func transfer(_ id: TransferID) -> Transfer? { transfers[id] }

    package var transferCount: Int { transfers.count }

    /// The tasks of an app's session that have not ended.
    package func openTasks(of session: String, in app: AppID) -> [Transfer] {
        guard let index = apps.index(of: app) else { return [] }
        return transfers.all(of: index).filter { $0.task?.session == session && !$0.isEnded }
    }

    /// Nil: none is on its way, and none has failed. All of them are not looked at for it.
    var transferCounts: Report.TransferCounts? {
        let counts = transfers.counts
        guard counts != TransferCounts() else { return nil }
        return Report.TransferCounts {
            ($0.running, $0.waiting) = (Int64(counts.running), Int64(counts.waiting))
            ($0.paused, $0.failed) = (Int64(counts.paused), Int64(counts.failed))
        }
    }

    /// Conditions that these depend on, and that nothing tells.
    package func unsensed(by needs: Needs) -> [String] {
        Need.all.filter { $0.isAsked(by: needs) && conditions[$0.condition].sensing == .unknown }
            .map(\.condition.row.name)
    }

    /// All, or those of one app, in the order in which they go.
    package func transferList(of app: AppID? = nil, at now: Moment) -> [Report.Transfer] {
        let index = app.flatMap { apps.index(of: $0) }
        if app != nil, index == nil { return [] }
        return transfers.all(of: index).sorted { $0.place < $1.place }
            .map { report(of: $0, at: now) }
    }

    /// The numbers of all, in the same order.
    package var transferIDs: [TransferID] {
        transfers.all().sorted { $0.place < $1.place }.map(\.id)
    }

    /// Those of these that there are, as they are named.
    package func transferList(_ ids: [TransferID], at now: Moment) -> [Report.Transfer] {
        ids.compactMap { transfers[$0] }.map { report(of: $0, at: now) }
    }

    /// Of these, or of all: `rows` that have not ended, more only if more run, and the last `ended`
    /// that have. All of them are counted, and no gate is asked about those that are not told.
    package func transferProgress(
        of ids: [TransferID]?,
        rows: Int,
        ended: Int,
        at now: Moment
    ) -> Report.TransferProgress {
        let all =
            ids?.compactMap { transfers[$0] } ?? transfers.all().sorted { $0.place < $1.place }
        var progress = Report.TransferProgress()
        var running: [TransferID] = []
        var others: [TransferID] = []
        var ends: [DatedTransfer] = []
        for transfer in all {
            progress.count(transfer.standing)
            if case .ended(_, let end) = transfer.state {
                ends.append(DatedTransfer(at: end, id: transfer.id))
            } else if transfer.standing == .running {
                running.append(transfer.id)
            } else if others.count < rows {
                others.append(transfer.id)
            }
        }
        progress.open = Int64(all.count - ends.count)
        let shown = running.prefix(Self.mostRunningTold)
        let next = others.prefix(max(0, rows - shown.count))
        progress.shown = transferList(Array(shown + next), at: now)
        progress.ended = transferList(ends.sorted().suffix(ended).map(\.id), at: now)
        return progress
    }

    /// More than run side by side, unless somebody has set it so.
    private static let mostRunningTold = 250

    /// Of those that have not ended, the first ones only: there may be thousands.
    func explainTransfers(
        of index: Int,
        identifier: String?,
        at now: Moment
    ) -> [Explanation] {
        transfers.all(of: index)
            .filter { transfer in
                let url = transfer.order.url
                let isMeant = [nil, url, url.withoutPassword].contains(identifier)
                return !transfer.isEnded && isMeant
            }
            .prefix(100).compactMap { explain($0.id, at: now) }
    }

    /// Of transfers that their numbers name.
    package func explain(_ ids: [TransferID], at now: Moment) throws(Refusal) -> [Explanation] {
        try known(ids).compactMap { explain($0, at: now) }
    }

    /// Why a transfer waits, or what it does; nil: there is none of that number.
    package func explain(_ id: TransferID, at now: Moment) -> Explanation? {
        guard let transfer = transfers[id], let index = transfers.app(of: id) else { return nil }
        let subject = "transfer \(id)"
        var explanation = Explanation(
            app: apps[index].id,
            name: apps[index].displayName,
            identifier: transfer.order.url.withoutPassword,
            sentence: "",
            state: .waiting,
            holds: [],
            next: nil,
            lastRun: nil
        )
        switch transfer.state {
        case .running(let attempt):
            explanation.state = .running
            let doing = attempt.then?.isBecoming(of: transfer) ?? "is running"
            explanation.sentence = "\(subject) \(doing)."
        case .placing:
            explanation.state = .running
            explanation.sentence = "\(subject) is complete, and its file is being put in place."
            guard let retry = transfer.placementRetry, retry.at > now.wall else { break }
            explanation.state = .waiting
            // No other gate stands in the way of a name.
            explanation.holds = holdList(transfer.work, index, nil, now)
                .filter { $0.gate == Gate.retry.name }
            explanation.sentence = "\(subject) is complete, and waits: "
            explanation.sentence += retry.interruption.sentence(in: transfer.order.directory)
            explanation.sentence += explanation.addition(at: now) + "."
        case .paused:
            explanation.state = .nothingToDo
            explanation.sentence = "\(subject) is paused until it is resumed."
        case .ended(let end, let at):
            explanation.state = .nothingToDo
            // The word of one that was cancelled says all.
            let summary = end.outcome == .cancelled ? "" : ": \(transfer.told(end).summary)"
            explanation.sentence = "\(subject) \(end.word) \(now.text(for: at))\(summary)."
        case .waiting:
            explanation.holds = holdList(transfer.work, index, nil, now)
            if let first = explanation.holds.first {
                explanation.sentence = "\(subject) waits: \(first.sentence)"
                explanation.sentence += explanation.addition(at: now) + "."
            } else {
                explanation.state = .ready
                explanation.sentence = "\(subject) may run now and starts with the next event."
            }
        }
        return explanation
    }

    private func report(of transfer: Transfer, at now: Moment) -> Report.Transfer {
        let explanation = explain(transfer.id, at: now)
        return Report.Transfer {
            ($0.id, $0.url) = (transfer.id, transfer.order.url.withoutPassword)
            $0.app = transfers.app(of: transfer.id).map { apps[$0].id } ?? AppID("")
            $0.direction = Word(transfer.order.direction.way)
            ($0.state, $0.sentence) = (Word(transfer.standing), explanation?.sentence ?? "")
            ($0.directory, $0.file) = (transfer.order.directory, transfer.fileName)
            ($0.received, $0.total) = (transfer.received, transfer.total)
            $0.connections =
                transfer.isRunning ? transfer.connections : 1 + transfer.order.moreConnections
            $0.submitted = Report.Time(transfer.submittedAt, at: now)
            $0.next = explanation?.next.map { Report.Time($0, at: now) }
            $0.holds = (explanation?.holds ?? []).map(Reporter(now: now).hold)
            if case .ended(let end, let at) = transfer.state {
                $0.ended = Report.Time(at, at: now)
                if case .failed(let failure) = end {
                    ($0.failure, $0.status) = (Word(failure.name), failure.status)
                }
            }
        }
    }
}

extension Transfer {
    /// Where it stands, as it will once it has done what it was told.
    var standing: TransferStanding {
        switch state {
        case .paused: .paused
        case .waiting: .waiting
        case .running(let attempt):
            switch attempt.then {
            case .pause: .paused
            case .cancel, .keep: .cancelled
            case .close, .exists: .failed
            case .wait, .timeOut: .waiting
            case nil: .running
            }
        case .placing: placementRetry == nil ? .running : .waiting
        case .ended(.finished, _): .finished
        case .ended(.failed, _): .failed
        case .ended(.cancelled, _): .cancelled
        }
    }

    /// Nil: not known before the server answers.
    package var fileName: String? {
        if case .ended(let end, _) = state, case .finished(_, let name) = told(end) { return name }
        return ownFileName ?? name ?? order.name
    }
}

extension Transfer.Attempt.Next {
    /// What happens to a transfer until its attempt has ended.
    fileprivate func isBecoming(of transfer: Transfer) -> String {
        switch self {
        case .pause: "is being paused"
        case .cancel, .keep: "is being cancelled"
        case .close: "is being ended, because its app was closed by the user"
        case .timeOut: "is being ended, because it was not done in time"
        case .exists: "is being ended: \(transfer.existsFailure.reason)"
        case .wait: transfer.formers.isEmpty ? "is being stopped, to wait" : "is being moved"
        }
    }
}

extension TransferFailure {
    /// Of the answer that refused it; nil: it was another failure. What is stored of it is the
    /// reason, in which it is the first number.
    var status: Int64? {
        guard code == .exchange(.status) else { return nil }
        let isDigit = { (character: Character) in character.isASCII && character.isNumber }
        return Int64(reason.drop { !isDigit($0) }.prefix(while: isDigit))
    }

    /// For programs.
    package var name: TransferFailureName {
        switch code {
        case .exchange(let code): TransferFailureName(code)
        case .timedOut: .timedOut
        case .closedByUser: .closedByUser
        case .resumeGone: .resumeGone
        case .exists: .exists
        case .file: .file
        }
    }
}
