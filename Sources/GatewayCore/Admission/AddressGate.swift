/// What one address may have of a port, and what is kept for those who were good before.
///
/// Counts connections by the group of their addresses; nil: exempt from the limits of one address.
package struct AddressGate: Sendable {
    /// Of one address.
    package struct Limits: Equatable, Sendable {
        package var connections: Int
        /// Those of them that are still being set up.
        package var handshakes: Int

        package init(connections: Int, handshakes: Int) {
            (self.connections, self.handshakes) = (connections, handshakes)
        }
    }

    private struct Count {
        var connections: Int32 = 0
        var handshakes: Int32 = 0
    }

    private var counts: [AddressGroup: Count] = [:]
    /// Where somebody good was lately.
    private var good = RecentGroups<Bool>(atMost: 20_000)

    package init() {}

    /// One more connection, which counts from now on; false: its address has as many as it may.
    package mutating func admit(_ group: AddressGroup?, _ limits: Limits) -> Bool {
        guard let group else { return true }
        var count = counts[group] ?? Count()
        guard count.connections < limits.connections, count.handshakes < limits.handshakes else {
            return false
        }
        count.connections += 1
        count.handshakes += 1
        counts[group] = count
        return true
    }

    /// The connection is set up.
    package mutating func wasSetUp(_ group: AddressGroup?) {
        guard let group else { return }
        counts[group]?.handshakes -= 1
    }

    /// It is over; `isSetUp`: `wasSetUp` was called for it.
    package mutating func ended(_ group: AddressGroup?, isSetUp: Bool) {
        guard let group, var count = counts[group] else { return }
        count.connections -= 1
        if !isSetUp { count.handshakes -= 1 }
        counts[group] = count.connections > 0 ? count : nil
    }

    /// A known device, or a provider with a good token, is there.
    package mutating func wasGood(_ group: AddressGroup?) {
        if let group { good.set(group, true) }
    }

    /// How many of the places of a port may be taken before this one finds none. The last eighth is
    /// for those who were good before, as soon as there are any.
    package func room(for group: AddressGroup?, of places: Int) -> Int {
        good.isEmpty || isGood(group) ? places : places - places / 8
    }

    /// An exempt one is trusted by the operator.
    package func isGood(_ group: AddressGroup?) -> Bool {
        group.map { good.contains($0) } ?? true
    }
}
