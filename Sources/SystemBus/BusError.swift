import CSystemd
internal import Glibc

/// Why a connection, a call or a message failed.
package struct BusError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// Nobody listens at the address, or there is no such bus.
        case notListening
        /// No answer within the time given.
        case timedOut
        /// The connection is closed, or was while an answer was awaited.
        case disconnected
        /// The peer's answer is an error of this D-Bus name.
        case refused(String)
        /// A value does not fit its D-Bus type, or D-Bus has no such value.
        case unsuitable
        /// More, larger or deeper than the limits allow.
        case tooLarge
        /// Another error of the system, by its number.
        case system(Int32)
    }

    package let reason: Reason
    /// What was being done: `connect`, `call`, `encode`, or the function of sd-bus.
    package let operation: String
    /// The address, or interface and member.
    package let subject: String
    /// The peer's or the system's own words.
    package let message: String
    /// Of an attempt to connect: the user who listens there. Nil: not known.
    package let listener: UInt32?

    package init(
        _ reason: Reason,
        _ operation: String,
        _ subject: String,
        _ message: String,
        listener: UInt32? = nil
    ) {
        self.reason = reason
        self.operation = operation
        self.subject = subject
        self.message = message
        self.listener = listener
    }
}

extension BusError: CustomStringConvertible {
    package var description: String { "\(operation) \(subject): \(message)" }
}

extension BusError {
    /// From what a function of sd-bus returned: a negative error number.
    init(_ code: Int32, _ operation: String, _ subject: String) {
        let number = -code
        let reason: Reason =
            switch number {
            case ENOENT, ECONNREFUSED, ENOMEDIUM: .notListening
            case ETIMEDOUT, ETIME: .timedOut
            case ECONNRESET, ENOTCONN, EPIPE, ESHUTDOWN, ECONNABORTED: .disconnected
            default: .system(number)
            }
        self.init(reason, operation, subject, Self.text(number))
    }

    static func text(_ number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(number, &buffer, buffer.count) == 0 else {
            return "error \(number)"
        }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }
}

/// Passes on what a function of sd-bus returned, or throws when it was negative.
@discardableResult
func check(
    _ code: Int32,
    _ operation: String,
    _ subject: @autoclosure () -> String = ""
) throws(BusError) -> Int32 {
    guard code < 0 else { return code }
    throw BusError(code, operation, subject())
}
