internal import CNGHTTP2

/// What nghttp2 refused. After it the session is of no use but to say goodbye.
package struct HTTP2Error: Error, Equatable, Sendable {
    /// The library's own number, below zero.
    package let code: Int32
    /// What was being done.
    package let operation: String
    /// The library's own text.
    package let message: String

    init(_ operation: String, _ code: Int32) {
        self.code = code
        self.operation = operation
        message = unsafe String(cString: nghttp2_strerror(code))
    }

    /// The peer does what only an attack does: header blocks without end, resets without number.
    package var isFlood: Bool { code == NGHTTP2_ERR_FLOODED.rawValue }
}

extension HTTP2Error: CustomStringConvertible {
    package var description: String { "HTTP/2 \(operation): \(message) (\(code))" }
}

/// Why a stream or a connection ends (RFC 9113 section 7).
package struct HTTP2Code: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = HTTP2Code(rawValue: 0)
    package static let cancel = HTTP2Code(rawValue: 8)
    package static let enhanceYourCalm = HTTP2Code(rawValue: 11)
}
