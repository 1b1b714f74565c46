package import Vocabulary

/// For the main process of an app: background sessions of transfers.
extension App1 {
    package struct JoinSession: AppCall {
        package typealias Reply = JoinedTasks
        package var session = ""
        /// Its app is not launched for its events.
        package var isQuiet = false
        package init() {}
        package var asCall: App1 { .joinSession(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.option("no-launch", &isQuiet, "the app is never launched for its events")
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
    package struct TransferTask: OptionMap, Equatable, Sendable {
        /// The app's own number, which no other task of the session has.
        package var task: Int64 = 0
        package var url = ""
        /// Of an upload: PUT or POST; nil: it is a download.
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
        package init() {}

        static var mostInList: Int { 10_000 }
        package static let longestDescription = 16_384

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.required("task", &task)
            try fields.required("url", &url)
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
        }

        fileprivate func check() throws(OptionError) {
            for header in headers ?? [] {
                guard HTTPField(line: header) == nil else { continue }
                throw OptionError(
                    reason: "a header is not NAME: VALUE",
                    value: header,
                    fix: "write it as NAME: VALUE"
                )
            }
            guard method.map({ UploadMethod(rawValue: $0) != nil }) ?? true else {
                throw OptionError(
                    reason: "method is neither PUT nor POST",
                    value: method ?? "",
                    fix: "give one of these, or none for a download"
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
        }
    }

    package enum TaskAction: String, CaseIterable, Sendable, FieldType {
        case suspend, resume, cancel, describe
        /// Cancels, and keeps what has come.
        case keep
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

// MARK: Said by the daemon

extension AppObject1 {
    package struct TaskEnded: AppObjectCall {
        package var session = ""
        package var end = SessionTaskEnd(task: SessionTaskReport(task: 0, url: ""), result: "")
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("session", &session)
            try fields.record(&end)
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
