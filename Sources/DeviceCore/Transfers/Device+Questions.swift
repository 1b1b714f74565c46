package import Vocabulary

/// What transfers ask their apps: whether to begin at their date, and what to say to a server that
/// wants to know who asks. Each waits until it is answered, by this process of the app or by a
/// later one, or until it is cancelled, suspended, or out of time.
extension Device {
    /// An app whose answers are refused so often in a row is not asked once more.
    static let mostRefusals: Int64 = 16
    /// So many logins of one app are kept for its sessions.
    private static let mostSessionLogins = 16

    // MARK: Asking

    /// True: it waits for its app's word.
    mutating func askBeforeBeginning(
        _ id: TransferID,
        of index: Int,
        _ transition: inout Transition
    ) -> Bool {
        guard let transfer = transfers[id], !transfer.isConfirmed,
            let earliest = transfer.order.earliest, earliest > transfer.submittedAt,
            isAsked(.delayed, of: transfer, index)
        else { return false }
        ask(id, .delayed, &transition)
        return true
    }

    /// An answer with status 401 is a question.
    func reportsChallenges(_ transfer: Transfer) -> Bool {
        guard let index = transfers.app(of: transfer.id), !transfer.takesRefusal else {
            return false
        }
        return session(of: transfer, index)?.answers ?? false
    }

