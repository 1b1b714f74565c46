import Vocabulary

/// A background session of an app: a name under which it asks for transfers, and learns how each of
/// them ended, in order, until it has acknowledged that.
package struct TransferSession: Hashable, Sendable, Codable {
    package let identifier: String
    /// The app is launched for its events.
    package internal(set) var sendsLaunchEvents: Bool
    /// The place of the last end for which a launch was asked.
    var announced: UInt64 = 0
}

/// What makes a transfer one of a session's tasks.
package struct SessionTask: Hashable, Sendable, Codable {
    package let session: String
    /// The app's own, which no other task of the session has.
    package let number: Int64
    package internal(set) var description: String?
    /// Bytes, at the most, as the app expects it.
    package let expectsToSend: Int64?
    package let expectsToReceive: Int64?
    /// Asked for from the background: as a discretionary one, until its user opens the app.
    @OmittedIfDefault package internal(set) var isFromBackground = false
    /// Among the ends of all tasks; nil: it has not ended.
    var place: UInt64?

    package init(
        session: String,
        number: Int64,
        description: String? = nil,
        expectsToSend: Int64? = nil,
        expectsToReceive: Int64? = nil
    ) {
        (self.session, self.number, self.description) = (session, number, description)
        (self.expectsToSend, self.expectsToReceive) = (expectsToSend, expectsToReceive)
    }
}

/// What an app asks of its session.
package enum SessionRequest: Hashable, Sendable, Codable {
    /// Its events are welcome from now on, in this process.
    case join(sendsLaunchEvents: Bool)
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
