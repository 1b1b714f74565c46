/// What the path of a push subscription says to the gateway: which app on which device, and who
/// alone may send there. Senders see it sealed.
package struct WebPushAddress: Hashable, Sendable {
    package let token: DeviceToken
    /// The sender's public key (RFC 8292), 33 bytes; nil: whoever knows the address may send.
    package let sender: [UInt8]?

    /// Told by the seal apart from device tokens.
    package static let purpose = Array("web push".utf8)
    /// The longest text of a sealed one.
    package static let textLimit = 128

    /// `key`: a point of P-256, 65 bytes; empty: anyone.
    package init(_ token: DeviceToken, key: [UInt8]) {
        self.token = token
        sender = key.isEmpty ? nil : Self.compressed(key)
    }

    package var bytes: [UInt8] { token.bytes + (sender ?? []) }

    /// Nil for what is none.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 || bytes.count == 49,
            let token = DeviceToken(bytes: bytes.prefix(16))
        else { return nil }
        self.token = token
        sender = bytes.count == 16 ? nil : Array(bytes.dropFirst(16))
    }

    /// A point by one of its coordinates and the parity of the other (SEC 1).
    package static func compressed(_ point: [UInt8]) -> [UInt8] {
        [2 | (point.last ?? 0) & 1] + point.dropFirst().prefix(32)
    }
}
