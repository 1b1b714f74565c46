package import Vocabulary

/// What a linked app says, already tied to its launch by the process that said it.
package enum AppEvent: Hashable, Sendable, Codable {
    /// `didFinishLaunching` has returned; handlers for these identifiers are registered.
    case finishedLaunching(registered: [String])
    /// The app's answer to an offer: the receipt.
    case accepted(DeliveryID)
    /// A handler for expiry was set or cleared.
    case expirationHandler(DeliveryID, set: Bool)
    case completed(DeliveryID, TaskResult)
    /// `beginBackgroundTask`; `by`: an expiring activity of this extension, a helper program in the
    /// app's launch.
    case taskBegan(name: String, hasHandler: Bool, by: ProcessID? = nil, reply: ReplyToken)
    case taskEnded(task: Int64, by: ProcessID? = nil)
    /// An extension's process has ended or hung up.
    case extensionGone(ProcessID)
    /// `applicationDidEnterBackground` has returned.
    case enteredBackground
    case fetchInterval(FetchInterval, reply: ReplyToken)
    /// Also by an extension: it runs in the app.
    case submit(Submission, reply: ReplyToken)
    case cancel(identifier: String?, reply: ReplyToken)
    /// The connection is gone; the process may live on and come back.
    case disconnected
    /// Connected again: what it accepted and still runs, and what it finished meanwhile.
    case reconnected(running: [DeliveryID], finished: [FinishedDelivery])
}

package struct FinishedDelivery: Hashable, Sendable, Codable {
    package var delivery: DeliveryID
    package var result: TaskResult

    package init(delivery: DeliveryID, result: TaskResult) {
        (self.delivery, self.result) = (delivery, result)
    }
}

/// What an app says of work it was given.
package enum TaskResult: String, Hashable, Sendable, Codable, CaseIterable {
    case newData, noData, failed
    /// `setTaskCompleted(success:)`.
    case succeeded, unsuccessful
}

/// `setMinimumBackgroundFetchInterval`.
package enum FetchInterval: Hashable, Sendable, Codable {
    case never
    case minimum
    case every(Interval)
}

/// What the daemon says to a linked app.
package enum AppMessage: Hashable, Sendable, Codable {
    /// Work, with its trigger; the app answers `accepted`.
    case offer(DeliveryID, Trigger, identifier: String)
    /// The receipt is committed: run the handler.
    case go(DeliveryID)
    /// Time is nearly out: call the expiration handler.
    case expire(DeliveryID, StopReason)
    /// `to`: the extension that holds it; nil: the app itself.
    case expireTask(task: Int64, to: ProcessID? = nil, StopReason)
    case didEnterBackground
    case willEnterForeground
    case didBecomeActive
    case memoryWarning
}

/// Why a run was, or is about to be, ended.
package enum StopReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The grant is used up.
    case timeout
    case powerLost, networkLost, networkMetered, deviceInUse
    /// The data that it asked for is protected by the lock now.
    case dataLocked
    case lowPowerMode, thermal, memoryPressure
    case memoryLimit, cpuMonitor, fileLock
    case launchWatchdog
    case userClosed, cancelled, paused, simulated
    case manifestRemoved, interruptedTooLong
    /// The expiration handler ran and nothing was completed.
    case neverCompleted
}
