package import Vocabulary

/// What the providers' side allows; each a setting.
package struct SenderLimits: Equatable, Sendable {
    package var connections = 10_000
    /// Of one address: connections, and those that are still being set up.
    package var perAddress = 200
    package var handshakesPerAddress = 100
    /// Requests at once on one connection.
    package var streams = 1000
    package var handshakeTime = Interval.seconds(10)
    package var requestTime = Interval.seconds(30)
    package var idleTime = Interval.hours(2)
    /// The same for a connection that has not shown who sends.
    package var proofTime = Interval.seconds(30)
    /// How long a peer may read nothing of its answers.
    package var stallTime = Interval.seconds(30)
    /// Bytes of requests that are not whole yet, of all connections.
    package var requestMemory = 64 << 20

    package init() {}

    /// The number of requests at once that is announced to a connection that has not shown who
    /// sends. More are taken all the same: a client may send before it reads the announcement.
    package static let streamsAtFirst = 1
    /// Bytes of requests that are not whole yet, of one connection.
    package var memoryOfOne: Int { requestMemory / 4 }
    /// Bytes of a request's body that are kept: what is longer is refused for its length.
    package static let body = 5120
}
