/// Connections by number, in the order in which they came; taken out in any order.
package struct ArrivalOrder: Sendable {
    private var live: Set<UInt64> = []
    /// Also some that are gone.
    private var numbers: [UInt64] = []

    package init() {}

    package var count: Int { live.count }
    package func contains(_ number: UInt64) -> Bool { live.contains(number) }

    /// Behind all others.
    package mutating func append(_ number: UInt64) {
        if numbers.count > 2 * live.count + 64 { numbers.removeAll { !live.contains($0) } }
        numbers.append(number)
        live.insert(number)
    }

    package mutating func remove(_ number: UInt64) { live.remove(number) }

    /// The first to come of those that are left and are as wanted.
    package func first(where isWanted: (UInt64) -> Bool = { _ in true }) -> UInt64? {
        numbers.first { live.contains($0) && isWanted($0) }
    }
}
