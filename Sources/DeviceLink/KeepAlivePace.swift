package import Vocabulary

/// How long a link may be silent: found out by trying, for each network.
///
/// The radio is woken as seldom as the network lets the connection live. An interval that was
/// answered is lengthened; one after which the link was found dead is never tried again for a good
/// while, and what lies between is searched by halves.
package struct KeepAlivePace: Equatable, Sendable {
    package static let first = Interval.minutes(2)
    package static let shortest = Interval.seconds(30)
    /// Closer than this to what failed is not worth a dead link.
    static let grain = Interval.seconds(30)
    /// So often an interval holds before what failed is tried once more: networks change.
    static let patience = 50

    /// What to wait now.
    package private(set) var interval = first
    private var proven: Interval?
    private var failed: Interval?
    private var held = 0

    package init() {}

    /// A keep-alive was answered after the link had been silent for `interval`.
    package mutating func answered(longest: Interval) {
        proven = max(proven ?? .zero, interval)
        held += 1
        if held >= Self.patience {
            held = 0
            failed = nil
        }
        let wanted: Interval
        if let failed {
            let middle = interval + (failed - interval) / 2
            wanted = failed - interval > Self.grain + Self.grain ? middle : interval
        } else {
            wanted = interval + interval / 2
        }
        interval = max(Self.shortest, min(wanted, longest))
    }

    /// The link was found dead after having been silent for `interval`.
    package mutating func lost() {
        held = 0
        failed = min(failed ?? .forever, interval)
        if let proven, proven < interval {
            interval = proven
        } else {
            // Not even that holds any more.
            proven = nil
            interval = max(Self.shortest, interval / 2)
        }
    }
}

/// The paces of the networks that a device was in, the last few of them.
struct KeepAlivePaces: Equatable, Sendable {
    static let most = 16
    private var known: [(network: String, pace: KeepAlivePace)] = []

    subscript(network: String) -> KeepAlivePace {
        get { known.first { $0.network == network }?.pace ?? KeepAlivePace() }
        set {
            known.removeAll { $0.network == network }
            known.append((network, newValue))
            if known.count > Self.most { known.removeFirst() }
        }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.known.elementsEqual(right.known) { $0.network == $1.network && $0.pace == $1.pace }
    }
}

/// How long to stay away after a connection that could not be had: a random part of a span that
/// doubles, so that devices that lost their gateway together do not come back together.
package struct ReconnectPace: Equatable, Sendable {
    package static let first = Interval.seconds(1)
    package static let longest = Interval.minutes(15)
    private var failures = 0

    package init() {}

    package mutating func failed(_ random: inout SeededRandom) -> Interval {
        let span = min(Self.first * (1 << Int64(min(failures, 20))), Self.longest)
        failures += 1
        return Interval(nanoseconds: random.within(0...span.nanoseconds))
    }

    package mutating func succeeded() { failures = 0 }
}
