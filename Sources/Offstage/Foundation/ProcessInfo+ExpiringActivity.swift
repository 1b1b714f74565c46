public import Foundation

extension ProcessInfo {
    /// Asks for time to finish something, in a helper program of an app as well as in the app.
    ///
    /// - Parameters:
    ///   - reason: For those who look at what the app does; not empty.
    ///   - block: Called on a concurrent queue with false once there is time, which it has until
    ///     it returns. Shortly before the time is over it is called again, at the same time, with
    ///     true: then the first call is to return soon. If there is no time to be had, or no
    ///     daemon to give it, it is called with true alone.
    @preconcurrency
    public func performExpiringActivity(
        withReason reason: String,
        using block: @escaping @Sendable (Bool) -> Void
    ) {
        precondition(!reason.isEmpty, "an expiring activity needs a reason")
        perform(reason, AppSession.shared, block)
    }

    func perform(
        _ reason: String,
        _ session: AppSession,
        _ block: @escaping @Sendable (Bool) -> Void
    ) {
        let queue = DispatchQueue.global()
        let task = session.beginActivity(reason) { task in
            queue.async {
                block(false)
                _ = session.endTask(task)
            }
        } expired: {
            queue.async { block(true) }
        }
        if task == 0 { queue.async { block(true) } }
    }
}
