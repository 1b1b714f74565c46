internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// What Apple does not offer: asking what there is.
extension UIApplication {
    /// The parts that the daemon has: `fetch`, `refresh`, `processing`, `tasks`, and what later
    /// ones add. Empty without a daemon that knows this process as an app.
    public nonisolated var availableFeatures: Set<String> {
        session.state.withLock { Set($0.greeting?.features ?? []) }
    }

    /// What the app may use in the background, and what it does use.
    public struct Limits: Sendable {
        /// Bytes of memory that it uses; nil: nobody measures.
        public var memory: Int?
        /// Bytes past which it is terminated; nil: without limit.
        public var memoryLimit: Int?
        /// Seconds of processor time that it has used; nil: nobody measures.
        public var processorTime: Double?
        /// Share of one processor, averaged over ``processorWindow``, past which it is terminated;
        /// nil: without limit.
        public var processorLimit: Double?
        /// Seconds; nil: without limit.
        public var processorWindow: Double?
    }

    /// Asks for the limits that hold now.
    ///
    /// - Returns: All that is known.
    /// - Throws: ``BGTaskScheduler/Error`` when there is no daemon to ask.
    public nonisolated func backgroundLimits() async throws -> Limits {
        let limits = try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<Vocabulary.Limits, any Error>) in
            session.ask(
                OutgoingCall(App1.Limits()) { answer in
                    done.resume(with: answer.mapError { BGTaskScheduler.Error($0) })
                }
            )
        }
        return Limits(
            memory: limits.memory.map { Int($0) },
            memoryLimit: limits.memoryLimit.map { Int($0) },
            processorTime: limits.cpu,
            processorLimit: limits.cpuLimit,
            processorWindow: limits.cpuWindow
        )
    }
}
