import Vocabulary

/// A background session of an app: a name under which it asks for transfers, and learns how each of
/// them ended, in order, until it has acknowledged that.
package struct TransferSession: Hashable, Sendable, Codable {
    package let identifier: String
    /// The app is launched for its events.
    package internal(set) var sendsLaunchEvents: Bool
    /// The place of the last end or question for which a launch was asked.
    var announced: UInt64 = 0
    /// Its app says what its tasks ask.
    @OmittedIfDefault var answers = false
    /// It is launched to say whether a task begins at its date. Else it is asked if it runs then.
    @OmittedIfDefault var launchesForDelays = false
    /// It has nobody who answers challenges, as far as it is known: it is not launched for them.
    @OmittedIfDefault var ignoresChallenges = false
}

/// What makes a transfer one of a session's tasks.
package struct SessionTask: Hashable, Sendable, Codable {
    package let session: String
    /// The app's own, which no other task of the session has.
    package let number: Int64
    package internal(set) var description: String?
    /// Bytes, at the most, as the app expects it. They count for the turns of discretionary ones.
    package let expectsToSend: Int64?
    package let expectsToReceive: Int64?
    /// Asked for from the background: as a discretionary one, until its user opens the app.
    @OmittedIfDefault package internal(set) var isFromBackground = false
    /// In thousandths, above or below the usual one. It goes for the tasks of its app.
    @OmittedIfDefault package internal(set) var priority = Int64(0)
    /// Cookies of its app's storage have nothing to do with it. Only its app makes use of that.
    @OmittedIfDefault package internal(set) var ignoresCookies = false
    /// As it was asked for, if its app has put another in its place.
    var original: OriginalRequest?
    /// Among the ends of all tasks; nil: it has not ended.
    var place: UInt64?

    struct OriginalRequest: Hashable, Sendable, Codable {
        let url: String
        let headers: [HTTPField]
        @OmittedIfDefault var ignoresCookies = false
    }

    package init(
        session: String,
        number: Int64,
        description: String? = nil,
        expectsToSend: Int64? = nil,
        expectsToReceive: Int64? = nil,
        priority: Int64 = 0,
        ignoresCookies: Bool = false
    ) {
        (self.session, self.number, self.description) = (session, number, description)
        self.priority = priority
        self.ignoresCookies = ignoresCookies
        (self.expectsToSend, self.expectsToReceive) = (expectsToSend, expectsToReceive)
    }
}

extension SessionTask {
    var isValid: Bool { (-1000...1000).contains(priority) }
}

/// What an app asks of its session.
package enum SessionRequest: Hashable, Sendable, Codable {
    /// Its events are welcome from now on, in this process.
    case join(sendsLaunchEvents: Bool, answers: Bool = false, launchesForDelays: Bool = false)
    /// All of them, or none. `token`: as that of `Submission`.
    case enqueue([SessionOrder], token: String?)
    /// By the numbers of its tasks; those that are not there, or have ended, are left as they are.
    case suspend([Int64])
    case resume([Int64])
    case cancel([Int64])
    /// The same; what has come is kept for a task that goes on with it.
    case keep([Int64])
    /// From now on they have this description.
    case describe([Int64], String?)
    /// The same of their priority.
    case prioritize([Int64], Int64)
    /// To the question of this number.
    case answer(UInt64, TransferAnswer)
    /// This process wants no more events of it.
    case leave
}

/// A task, and what is to be fetched for it.
package struct SessionOrder: Hashable, Sendable, Codable {
    package let task: SessionTask
    package let order: TransferOrder
    /// The token of an ended one whose bytes it goes on with.
    package let resume: String?

    package init(task: SessionTask, order: TransferOrder, resume: String? = nil) {
        (self.task, self.order, self.resume) = (task, order, resume)
    }
}

/// A session that a process has joined. Not kept across restarts: the process joins again.
struct JoinedSession: Hashable, Sendable, Codable {
    let identifier: String
    let launch: LaunchID
    /// Of the end that it has been told, and has not acknowledged.
    var told: TransferID?
    /// The questions that it has been told and has not answered.
    var asked: [UInt64] = []
}

extension Transfer {
    /// On its way: neither suspended nor ended.
    var isActive: Bool {
        switch state {
        case .waiting, .running, .placing: true
        case .paused, .ended: false
        }
    }
}
