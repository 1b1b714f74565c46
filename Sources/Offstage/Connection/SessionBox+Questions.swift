internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// What the daemon asks for tasks, and what the delegate says. The tasks wait for it.
extension SessionBox {
    /// Methods of the delegate that answer questions.
    struct Answers: OptionSet {
        let rawValue: Int

        static let challenges = Answers(rawValue: 1)
        static let renewals = Answers(rawValue: 2)
    }

    /// The delegate has no method of its own for it.
    func leavesToUs(_ answers: Answers) { state.withLock { $0.leftToUs.formUnion(answers) } }

    /// Asked again after a lost connection, it is one question: who is thinking goes on.
    func asked(_ question: TaskQuestion) {
        let isNews = state.withLock { state in
            state.remaining = question.remaining
            guard state.asked.insert(question.question).inserted else { return false }
            guard state.held == nil else {
                state.held?.append(.asked(question))
                return false
            }
            state.underWay += 1
            return true
        }
        if isNews { ask(question) } else { finishEventsIfTold() }
    }

    func ask(_ question: TaskQuestion) {
        queue.addOperation { [self] in
            let (session, delegate) = state.withLock { ($0.session, $0.delegate) }
            let answer = TaskAnswer(self, question.question)
            guard let session, let task = task(of: question.task) else { return answer.drop() }
            guard let delegate = delegate as? any URLSessionTaskDelegate else {
                return answer.proceed(isIgnored: true)
            }
            switch question.kind.known {
            case .delayed: begin(task, delegate, session, answer)
            case .unauthorized:
                renew(Refused(question, task), delegate, session, answer)
            // Of a later daemon.
            case nil: answer.proceed()
            }
        }
    }

    private func begin(
        _ task: URLSessionTask,
        _ delegate: any URLSessionTaskDelegate,
        _ session: URLSession,
        _ answer: TaskAnswer
    ) {
        guard let request = task.currentRequest else { return answer.proceed() }
        delegate.urlSession(session, task: task, willBeginDelayedRequest: request) {
            switch ($0, $1) {
            case (.useNewRequest, let request?): answer.use(request, for: task)
            case (.continueLoading, _), (.useNewRequest, nil):
                answer.proceed()
            case (.cancel, _): answer.cancel()
            }
        }
    }

    /// A task that a server has refused.
    private struct Refused: Sendable {
        let task: URLSessionTask
        let origin: Origin?
        let response: HTTPURLResponse?
        let failures: Int
        /// That a login answers, the best first.
        let challenges: [HTTPChallenge]

        init(_ question: TaskQuestion, _ task: URLSessionTask) {
            self.task = task
            let url = question.url ?? question.task.url
            origin = Origin(url)
            failures = question.failures
            let headers = question.headers ?? []
            response = HTTPURLResponse.of(question.status ?? 401, url, headers)
            let all = HTTPChallenge.all(of: headers).filter(\.takesLogin)
            let digests = all.filter { $0.knownScheme == .digest }
            challenges = digests + all.filter { $0.knownScheme != .digest }
        }
    }

    /// Once, and not for a server that others have chosen: it would not get the header fields.
    private func renew(
        _ refused: Refused,
        _ delegate: any URLSessionTaskDelegate,
        _ session: URLSession,
        _ answer: TaskAnswer
    ) {
        let task = refused.task
        guard refused.failures == 0, let request = task.currentRequest,
            let response = refused.response,
            request.url.flatMap({ Origin($0.absoluteString) }) == refused.origin
        else { return challenge(refused, 0, delegate, session, answer) }
        delegate.urlSession(
            session,
            task: task,
            willRenewRequest: request,
            refusedWith: response
        ) { [self] renewed in
            if let renewed { return answer.use(renewed, for: task) }
            queue.addOperation { [self] in
                challenge(refused, 0, delegate, session, answer)
            }
        }
    }

