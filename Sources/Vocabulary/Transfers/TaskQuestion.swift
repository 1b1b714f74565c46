/// What a task of a session waits for its app to say.
package struct TaskQuestion: Hashable, Sendable, Codable {
    /// Under which it is answered. A question that is asked again has the same.
    package var question: Int64
    package var kind: Word<TaskQuestionKind>
    package var task: SessionTaskReport
    /// Of the answer that refused it, as the server gave it.
    package var status: Int?
    /// The same: after all redirects.
    package var url: String?
    package var headers: [HTTPField]?
    /// How many answers of the app servers have refused since one took what it was asked.
    package var failures = 0
    /// How many questions and ends of tasks are told next.
    package var remaining = 0

    package init(question: Int64, kind: TaskQuestionKind, task: SessionTaskReport) {
        (self.question, self.kind, self.task) = (question, Word(kind), task)
    }
}

/// What a task may wait for.
package enum TaskQuestionKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The server has refused it with status 401, and may take it with other header fields, or with
    /// a name and a password.
    case unauthorized
    /// Its date has come: does it begin as it is, or has it become another?
    case delayed
}

/// What an app may answer.
package enum TaskAnswerKind: String, Hashable, Sendable, CaseIterable {
    /// As if nobody had asked: the answer of the server is what was asked for, and a task whose
    /// date has come begins.
    case proceed
    /// With this URL and these header fields.
    case request
    /// With this name and password.
    case login
    case cancel
}
