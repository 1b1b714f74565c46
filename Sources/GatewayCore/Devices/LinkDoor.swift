package import Vocabulary

/// What the shell does for the devices' port, in this order. A link that is gone by then is passed
/// over.
package enum LinkOrder: Equatable, Sendable {
    /// The link has a place: it is listened to, and its time to prove who it is begins.
    case begin(LinkID)
    /// Its place goes to others, and it is not listened to until it has one again.
    case hold(LinkID)
    /// It is over.
    case close(LinkID)
    /// Whether connections are accepted. Who comes meanwhile waits in the system's queue.
    case accept(Bool)
    /// `passed` is to be called at this second.
    case look(at: Int64)
}

/// Why a link was closed.
package enum LinkDeparture: Sendable {
    case closed
    /// It could not be set up.
    case failed
    case badHeader
    case brokeRule
    case tooSlow
    case tooManyFrames
    /// The device is told to come back later.
    case sentAway
}

/// Who comes in by the devices' port, up to the proof of who it is. Only so many may be on their
/// way at once: strangers that find no place stand in a line, so that those from good addresses
/// pass them. Seconds are those of the boot clock.
package struct LinkDoor: Sendable {
    package var limits: LinkLimits {
        didSet { if limits.enrols(otherThan: oldValue) { enrolments = EnrolmentGate() } }
    }
    package private(set) var counters = LinkCounters()

    private struct Place {
        var group: AddressGroup?
        /// When it came, or got its place.
        var since: Int64
        var isProved = false
    }

    private var places: [LinkID: Place] = [:]
    /// Those that have not proved who they are.
    private var unproved = ArrivalOrder()
    /// Those that wait for a place among them.
    private var line = ArrivalOrder()
    private var gate = AddressGate()
    private var enrolments = EnrolmentGate()
    private var storm = StormGate()
    private var isAccepting = true
    private var looksSoon = false
    private var isDraining = false
    private var orders = Queue<LinkOrder>()

    package init(_ limits: LinkLimits) { self.limits = limits }

    /// Links, also those that are being set up.
    package var count: Int { places.count }
    /// Those that wait for a place to prove who they are.
    package var lineCount: Int { line.count }

    /// What is to be done next. To be asked for after each call until there is nothing.
    package mutating func next() -> LinkOrder? { orders.popFirst() }

    // MARK: Coming

    /// Whether one more may be accepted. It is only known of the first of a turn that somebody is
    /// there to be accepted: for nobody else room is made.
    package mutating func mayAccept(isFirst: Bool, at second: Int64) -> Bool {
        if unproved.count < limits.handshakes { return true }
        guard isFirst else { return false }
        guard makeRoom(at: second, among: { _ in true }) else {
            pause(at: second)
            return false
        }
        settle(at: second)
        return true
    }

    /// No descriptor is left for one more.
    package mutating func cannotAccept(at second: Int64) {
        counters.unaccepted += 1
        pause(at: second)
    }

    /// One could not be accepted, for another reason.
    package mutating func failedToAccept() { counters.failed += 1 }

    /// Somebody connects; false: is closed at once. `group` nil: exempt from the limits of one
    /// address, or behind a load balancer that says next for whom it is.
    package mutating func arrived(
        _ link: LinkID,
        from group: AddressGroup?,
        at second: Int64
    ) -> Bool {
        guard admits(group) else { return false }
        counters.accepted += 1
        places[link] = Place(group: group, since: second)
        if unproved.count < room(for: group) {
            begin(link, at: second)
        } else {
            line.append(link.number)
        }
        settle(at: second)
        return true
    }

    /// The load balancer says for whom this one is. False: it is closed, or waits for a place.
    package mutating func named(
        _ link: LinkID,
        as group: AddressGroup?,
        at second: Int64
    ) -> Bool {
        guard admits(group) else {
            close(link)
            settle(at: second)
            return false
        }
        places[link]?.group = group
        guard unproved.count > room(for: group) else { return true }
        unproved.remove(link.number)
        line.append(link.number)
        orders.append(.hold(link))
        settle(at: second)
        return false
    }

    private mutating func admits(_ group: AddressGroup?) -> Bool {
        let limits = AddressGate.Limits(
            connections: limits.perAddress,
            handshakes: limits.handshakesPerAddress
        )
        if gate.admit(group, limits) { return true }
        counters.overAddress += 1
        return false
    }

    private func room(for group: AddressGroup?) -> Int {
        gate.room(for: group, of: limits.handshakes)
    }

    private mutating func begin(_ link: LinkID, at second: Int64) {
        unproved.append(link.number)
        places[link]?.since = second
        orders.append(.begin(link))
    }

    // MARK: The line

    /// Whoever is first in the line and finds a place begins. A stranger that has been trying for a
    /// while makes room, and so does the first of a line that is too long. More are accepted as
    /// soon as there is a place.
    private mutating func settle(at second: Int64) {
        guard !isDraining else { return }
        while let first = line.first().map({ LinkID($0) }) {
            let room = room(for: places[first]?.group)
            if unproved.count < room {
                line.remove(first.number)
                begin(first, at: second)
            } else if unproved.count <= room, makeRoom(at: second, among: isStranger) {
                continue
            } else if line.count > limits.handshakes {
                counters.displaced += 1
                close(first)
            } else {
                lookSoon(at: second)
                break
            }
        }
        if !isAccepting, unproved.count < limits.handshakes { accept() }
    }

    private func isStranger(_ group: AddressGroup?) -> Bool { !gate.isGood(group) }

    /// The one that has been trying longest goes if it had a while for it: most are done in a
    /// moment.
    private mutating func makeRoom(
        at second: Int64,
        among isWanted: (AddressGroup?) -> Bool
    ) -> Bool {
        let oldest = unproved.first { places[LinkID($0)].map { isWanted($0.group) } ?? false }
        guard let link = oldest.map({ LinkID($0) }), let place = places[link],
            .seconds(second - place.since) >= limits.handshakeTime / 10
        else { return false }
        counters.displaced += 1
        close(link)
        return true
    }

    private mutating func pause(at second: Int64) {
        isAccepting = false
        orders.append(.accept(false))
        lookSoon(at: second)
    }

    private mutating func accept() {
        isAccepting = true
        orders.append(.accept(true))
    }

    private mutating func lookSoon(at second: Int64) {
        guard !looksSoon else { return }
        looksSoon = true
        orders.append(.look(at: second + 1))
    }

    /// The moment has come for which `look` asked.
    package mutating func passed(at second: Int64) {
        looksSoon = false
        guard !isDraining else { return }
        accept()
        settle(at: second)
    }

    // MARK: Proving

    /// TLS stands. Why the device is sent away; nil: it is to prove who it is.
    package mutating func setUp(_ link: LinkID, at second: Int64) -> LinkEnding? {
        if places.count > limits.connections { return .full }
        let perSecond = gate.room(for: places[link]?.group, of: limits.welcomesPerSecond)
        return storm.admit(at: second, perSecond: perSecond).map { .crowded(spread: $0) }
    }

    /// Why a device that nobody knows may not be made known; nil: it may. `knowsSecret`: it said
    /// what new devices must say.
    package mutating func refusal(
        ofNew link: LinkID,
        knowsSecret: Bool,
        at now: BootTime
    ) -> LinkEnding? {
        // A wrong secret counts as well: who guesses has to wait.
        let isInTime = enrolments.admit(
            places[link]?.group,
            atOnce: limits.newDevices,
            refill: limits.newDeviceRefill,
            at: now
        )
        // The last eighth of all places is for those that are known.
        let isFull = places.count > limits.connections - limits.connections / 8
        let refusal: LinkEnding? =
            !isInTime || isFull ? .full : knowsSecret ? nil : .withoutSecret
        if refusal != nil { counters.unenrolled += 1 }
        return refusal
    }

    /// It has proved who it is, and is welcome.
    package mutating func welcomed(_ link: LinkID, isNew: Bool, at second: Int64) {
        guard let place = places[link], !place.isProved else { return }
        places[link]?.isProved = true
        unproved.remove(link.number)
        gate.wasSetUp(place.group)
        if !isNew { gate.wasGood(place.group) }
        counters.welcomed += 1
        settle(at: second)
    }

    // MARK: Going

    package mutating func left(_ link: LinkID, _ why: LinkDeparture, at second: Int64) {
        // Its end may have been our own order.
        guard places[link] != nil else { return }
        count(why)
        leave(link)
        settle(at: second)
    }

    private mutating func close(_ link: LinkID) {
        leave(link)
        orders.append(.close(link))
    }

    private mutating func leave(_ link: LinkID) {
        guard let place = places.removeValue(forKey: link) else { return }
        counters.ended += 1
        gate.ended(place.group, isSetUp: place.isProved)
        unproved.remove(link.number)
        line.remove(link.number)
    }

    private mutating func count(_ why: LinkDeparture) {
        switch why {
        case .closed: break
        case .failed: counters.failed += 1
        case .badHeader: counters.badHeaders += 1
        case .brokeRule: counters.refused += 1
        case .tooSlow: counters.tooSlow += 1
        case .tooManyFrames: counters.tooBusy += 1
        case .sentAway: counters.sentAway += 1
        }
    }

    /// Nobody comes in any more. All are sent away, to come back in `after` and then over as many
    /// seconds as their handshakes will take.
    package mutating func drain(after: Interval) -> LinkEnding {
        isDraining = true
        let perSecond = max(1, limits.welcomesPerSecond / 4)
        return .leaving(after: after, spread: .seconds(Int64(2 + places.count / perSecond)))
    }
}