    private func challenge(
        _ refused: Refused,
        _ index: Int,
        _ delegate: any URLSessionTaskDelegate,
        _ session: URLSession,
        _ answer: TaskAnswer
    ) {
        guard index < refused.challenges.count, let origin = refused.origin else {
            return answer.proceed()
        }
        let wanted = refused.challenges[index]
        let challenge = URLAuthenticationChallenge(
            URLProtectionSpace(origin, wanted),
            failures: refused.failures,
            refused.response
        )
        delegate.urlSession(session, task: refused.task, didReceive: challenge) {
            [self] disposition, credential in
            switch (disposition, credential) {
            case (.useCredential, let credential?): answer.use(credential, wanted.scheme)
            case (.useCredential, nil), (.performDefaultHandling, _):
                answer.proceed(isIgnored: hasLeft([.challenges, .renewals]))
            case (.cancelAuthenticationChallenge, _): answer.cancel()
            case (.rejectProtectionSpace, _):
                queue.addOperation { [self] in
                    self.challenge(refused, index + 1, delegate, session, answer)
                }
            }
        }
    }

    private func hasLeft(_ answers: Answers) -> Bool {
        state.withLock { $0.leftToUs.isSuperset(of: answers) }
    }

    /// The daemon has it, or will: also one that is restarted.
    fileprivate func send(_ call: App1.AnswerTask) {
        enqueue(call, instead: newCall(call.question))
        answered()
    }

    /// `instead`: said if the daemon takes the answer for none at all. Asked again, the app would
    /// give the same one.
    private func enqueue(_ call: App1.AnswerTask, instead plain: App1.AnswerTask?) {
        outgoing.async { [self] in
            app.ask(
                OutgoingCall(call, .kept) { [self] answer in
                    guard case .failure(let error) = answer else { return }
                    LibraryLog.write("an answer for a task was not taken: \(error.text)")
                    if case .refused(.invalid) = error.reason {
                        if call.ignoresCookies {
                            // An older daemon keeps no such word.
                            var older = call
                            older.ignoresCookies = false
                            enqueue(older, instead: plain)
                        } else if let plain {
                            enqueue(plain, instead: nil)
                        }
                        return
                    }
                    // It is still a question.
                    state.withLock { _ = $0.asked.remove(call.question) }
                    if case .refused = error.reason { join() }
                }
            )
        }
    }

    /// The delegate is done with a question.
    fileprivate func answered() {
        state.withLock { $0.underWay -= 1 }
        finishEventsIfTold()
    }

    /// Nobody has answered: the next process of the app is asked.
    fileprivate func letGo(_ question: Int64) {
        LibraryLog.write(
            "the completion handler of a question for a task was released without being called: "
                + "the task waits until the app is asked again"
        )
        answered()
    }

    fileprivate func newCall(_ question: Int64) -> App1.AnswerTask {
        App1.AnswerTask { ($0.session, $0.question) = (identifier, question) }
    }
}

/// The answer to one question: the first one counts.
private final class TaskAnswer: Sendable {
    private let box: SessionBox
    private let question: Int64
    private let isGiven = Mutex(false)

    init(_ box: SessionBox, _ question: Int64) { (self.box, self.question) = (box, question) }

    deinit {
        if !isGiven.withLock({ $0 }) { box.letGo(question) }
    }

    func proceed(isIgnored: Bool = false) { give { $0.isIgnored = isIgnored } }
    func cancel() { give { $0.answer = .cancel } }

    func use(_ request: URLRequest, for task: URLSessionTask) {
        let request = request.withoutForeignCookies
        task.values.withLock { $0.current = request }
        give {
            ($0.answer, $0.url) = (.request, request.url?.absoluteString ?? "")
            $0.headers = box.headerLines(of: request)
            $0.ignoresCookies = !request.httpShouldHandleCookies
        }
    }

    func use(_ credential: URLCredential, _ scheme: String) {
        give {
            ($0.answer, $0.scheme) = (.login, scheme)
            ($0.user, $0.password) = (credential.user ?? "", credential.password ?? "")
            $0.forSession = credential.persistence != .none
        }
    }

    /// The session is over: nobody is asked.
    func drop() { if isFirst { box.answered() } }

    private func give(_ fill: (inout App1.AnswerTask) -> Void) {
        guard isFirst else {
            return LibraryLog.write(
                "the completion handler of a question for a task was called a second time"
            )
        }
        var call = box.newCall(question)
        fill(&call)
        box.send(call)
    }

    private var isFirst: Bool {
        isGiven.withLock { isGiven in
            defer { isGiven = true }
            return !isGiven
        }
    }
}
