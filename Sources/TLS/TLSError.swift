internal import COpenSSL
internal import Glibc

/// What OpenSSL refused, in its own words.
package struct TLSError: Error, Equatable, Sendable {
    /// What a caller may want to tell apart.
    package enum Kind: Sendable {
        /// The connection broke: reset, or ended in the middle of a handshake.
        case connection
        /// The peer broke the protocol, or said that we did.
        case `protocol`
        /// The peer's certificate is not one that this side trusts.
        case certificate
        /// A text, a key or an argument that is not what it should be.
        case input
        /// No memory, no random bytes, an algorithm that this OpenSSL does not have.
        case library
    }

    package let kind: Kind
    /// The step that failed: `handshake`, `read`, `certificate`.
    package let operation: String
    /// OpenSSL's or the system's own text; may be empty.
    package let message: String
    /// What is wrong with the server's certificate, if that is why a client gave up.
    package let certificate: CertificateProblem?

    package init(_ kind: Kind, _ operation: String, _ message: String = "") {
        (self.kind, self.operation, self.message) = (kind, operation, message)
        certificate = nil
    }

    init(_ operation: String, _ problem: CertificateProblem) {
        (kind, self.operation, message) = (.certificate, operation, "\(problem)")
        certificate = problem
    }

    /// The oldest error that the thread's queue holds; the queue is empty afterwards.
    init(taking operation: String, _ kind: Kind) {
        let (code, text) = Self.take()
        let isCertificate = copenssl_error_is_certificate(code) != 0
        self.init(isCertificate ? .certificate : kind, operation, text)
    }

    /// The peer speaks none of the protocols that were offered (the alert no_application_protocol).
    package var isOtherProtocol: Bool {
        kind == .protocol
            && ["alert number 120", "alert no application protocol"].contains {
                message.contains($0)
            }
    }

    static func take() -> (code: UInt, text: String) {
        var text = [CChar](repeating: 0, count: 256)
        let code = unsafe copenssl_take_error(&text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return (code, String(decoding: bytes, as: UTF8.self))
    }
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        message.isEmpty ? "TLS \(operation) failed" : "TLS \(operation): \(message)"
    }
}

/// Passes on an object that OpenSSL made, or throws why it did not.
func made(
    _ pointer: OpaquePointer?,
    _ operation: String,
    _ kind: TLSError.Kind = .library
) throws(TLSError) -> OpaquePointer {
    guard let pointer = unsafe pointer else { throw TLSError(taking: operation, kind) }
    return unsafe pointer
}

/// Throws unless OpenSSL answered 1.
func check(
    _ result: Int32,
    _ operation: String,
    _ kind: TLSError.Kind = .library
) throws(TLSError) {
    guard result == 1 else { throw TLSError(taking: operation, kind) }
}
