package import Vocabulary

/// Whether somebody who connects is taken.
package enum SenderArrival: Equatable, Sendable {
    case refused
    /// `instead` of another connection, which is to be closed.
    case taken(instead: UInt64?)
}

/// Why a connection of a sender was closed.
package enum SenderDeparture: Equatable, Sendable {
    case closed
    /// It could not be set up here.
    case failed
    case failedHandshake
    case badHeader
    /// What it sent cannot be understood, or is a flood.
    case misspoke(isFlood: Bool)
    case tooSlow
}

/// Who may be on the providers' ports. When there is no room, a connection that has not shown who
/// sends is closed for a new one. One from a good address is not closed for a stranger.
package struct SenderDoor: Sendable {
    package var limits: SenderLimits
    package private(set) var counters = SenderDoorCounters()

    private struct Place {
        var group: AddressGroup?
        let start: BootTime
        var isSetUp = false
    }

    private var places: [UInt64: Place] = [:]
    /// Those that make room for others: they have not shown that they belong to a provider.
    private var displaceable = ArrivalOrder()
    private var gate = AddressGate()

    package init(_ limits: SenderLimits) { self.limits = limits }

    package var count: Int { places.count }

    /// Somebody connects. `group` nil: exempt from the limits of one address, or behind a load
    /// balancer that says next for whom it is.
    package mutating func arrived(
        _ connection: UInt64,
        from group: AddressGroup?,
        at now: BootTime
    ) -> SenderArrival {
        let arrival = admit(group, beside: places.count, not: nil, at: now)
        guard arrival != .refused else { return .refused }
        places[connection] = Place(group: group, start: now)
        displaceable.append(connection)
        counters.connections += 1
        return arrival
    }

    /// The load balancer says for whom this one is, which has a place already.
    package mutating func named(
        _ connection: UInt64,
        as group: AddressGroup?,
        at now: BootTime
    ) -> SenderArrival {
        let arrival = admit(group, beside: places.count - 1, not: connection, at: now)
        if arrival != .refused { places[connection]?.group = group }
        return arrival
    }

    /// `taken`: places of others than `own`, which makes no room for itself.
    private mutating func admit(
        _ group: AddressGroup?,
        beside taken: Int,
        not own: UInt64?,
        at now: BootTime
    ) -> SenderArrival {
        let ofOne = AddressGate.Limits(
            connections: limits.perAddress,
            handshakes: limits.handshakesPerAddress
        )
        guard gate.admit(group, ofOne) else {
            counters.overAddress += 1
            return .refused
        }
        let room = gate.room(for: group, of: limits.connections)
        if taken < room { return .taken(instead: nil) }
        if let other = displace(onlyStrangers: !gate.isGood(group), sparing: own, at: now) {
            return .taken(instead: other)
        }
        gate.ended(group, isSetUp: false)
        counters.refusedConnections += 1
        return .refused
    }

    /// The oldest of those that have shown nothing, and had a while for it, goes.
    private mutating func displace(
        onlyStrangers: Bool,
        sparing own: UInt64?,
        at now: BootTime
    ) -> UInt64? {
        let oldest = displaceable.first { number in
            number != own && !(onlyStrangers && isGood(number))
        }
        guard let oldest, let place = places[oldest], place.start + limits.proofTime / 10 < now
        else { return nil }
        counters.displaced += 1
        leave(oldest)
        return oldest
    }

    /// No descriptor is left for one more. Which connection is closed, so that one is.
    package mutating func cannotAccept(at now: BootTime) -> UInt64? {
        counters.refusedConnections += 1
        return displace(onlyStrangers: false, sparing: nil, at: now)
    }

    // MARK: What connections show

    /// TLS stands.
    package mutating func wasSetUp(_ connection: UInt64) {
        guard let place = places[connection], !place.isSetUp else { return }
        places[connection]?.isSetUp = true
        gate.wasSetUp(place.group)
    }

    /// It showed, for the first time or again, that it belongs to a provider known to the operator.
    package mutating func keepsPlace(_ connection: UInt64) {
        guard let place = places[connection] else { return }
        gate.wasGood(place.group)
        displaceable.remove(connection)
    }

    /// Its address is exempt, or a provider known to the operator came from there lately.
    package func isGood(_ connection: UInt64) -> Bool {
        places[connection].map { gate.isGood($0.group) } ?? false
    }

    /// Its certificate was revoked: it makes room for others again.
    package mutating func makesRoom(_ connection: UInt64) {
        guard places[connection] != nil, !displaceable.contains(connection) else { return }
        displaceable.append(connection)
    }

    // MARK: Going

    package mutating func left(_ connection: UInt64, _ why: SenderDeparture) {
        // Others may have taken its place.
        guard places[connection] != nil else { return }
        count(why)
        leave(connection)
    }

    private mutating func leave(_ connection: UInt64) {
        guard let place = places.removeValue(forKey: connection) else { return }
        displaceable.remove(connection)
        gate.ended(place.group, isSetUp: place.isSetUp)
        counters.ended += 1
    }

    private mutating func count(_ why: SenderDeparture) {
        switch why {
        case .closed: break
        case .failed: counters.refusedConnections += 1
        case .failedHandshake: counters.failedHandshakes += 1
        case .badHeader: counters.badHeaders += 1
        case .misspoke(let isFlood):
            counters.protocolErrors += 1
            if isFlood { counters.floods += 1 }
        case .tooSlow: counters.slowRequests += 1
        }
    }

    /// Requests that take too long were ended on a connection that goes on.
    package mutating func cutRequests() { counters.slowRequests += 1 }

    /// There was no memory for the rest of a request.
    package mutating func turnedAway() { counters.turnedAway += 1 }
}

/// What happened at the providers' ports since the start, for the metrics.
package struct SenderDoorCounters: Equatable, Sendable {
    package fileprivate(set) var connections: UInt64 = 0
    package fileprivate(set) var ended: UInt64 = 0
    package fileprivate(set) var refusedConnections: UInt64 = 0
    package fileprivate(set) var failedHandshakes: UInt64 = 0
    package fileprivate(set) var protocolErrors: UInt64 = 0
    package fileprivate(set) var floods: UInt64 = 0
    package fileprivate(set) var slowRequests: UInt64 = 0
    /// Connections that made room for others.
    package fileprivate(set) var displaced: UInt64 = 0
    /// Closed at once: their address has as many as one may have.
    package fileprivate(set) var overAddress: UInt64 = 0
    /// Came as from a load balancer, and did not say for whom.
    package fileprivate(set) var badHeaders: UInt64 = 0
    /// Requests for which there was no memory.
    package fileprivate(set) var turnedAway: UInt64 = 0
}
