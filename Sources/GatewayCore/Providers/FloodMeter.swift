/// What one connection sent in HTTP/2, as counted while it was read.
package struct SenderTraffic: Equatable, Sendable {
    /// Frames of any kind.
    package var frames = 0
    /// Those of them that open a stream.
    package var openings = 0
    /// Pieces of bodies.
    package var pieces = 0
    /// Whole requests.
    package var requests = 0
    /// Header lists that were decoded for nothing, because they are beyond the limit.
    package var wastedHeaders = 0

    package init() {}
}

/// What a connection may do at most of what costs the reader more than the sender. nghttp2 ends the
/// connection at these.
package enum FloodLimits {
    /// Requests that the sender takes back: so many at once, and so many a second.
    package static let resetBurst: UInt64 = 1000
    package static let resetRate: UInt64 = 33
    /// Frames of one header block after its first.
    package static let continuations = 8
    /// PINGs and SETTINGS of which the acknowledgement has not been taken for sending. An honest
    /// sender has one or two.
    package static let acknowledgements = 16
}

/// How much of what one connection sends brings no request further. Requests bring frames of other
/// kinds along, and a little for nothing is no flood.
package struct FloodMeter: Sendable {
    /// Frames for nothing; below zero as long as requests outweigh them.
    private var balance = 0

    /// So many frames for nothing are a flood.
    package static let limit = 2000
    private static let mostCredit = 10_000
    private static let requestCredit = 8
    /// What a wasted header list costs: as much as many frames.
    private static let wastedHeadersCost = 100
    /// Frames that are forgotten each second.
    private static let forgiven = 50

    package init() {}

    /// Whether the connection may go on.
    package mutating func admits(_ traffic: SenderTraffic) -> Bool {
        // A request that is refused is none for nothing, nor its body.
        balance += traffic.frames - 2 * traffic.openings - traffic.pieces
        balance += Self.wastedHeadersCost * traffic.wastedHeaders
        balance -= Self.requestCredit * traffic.requests
        balance = max(-Self.mostCredit, balance)
        return balance <= Self.limit
    }

    /// A second has passed.
    package mutating func secondPassed() {
        if balance > 0 { balance = max(0, balance - Self.forgiven) }
    }
}
