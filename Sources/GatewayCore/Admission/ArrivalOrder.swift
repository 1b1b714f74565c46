/// Connections by number, in the order in which they came; taken out in any order.
package struct ArrivalOrder: Sendable {
    /// When each came; also the entries of those that left are kept for a while.
    private var live: [UInt64: UInt64] = [:]
    private var entries: [(number: UInt64, arrival: UInt64)] = []
    private var last: UInt64 = 0

    package init() {}

    package var count: Int { live.count }
    package func contains(_ number: UInt64) -> Bool { live[number] != nil }

    /// Behind all others.
    package mutating func append(_ number: UInt64) {
        if entries.count > 2 * live.count + 64 {
            entries.removeAll { live[$0.number] != $0.arrival }
        }
        last += 1
        entries.append((number, last))
        live[number] = last
    }

    package mutating func remove(_ number: UInt64) { live[number] = nil }

    /// The first to come of those that are left and are as wanted.
    package func first(where isWanted: (UInt64) -> Bool = { _ in true }) -> UInt64? {
        entries.first { live[$0.number] == $0.arrival && isWanted($0.number) }?.number
    }
}