    /// The server has refused it with status 401.
    mutating func challenged(
        _ id: TransferID,
        _ answer: ExchangeAnswer,
        _ attempt: Transfer.Attempt,
        durable: Int64?,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id], let index = transfers.app(of: id) else { return }
        if transfer.order.direction.isUpload { uploadRefused(id, confirmed: durable) }
        if let next = attempt.then { return settle(id, as: next, &transition) }
        if hasNewLogin(transfer, index, answer, since: attempt.since) {
            return settle(id, as: .wait, &transition)
        }
        dropLogins(transfer, index, answer, &transition)
        guard transfer.refusals < Self.mostRefusals, transferRoom(of: index).bytes > 0,
            isAsked(.unauthorized, of: transfer, index)
        else { return takeRefusal(id, answer, &transition) }
        ask(id, .unauthorized(answer), &transition)
    }

    private func session(of transfer: Transfer, _ index: Int) -> TransferSession? {
        guard let task = transfer.task else { return nil }
        return apps[index].record.sessions.first { $0.identifier == task.session }
    }

    /// One that listens is asked in any case: that costs nothing, and it may be of another version.
    private func isAsked(_ kind: TaskQuestionKind, of transfer: Transfer, _ index: Int) -> Bool {
        guard let session = session(of: transfer, index), session.answers else { return false }
        if listener(of: session.identifier, index) != nil { return true }
        return switch kind {
        case .delayed: session.launchesForDelays
        case .unauthorized: !session.ignoresChallenges
        }
    }

    private mutating func ask(
        _ id: TransferID,
        _ kind: TransferQuestion.Kind,
        _ transition: inout Transition
    ) {
        guard let index = transfers.app(of: id) else { return }
        let question = TransferQuestion(
            number: nextSerial(TransferKind.self).number,
            kind: kind,
            since: transition.now.wall,
            failures: transfers[id]?.refusals ?? 0
        )
        transfers.change(id) { ($0.state, $0.retry, $0.question) = (.waiting, nil, question) }
        save(.transfer(id))
        touch(index)
    }

    // MARK: Answers

    /// Whether a question of this number waits for an answer of the app.
    package func isAsked(_ number: UInt64, of app: AppID, in session: String) -> Bool {
        apps.index(of: app).flatMap { transfers.queue($0, session) }?.asking.all
            .contains { $0.number == number } ?? false
    }

    /// An answer to a question that is not there changes nothing: it was answered before, or its
    /// task has ended.
    mutating func answer(
        _ number: UInt64,
        _ answer: TransferAnswer,
        in session: String,
        of index: Int,
        _ transition: inout Transition
    ) {
        let asking = transfers.queue(index, session)?.asking.all
            .first { $0.number == number }
        guard let id = asking?.id, let transfer = transfers[id], let question = transfer.question
        else {
            if let login = answer.login {
                transition.emit(.transfer(TransferID(number), .forget([login])))
            }
            return
        }
        if question.kind.word == .unauthorized {
            // It is not launched for the next one.
            change(session, index) { $0.ignoresChallenges = answer == .proceed(isIgnored: true) }
        }
        touch(index)
        switch (answer, question.kind) {
        case (.cancel, _): end(id, .cancelled, &transition)
        case (.proceed, .delayed): release(id, at: transition.now.wall)
        case (.proceed, .unauthorized(let refusal)): takeRefusal(id, refusal, &transition)
        case (.request(let url, let headers, let ignoresCookies), _):
            renew(id, url, headers, ignoresCookies: ignoresCookies, &transition)
        case (.login(let number, let scheme, let forSession), .unauthorized(let refusal)):
            guard let login = TransferLogin(number, scheme, refusal) else {
                transition.emit(.transfer(id, .forget([number])))
                return takeRefusal(id, refusal, &transition)
            }
            logIn(id, login, forSession ? session : nil, index, &transition)
        case (.login(let number, _, _), .delayed):
            transition.emit(.transfer(id, .forget([number])))
            release(id, at: transition.now.wall)
        }
    }

    /// It goes on as soon as nothing else holds it.
    private mutating func release(_ id: TransferID, at now: WallTime) {
        transfers.change(id) {
            if $0.question?.kind == .delayed { $0.isConfirmed = true }
            $0.question = nil
        }
        transfers.enqueue(id, at: now, settings)
        save(.transfer(id))
    }

    /// The server's refusal is what the app wants. That of an upload is there; that of a download
    /// is fetched into its file.
    private mutating func takeRefusal(
        _ id: TransferID,
        _ refusal: ExchangeAnswer,
        _ transition: inout Transition
    ) {
        guard let order = transfers[id]?.order else { return }
        transfers.change(id) { ($0.state, $0.question) = (.waiting, nil) }
        if case .upload(let request) = order.direction {
            transfers.change(id) { $0.answer = refusal }
            let end = TransferEnd.finished(size: request.source.size, name: order.name ?? "")
            return self.end(id, end, &transition)
        }
        transfers.change(id) { $0.takesRefusal = true }
        release(id, at: transition.now.wall)
    }

    /// Another URL is another object: of what has come nothing belongs to it.
    private mutating func renew(
        _ id: TransferID,
        _ url: String,
        _ headers: [HTTPField],
        ignoresCookies: Bool,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id] else { return }
        var renewed = transfer
        (renewed.order.url, renewed.order.headers) = (url, headers)
        renewed.task?.renew(transfer.order, ignoresCookies: ignoresCookies)
        do throws(Refusal) {
            try renewed.order.check()
            try checkRoom(for: [renewed])
        } catch {
            let reason = "\(error.reason): \(error.value)"
            let failure = TransferFailure(code: .exchange(.badURL), reason: reason)
            return end(id, .failed(failure), &transition)
        }
        if url != transfer.order.url {
            removeUpload(transfer, .cancelled, &transition)
            transfers.change(id) { ($0.resume, $0.upload) = (nil, nil) }
        }
        transfers.change(id) {
            ($0.task, $0.order) = (renewed.task, renewed.order)
            if $0.question?.kind != .delayed { $0.refusals += 1 }
        }
        release(id, at: transition.now.wall)
    }

    // MARK: Logins

    /// `session`: it goes for all tasks of it.
    private mutating func logIn(
        _ id: TransferID,
        _ login: TransferLogin,
        _ session: String?,
        _ index: Int,
        _ transition: inout Transition
    ) {
        transfers.change(id) { $0.refusals += 1 }
        if let session {
            let kept = SessionLogin(session: session, since: transition.now.boot, login: login)
            let old = apps[index].logins.filter {
                $0.session == session && $0.login.isForSameServer(as: login)
            }
            apps[index].logins.removeAll { old.contains($0) }
            apps[index].logins.append(kept)
            let most = Self.mostSessionLogins
            let tooMany = apps[index].logins.prefix(max(0, apps[index].logins.count - most))
            apps[index].logins.removeFirst(tooMany.count)
            forget((old + tooMany).map(\.login), of: id, &transition)
            releaseOthers(for: login, session, index, at: transition.now.wall)
        } else {
            let old = transfers[id]?.logins.filter { $0.isForSameServer(as: login) } ?? []
            transfers.change(id) { transfer in
                transfer.logins.removeAll { old.contains($0) }
                transfer.logins.append(login)
            }
            forget(old, of: id, &transition)
        }
        release(id, at: transition.now.wall)
    }

    /// What was to be asked about the same server has its answer.
    private mutating func releaseOthers(
        for login: TransferLogin,
        _ session: String,
        _ index: Int,
        at now: WallTime
    ) {
        let asked = apps[index].joined.first { $0.identifier == session }?.asked ?? []
        for asking in transfers.queue(index, session)?.asking.all ?? []
        where !asked.contains(asking.number) {
            guard let question = transfers[asking.id]?.question, question.failures == 0,
                case .unauthorized(let answer) = question.kind,
                Origin(answer.url) == Origin(login.url)
            else { continue }
            release(asking.id, at: now)
        }
    }

    /// What the next attempt may show to servers.
    func logins(of transfer: Transfer) -> [TransferLogin] {
        guard let task = transfer.task, let index = transfers.app(of: transfer.id) else {
            return []
        }
        let own = transfer.logins
        let others = apps[index].logins.lazy.reversed()
            .filter { $0.session == task.session }.map(\.login)
            .filter { other in !own.contains { $0.isForSameServer(as: other) } }
        return Array((own + others).prefix(Credentials.mostAnswers))
    }

    /// Since the attempt began the app has said for all its tasks what the server wanted to know.
    private func hasNewLogin(
        _ transfer: Transfer,
        _ index: Int,
        _ answer: ExchangeAnswer,
        since: BootTime
    ) -> Bool {
        apps[index].logins.contains {
            $0.session == transfer.task?.session && $0.since > since
                && Origin($0.login.url) == Origin(answer.url)
        }
    }

    /// What it has shown was refused, and is of use to no other.
    private mutating func dropLogins(
        _ transfer: Transfer,
        _ index: Int,
        _ answer: ExchangeAnswer,
        _ transition: inout Transition
    ) {
        let refused = apps[index].logins.filter {
            $0.session == transfer.task?.session && Origin($0.login.url) == Origin(answer.url)
        }
        guard !refused.isEmpty else { return }
        apps[index].logins.removeAll { refused.contains($0) }
        forget(refused.map(\.login), of: transfer.id, &transition)
    }

    func forget(_ logins: [TransferLogin], of id: TransferID, _ transition: inout Transition) {
        guard !logins.isEmpty else { return }
        transition.emit(.transfer(id, .forget(logins.map(\.number))))
    }
}

extension SessionTask {
    /// What its app asks for now comes in the place of this.
    fileprivate mutating func renew(_ order: TransferOrder, ignoresCookies: Bool) {
        original =
            original
            ?? OriginalRequest(
                url: order.url,
                headers: order.headers,
                ignoresCookies: self.ignoresCookies
            )
        self.ignoresCookies = ignoresCookies
    }
}

extension TransferLogin {
    /// Nil: a name and a password are no answer to what the server wants.
    fileprivate init?(_ number: UInt64, _ scheme: String?, _ refusal: ExchangeAnswer) {
        let challenges = HTTPChallenge.all(of: refusal.headers).filter(\.takesLogin)
        let wanted = challenges.first { scheme == nil || $0.scheme == scheme?.lowercased() }
        guard let wanted, let origin = Origin(refusal.url) else { return nil }
        self.init(number: number, url: origin.url, challenge: wanted)
    }

    fileprivate func isForSameServer(as other: TransferLogin) -> Bool {
        Origin(url) == Origin(other.url)
    }
}
