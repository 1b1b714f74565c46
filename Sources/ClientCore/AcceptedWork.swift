package import Vocabulary

/// Which of an app's handlers is meant.
package enum WorkKind: String, Sendable {
    /// The first API's one handler.
    case fetch
    /// The handler that is registered for the identifier.
    case refresh, processing
}

/// A delivery that was accepted.
package struct AcceptedWork: Equatable, Sendable {
    package let delivery: DeliveryID
    package let kind: WorkKind
    package let identifier: String
    /// Of CLOCK_MONOTONIC, in seconds; nil: without an end.
    package var deadline: Double?

    package init(
        delivery: DeliveryID,
        kind: WorkKind,
        identifier: String,
        deadline: Double? = nil
    ) {
        self.delivery = delivery
        self.kind = kind
        self.identifier = identifier
        self.deadline = deadline
    }
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

    var work: AcceptedWork
    var progress = Progress.accepted

    var id: DeliveryID { work.delivery }
}
