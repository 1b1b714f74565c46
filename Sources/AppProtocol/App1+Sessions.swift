package import Vocabulary

/// For the main process of an app: background sessions of transfers.
extension App1 {
    package struct JoinSession: AppCall {
        package typealias Reply = JoinedTasks
        package var session = ""
        /// Its app is not launched for its events.
        package var isQuiet = false
        /// It answers what tasks ask.
        package var answers = false
        /// It is launched for questions about dates.
        package var launchesForDelays = false
        package init() {}
        package var asCall: App1 { .joinSession(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.option("no-launch", &isQuiet, "the app is never launched for its events")
            try fields.option("answers", &answers, "the app answers TaskAsked")
            try fields.option(
                "launch-for-delays",
                &launchesForDelays,
                "the app is launched for questions of the kind delayed; else it has them if it runs"
            )
        }
        package func check() throws(OptionError) { try App1.check(session) }
    }

    package struct EnqueueTasks: AppCall {
        package var session = ""
        package var tasks: [TransferTask] = []
        package var token: String?
        package init() {}
        package var asCall: App1 { .enqueueTasks(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.argument("tasks", &tasks)
            try fields.token(&token, "a repeated call with the same token enqueues nothing more")
        }
        package func check() throws(OptionError) {
            try App1.check(session)
            for task in tasks { try task.check() }
        }
    }

    /// One file to fetch or to send.
    package struct TransferTask: OptionMap, EnqueuedFile {
        /// The app's own number, which no other task of the session has.
        package var task: Int64 = 0
        package var url = ""
        /// Of an upload: PUT, POST or PATCH; nil: it is a download.
        package var method: String?
        /// Of an upload: the descriptor under which the calling process has the file open for
        /// reading, until it is answered. By it the process shows that it can read the file.
        package var descriptor: Int64?
        /// Of a download that goes on with what has come of another: as the end of that one said.
        package var resume: String?
        /// Each as NAME: VALUE.
        package var headers: [String]?
        package var description: String?
        package var discretionary = false
        package var needs = Needs()
        package var earliest: WallTime?
        /// Without a byte for so long it is tried again.
        package var timeout: Interval?
        /// After so long in all it fails.
        package var resourceTimeout: Interval?
        package var expectsToSend: Int64?
        package var expectsToReceive: Int64?
        package var priority: Int64?
        /// The app keeps none of its answer, and has sent none of its storage.
        package var ignoresCookies = false
        package init() {}

        static var mostInList: Int { mostInCall }
        package static let longestDescription = 16_384

        /// What is no text is an empty one.
        package var texts: [String] {
            let numbers = [descriptor, expectsToSend, expectsToReceive, priority].compactMap(\.self)
            let times = [timeout, resourceTimeout].compactMap(\.self)
            let flags = [
                discretionary, needs.unmetered, earliest != nil, headers != nil, ignoresCookies,
            ]
            // Its own number is one more.
            let others = 1 + numbers.count + times.count + flags.count(where: \.self)
            var texts = Array(repeating: "", count: others)
            texts.append(url)
            texts += [method, resume, description].compactMap(\.self)
            texts += headers ?? []
            return texts
        }

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.required("task", &task)
            try fields.required("url", &url, upTo: ExchangeOrder.longestURL)
            try fields.option("method", &method)
            try fields.option("descriptor", &descriptor, in: 0...1 << 30)
            try fields.option("resume", &resume)
            try fields.option("headers", &headers)
            try fields.option("description", &description, upTo: Self.longestDescription)
            try fields.option("discretionary", &discretionary)
            try fields.option("unmetered", &needs.unmetered)
            try fields.option("earliest", &earliest)
            try fields.option("timeout", &timeout)
            try fields.option("resource-timeout", &resourceTimeout)
            try fields.option("expects-to-send", &expectsToSend, in: 0...1 << 60)
            try fields.option("expects-to-receive", &expectsToReceive, in: 0...1 << 60)
            try fields.option("priority", &priority, in: -1000...1000)
            try fields.option("no-cookies", &ignoresCookies)
        }

        fileprivate func check() throws(OptionError) {
            try OptionError.check(headers: headers)
            guard method.map({ UploadMethod(rawValue: $0) != nil }) ?? true else {
                throw OptionError(
                    reason: "no file is sent by this method",
                    value: method ?? "",
                    fix: "give \(UploadMethod.choice), or none for a download"
                )
            }
            guard resume == nil || method == nil else {
                throw OptionError(
                    reason: "only a download goes on with what has come",
                    value: url,
                    fix: "leave out resume or method"
                )
            }
            guard (method == nil) == (descriptor == nil) else {
                throw OptionError(
                    reason: "an upload has a method and a descriptor, a download neither",
                    value: url,
                    fix: "give both or none"
                )
            }
        }
    }

    package struct ChangeTasks: AppCall {
        package var session = ""
        package var action = TaskAction.suspend
        package var tasks: [Int64] = []
        /// What is described; nil: as nothing.
        package var description: String?
        /// What is prioritized.
        package var priority: Int64?
        package init() {}
        package var asCall: App1 { .changeTasks(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.argument("action", &action)
            try fields.argument("tasks", &tasks)
            try fields.option(
                "description",
                &description,
                upTo: TransferTask.longestDescription,
                "of describe"
            )
            try fields.option("priority", &priority, in: -1000...1000, "of prioritize")
        }
    }

    package enum TaskAction: String, CaseIterable, Sendable, FieldType {
        case suspend, resume, cancel, describe, prioritize
        /// Cancels, and keeps what has come.
        case keep
    }

    package struct AnswerTask: AppCall {
        package var session = ""
        package var question: Int64 = 0
        package var answer = TaskAnswerKind.proceed
        /// Of a request.
        package var url: String?
        /// Each as NAME: VALUE.
        package var headers: [String]?
        package var user: String?
        package var password: String?
        /// Of the challenge that is answered; nil: of the first that a login answers.
        package var scheme: String?
        /// All tasks of the session show it to this server.
        package var forSession = false
        /// Nobody of the app answers challenges.
        package var isIgnored = false
        /// Of a request: as that of `TransferTask`.
        package var ignoresCookies = false
        package init() {}
        package var asCall: App1 { .answerTask(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.argument("question", &question)
            try fields.argument("answer", &answer)
            try fields.option("url", &url, upTo: ExchangeOrder.longestURL, "of request")
            try fields.option("headers", &headers, "of request, each NAME: VALUE")
            try fields.option("user", &user, "of login")
            try fields.option("password", &password, "of login")
            try fields.option("scheme", &scheme, "of login: basic or digest")
            try fields.option("for-session", &forSession, "of login: for all tasks of the session")
            try fields.option("ignored", &isIgnored, "of proceed: nobody answers challenges")
            try fields.option("no-cookies", &ignoresCookies, "of request")
        }

        package func check() throws(OptionError) {
            try OptionError.check(headers: headers)
            switch answer {
            case .proceed, .cancel: break
            case .request:
                guard url != nil else {
                    throw OptionError(reason: "a request has no url", value: "", fix: "give url")
                }
            case .login:
                guard let user, let password, user.isPlain, password.isPlain else {
                    throw OptionError(
                        reason: "a login has a user and a password, without control characters",
                        value: user ?? "",
                        fix: "give both, each of at most 1024 bytes"
                    )
                }
            }
        }
    }

    package struct LeaveSession: AppCall {
        package var session = ""
        package init() {}
        package var asCall: App1 { .leaveSession(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
        }
    }
}

extension JoinedTasks: CallReply {}
extension TaskAnswerKind: FieldType {}

extension String {
    /// As a name or a password can be sent.
    fileprivate var isPlain: Bool {
        utf8.count <= 1024 && utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }
}

// MARK: Said by the daemon

extension AppObject1 {
    package struct TaskEnded: AppObjectCall {
        package var session = ""
        package var end = SessionTaskEnd(
            task: SessionTaskReport(task: 0, url: ""),
            result: .failed
        )
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.record(&end)
        }
    }

    package struct TaskAsked: AppObjectCall {
        package var session = ""
        package var question = TaskQuestion(
            question: 0,
            kind: .delayed,
            task: SessionTaskReport(task: 0, url: "")
        )
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.record(&question)
        }
    }

    package struct TaskProgressed: AppObjectCall {
        package var session = ""
        package var progress = TaskProgress(task: 0, received: 0, total: nil)
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.record(&progress)
        }
    }
}
