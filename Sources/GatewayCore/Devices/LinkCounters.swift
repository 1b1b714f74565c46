/// What happened on the device side since the start.
package struct LinkCounters: Equatable, Sendable {
    package var accepted: UInt64 = 0
    package var welcomed: UInt64 = 0
    /// Told to come back later.
    package var sentAway: UInt64 = 0
    /// Broke a rule of the link.
    package var refused: UInt64 = 0
    /// Did not read, or were not heard of in time.
    package var tooSlow: UInt64 = 0
    package var failed: UInt64 = 0
    /// Times that no descriptor was left for one more.
    package var unaccepted: UInt64 = 0
    /// Closed at once: their address has as many as one may have.
    package var overAddress: UInt64 = 0
    /// Came as from a load balancer, and did not say for whom.
    package var badHeaders: UInt64 = 0
    /// New devices that were not made known.
    package var unenrolled: UInt64 = 0
    /// Made room for others before they had proved who they are.
    package var displaced: UInt64 = 0
    /// Sent more frames than a device has to.
    package var tooBusy: UInt64 = 0
    package var ended: UInt64 = 0

    package init() {}
}
