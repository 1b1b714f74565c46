/// A request, or the response to one, whole.
package struct HTTP2Message: Sendable {
    package let stream: Int32
    package let headers: HeaderBlock
    /// At most so many bytes as the limits allow.
    package let body: [UInt8]
    /// The body is longer than the limit; what follows is not kept.
    package let isCutOff: Bool
}

/// What a session allows its peer. Everything beyond ends the stream or the connection.
package struct HTTP2Limits: Sendable {
    /// Streams open at a time.
    package var streams: UInt32 = 1000
    /// What the peer is told at first, until `allowAllStreams`; nil: `streams`. More than this is
    /// taken all the same: a client may be faster than our settings, and some wait for ever when a
    /// stream is refused.
    package var announcedStreams: UInt32?
    /// Bytes of a header list, counted as in RFC 9113.
    package var headerList = 8000
    /// Bytes of a body that are kept.
    package var body = 8192
    /// Bytes that the peer may send ahead: of a stream, and of the whole connection.
    package var streamWindow: UInt32 = 65_535
    package var connectionWindow: Int32 = 1 << 20
    /// Bytes of the table that remembers header fields.
    package var headerTable: UInt32 = 4096
    /// Bytes of messages that are not whole yet, and as long as not all streams are allowed. A
    /// request that finds no room is turned away.
    package var unfinished = 16 << 20
    package var unfinishedAtFirst = 128 << 10
    /// Nil: nghttp2's own.
    package var floods: Floods?

    /// What ends the connection of a peer that sends more.
    package struct Floods: Sendable {
        /// Resets: so many at once, and so many a second.
        let resetBurst: UInt64
        let resetRate: UInt64
        /// Frames of one header block after its first.
        let continuations: Int
        /// PINGs and SETTINGS of which the acknowledgement has not been taken for sending.
        let acknowledgements: Int

        package init(
            resetBurst: UInt64,
            resetRate: UInt64,
            continuations: Int,
            acknowledgements: Int
        ) {
            (self.resetBurst, self.resetRate) = (resetBurst, resetRate)
            (self.continuations, self.acknowledgements) = (continuations, acknowledgements)
        }
    }

    package init() {}
}

/// What a session received, counted as it came.
package struct HTTP2Traffic: Sendable {
    /// Frames of any kind.
    package internal(set) var frames = 0
    /// Those of them with headers, which open a stream.
    package internal(set) var openings = 0
    /// Pieces of bodies.
    package internal(set) var pieces = 0
    /// Whole messages.
    package internal(set) var messages = 0
    /// Header lists that were decoded, and are beyond the limit.
    package internal(set) var wastedHeaders = 0
}

/// What the messages that are not whole yet, of several sessions, may take together, and do.
package final class HTTP2Memory {
    package var limit: Int
    package internal(set) var used = 0

    package init(limit: Int) { self.limit = limit }
}

/// Who is told what a session received. Called from within `receive`.
package protocol HTTP2Handler: AnyObject {
    /// A message is complete, or longer than is taken.
    func received(_ message: HTTP2Message)
    /// There is no room for the rest of a request, which is to be answered at once.
    func turnedAway(_ stream: Int32)
    /// A stream is over before its message was, or before it was answered.
    func broken(_ stream: Int32, _ code: HTTP2Code)
    /// The peer takes no streams after `lastStream`, for this reason.
    func saidGoodbye(lastStream: Int32, _ code: HTTP2Code, _ reason: [UInt8])
    /// The peer answered the PING that `ping` sent.
    func answeredPing()
}

extension HTTP2Handler {
    package func answeredPing() {}
}
