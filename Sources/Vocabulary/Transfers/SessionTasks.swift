/// A task of an app's session, as the app is told of it.
package struct SessionTaskReport: Hashable, Sendable, Codable {
    /// The app's own number for it.
    package var task: Int64
    package var url: String
    /// Of an upload; nil: it is a download.
    package var method: String?
    package var headers: [HTTPField] = []
    package var description: String?
    package var isSuspended = false
    /// Bytes; of an upload: those sent.
    package var received: Int64 = 0
    /// Nil: it is not known.
    package var total: Int64?
    /// A date in seconds since 1970.
    package var earliest: Double?
    package var expectsToSend: Int64?
    package var expectsToReceive: Int64?
    /// What its app has put in the place of the request; nil: nothing.
    package var currentURL: String?
    package var currentHeaders: [HTTPField]?
    /// In thousandths, above or below the usual one.
    package var priority: Int64?
    /// Its app's cookies have nothing to do with the request; nil: they have.
    package var ignoresCookies: Bool?
    /// The same of what was put in its place.
    package var currentIgnoresCookies: Bool?
    /// Only while the network is not metered; nil: always.
    package var isUnmetered: Bool?
    /// Seconds without a byte; nil: the usual ones.
    package var timeout: Double?

    package init(task: Int64, url: String) { (self.task, self.url) = (task, url) }

    private enum CodingKeys: String, CodingKey {
        case task, url, method, headers, description, received, total, earliest, priority, timeout
        case isSuspended = "suspended"
        case currentURL = "current-url"
        case currentHeaders = "current-headers"
        case expectsToSend = "expects-to-send"
        case expectsToReceive = "expects-to-receive"
        case isUnmetered = "unmetered"
        case ignoresCookies = "no-cookies"
        case currentIgnoresCookies = "current-no-cookies"
    }
}

/// What an app learns when it joins a session.
package struct JoinedTasks: Hashable, Sendable, Codable {
    /// Those that have not ended.
    package var tasks: [SessionTaskReport]
    /// How many others have, or ask something, which it will be told of.
    package var missed: Int

    package init(tasks: [SessionTaskReport], missed: Int) {
        (self.tasks, self.missed) = (tasks, missed)
    }
}

/// How a task ended.
package struct SessionTaskEnd: Hashable, Sendable, Codable {
    package var task: SessionTaskReport
    package var result: Word<TransferOutcome>
    /// What was fetched: an absolute path. It is removed when the app has acknowledged the end.
    package var file: String?
    /// Bytes.
    package var size: Int64?
    /// Of the answer, as the server gave it; nil: there was none.
    package var status: Int?
    /// The same: after all redirects.
    package var url: String?
    package var headers: [HTTPField]?
    /// Of the answer to an upload, or the first part of it.
    package var body: Bytes?
    /// Of one that failed.
    package var failure: Word<TransferFailureName>?
    /// For a person.
    package var reason: String?
    /// What has come of the file is kept for a while, for a task that is enqueued with these words.
    package var resume: String?
    /// How many others have ended, or ask something, and are told next.
    package var remaining = 0

    package init(task: SessionTaskReport, result: TransferOutcome) {
        (self.task, self.result) = (task, Word(result))
    }
}

/// How far a task is.
package struct TaskProgress: Hashable, Sendable, Codable {
    package var task: Int64
    /// Bytes; of an upload: those sent.
    package var received: Int64
    /// Nil: it is not known.
    package var total: Int64?
    /// An interrupted one goes on after so many bytes; nil: it went on before, or it is new.
    package var resumedAt: Int64?

    package init(task: Int64, received: Int64, total: Int64?, resumedAt: Int64? = nil) {
        (self.task, self.received, self.total) = (task, received, total)
        self.resumedAt = resumedAt
    }

    private enum CodingKeys: String, CodingKey {
        case task, received, total
        case resumedAt = "resumed-at"
    }
}
