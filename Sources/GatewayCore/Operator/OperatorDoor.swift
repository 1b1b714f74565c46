package import Vocabulary

/// Who may ask at one of the operator's ports. So many may wait at once; whoever has not had its
/// answer for a while makes room.
package struct OperatorDoor: Sendable {
    private var waiting: [(connection: Int, since: BootTime)] = []

    private static let limit = 64
    private static let patience = Interval.seconds(10)
    /// Bytes of the longest question.
    package static let questionLimit = 4096

    package init() {}

    /// Somebody connects. False: it is closed at once. `closed`: those that are closed before.
    package mutating func arrived(
        _ connection: Int,
        at now: BootTime
    ) -> (isTaken: Bool, closed: [Int]) {
        let closed = waiting.filter { now - $0.since > Self.patience }.map(\.connection)
        waiting.removeAll { closed.contains($0.connection) }
        guard waiting.count < Self.limit else { return (false, closed) }
        waiting.append((connection, now))
        return (true, closed)
    }

    package mutating func left(_ connection: Int) {
        waiting.removeAll { $0.connection == connection }
    }
}
