/// What a peer of the device link did wrong. The link ends with the first one.
package enum LinkError: Error, Hashable, Sendable, CaseIterable {
    /// A frame that ends before its fields do.
    case truncated
    /// A frame with something behind its fields.
    case trailing
    /// A frame longer than its kind may be.
    case tooLong
    /// A number in more bytes than it needs, or a bit that means nothing.
    case notCanonical
    /// A kind of frame that this side does not take.
    case unknownKind
    /// A field with a value that it cannot have: a charge of 101 percent, a topic with a space.
    case badValue
    /// A frame that may not come now: a push to acknowledge before the hello, a second hello.
    case outOfOrder
    /// No version that both sides speak.
    case badVersion
    /// A hello whose signature is not the device's for this connection's challenge.
    case badSignature

    /// What `EndReason` tells the peer of it.
    package var reason: EndReason {
        switch self {
        case .truncated, .trailing, .tooLong, .notCanonical, .unknownKind, .badValue: .malformed
        case .outOfOrder: .outOfOrder
        case .badVersion: .badVersion
        case .badSignature: .badSignature
        }
    }
}

/// Why a side ends the link.
package enum EndReason: UInt8, Hashable, Sendable, CaseIterable {
    /// The gateway stops, or goes somewhere else.
    case shutdown = 1
    /// Too many devices come at once.
    case busy
    /// The device has a newer connection.
    case superseded
    /// The device was removed by the operator; it has no registration any more.
    case removed
    /// The device did not read what was sent, or did not keep the link alive.
    case tooSlow
    case malformed
    case outOfOrder
    case badVersion
    case badSignature
    /// The device has no use for the link now.
    case leaving
    /// The gateway does not know the device, and wants to hear its enrolment secret first.
    case notEnrolled
}
