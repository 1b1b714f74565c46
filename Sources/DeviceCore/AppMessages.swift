package import Vocabulary

/// What a linked app says, already tied to its launch by the process that said it.
package enum AppEvent: Hashable, Sendable, Codable {
    /// The main process is there and has not finished launching; answered with how it was launched.
    case connected(reply: ReplyToken)
    /// `didFinishLaunching` has returned; handlers for these identifiers are registered.
    case finishedLaunching(registered: [String], reply: ReplyToken? = nil)
    /// The app's answer to an offer: the receipt.
    case accepted(DeliveryID)
    /// The app's answer to an offer was an error: it will never take it.
    case declined(DeliveryID, reason: String)
    /// A handler for expiry was set or cleared.
    case expirationHandler(DeliveryID, set: Bool, reply: ReplyToken? = nil)
    /// `usage`: of the launch by then, for what the run has cost; nil: not known.
    case completed(DeliveryID, TaskResult, usage: Usage? = nil, reply: ReplyToken? = nil)
    /// `beginBackgroundTask`; `by`: an expiring activity of this extension, a helper program in the
    /// app's launch.
    case taskBegan(
        name: String,
        hasHandler: Bool,
        by: ProcessID? = nil,
        token: String? = nil,
        reply: ReplyToken
    )
    case taskEnded(task: Int64, by: ProcessID? = nil, reply: ReplyToken? = nil)
    /// An extension's process has ended or hung up.
    case extensionGone(ProcessID)
    /// `applicationDidEnterBackground` has returned.
    case enteredBackground
    /// Its answer to `openURLs`: it has been told.
    case openedURLs(Int64)
    case fetchInterval(FetchInterval, reply: ReplyToken)
    /// Also by an extension: it runs in the app.
    case submit(Submission, reply: ReplyToken)
    case cancel(identifier: String?, reply: ReplyToken)
    /// What it asks of one of its sessions of transfers.
    case session(String, SessionRequest, reply: ReplyToken)
    /// Its answer to `taskEnded`: it needs to be told no more.
    case acknowledged(TransferID)
    /// It wants to know the conditions of the device, from now on.
    case conditionsWatched(reply: ReplyToken)
    /// Whether the screen stays on while it is in the foreground.
    case idleTimer(disabled: Bool, reply: ReplyToken)
    /// Its library saw it do that wrong.
    case mistaken(AppMistake, subject: String, reply: ReplyToken? = nil)
    /// The connection is gone; the process may live on and come back.
    case disconnected
    /// Connected again: what it accepted and still runs, what it finished meanwhile, and, if it
    /// says so, for what it has handlers.
    case reconnected(
        running: [DeliveryID],
        finished: [FinishedDelivery],
        registered: [String]? = nil,
        reply: ReplyToken? = nil
    )
}

extension AppEvent {
    /// Said once: must survive a commit that fails. The others have a caller, who is told.
    var isReceipt: Bool {
        switch self {
        case .finishedLaunching, .accepted, .declined, .expirationHandler, .completed, .taskEnded,
            .extensionGone, .enteredBackground, .openedURLs, .disconnected, .reconnected,
            .acknowledged:
            true
        case .connected, .taskBegan, .fetchInterval, .submit, .cancel, .mistaken, .session,
            .conditionsWatched, .idleTimer:
            false
        }
    }
}

package struct FinishedDelivery: Hashable, Sendable, Codable {
    package var delivery: DeliveryID
    package var result: TaskResult

    package init(delivery: DeliveryID, result: TaskResult) {
        (self.delivery, self.result) = (delivery, result)
    }
}

/// Until when a delivery may run.
package struct DeliveryEnd: Hashable, Sendable, Codable {
    package var delivery: DeliveryID
    package var end: AwakeTime

    package init(_ delivery: DeliveryID, _ end: AwakeTime) {
        (self.delivery, self.end) = (delivery, end)
    }
}

/// `setMinimumBackgroundFetchInterval`.
package enum FetchInterval: Hashable, Sendable, Codable, Defaulted {
    package static var defaultValue: FetchInterval { .never }

    case never
    case minimum
    case every(Interval)
}

/// What the daemon says to a linked app. `until` is the end of what it may use; distant future:
/// there is none.
package enum AppMessage: Hashable, Sendable, Codable {
    /// Work; the app answers `accepted`.
    case offer(DeliveryID, Offer)
    /// The receipt is committed: run the handler.
    case go(DeliveryID, until: AwakeTime = .distantFuture)
    /// Time is nearly out: call the expiration handler.
    case expire(DeliveryID, StopReason, until: AwakeTime = .distantFuture)
    /// `to`: the extension that holds it; nil: the app itself.
    case expireTask(
        task: Int64,
        to: ProcessID? = nil,
        StopReason,
        until: AwakeTime = .distantFuture
    )
    /// `until`: of background tasks; `work`: what it was given in the foreground, and goes on.
    case didEnterBackground(until: AwakeTime = .distantFuture, work: [DeliveryEnd] = [])
    case willEnterForeground
    case didBecomeActive
    /// What its user opens it for; the app answers `openedURLs`.
    case openURLs(Opening)
    /// Bytes that it has, and may have.
    case memoryWarning(memory: Int64, limit: Int64)
    /// Whether background refresh is on for it.
    case refreshChanged(RefreshStatus)
    /// The conditions that it watches.
    case conditionsChanged(DeviceConditions)
    /// A task of a session has ended; the app answers `acknowledged` once it has used that.
    case taskEnded(TransferID, session: String, SessionTaskEnd)
    case taskProgress(session: String, TaskProgress)
    /// A task of a session waits for an answer, which the app gives in a call of its own.
    case taskAsked(TransferID, session: String, TaskQuestion)
}

/// URLs that an app is opened for, together.
package struct Opening: Hashable, Sendable, Codable {
    /// Of those of its launch.
    package var number: Int64
    package var urls: [String]

    package init(number: Int64, urls: [String]) { (self.number, self.urls) = (number, urls) }
}

/// Work that is offered to an app.
package struct Offer: Hashable, Sendable, Codable {
    /// Which of its handlers is meant.
    package var kind: Kind
    package var identifier: String
    /// Only what its trigger may say (`TriggerRow.message`).
    package var payload = ValueMap()

    /// A word, as the app is told it: each trigger has its own.
    package enum Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The one of the first API.
        case fetch
        case trigger(Trigger)

        package init?(rawValue: String) {
            if rawValue == WorkKind.fetch.rawValue {
                self = .fetch
            } else if let trigger = Trigger(rawValue: rawValue) {
                self = .trigger(trigger)
            } else {
                return nil
            }
        }

        package var rawValue: String {
            switch self {
            case .fetch: WorkKind.fetch.rawValue
            case .trigger(let trigger): trigger.rawValue
            }
        }
    }

    package init(kind: Kind, identifier: String, payload: ValueMap = ValueMap()) {
        (self.kind, self.identifier, self.payload) = (kind, identifier, payload)
    }
}
