package import Vocabulary

/// Work that was offered and accepted.
package struct ClientWork: Equatable, Sendable {
    package let delivery: DeliveryID
    /// Which of the app's handlers is meant, as the offer has it.
    package let kind: Word<WorkKind>
    package let identifier: String
    /// Of CLOCK_MONOTONIC, in seconds; nil: without an end.
    package var deadline: Double?
}

/// A delivery, from its receipt until the daemon knows of its end.
struct ClientDelivery: Equatable, Sendable {
    /// How far it is.
    enum Progress: Equatable, Sendable {
        /// Offered, and the receipt given; not to be run before the daemon says so.
        case accepted
        case running
        /// The daemon has not said yet that it knows.
        case finished(TaskResult)
    }

    var work: ClientWork
    var progress = Progress.accepted

    var id: DeliveryID { work.delivery }
}
