package import Vocabulary

/// How a sender of Web Push says who it is (VAPID, RFC 8292): a token signed by its own key.
package struct VapidToken: Equatable, Sendable {
    /// A point of P-256, 65 bytes.
    package let key: [UInt8]
    package let audience: [String]
    /// Seconds since 1970.
    package let expiration: Int64
    package let signed: [UInt8]
    package let signature: [UInt8]

    /// The longest that a token may be in force.
    private static let longest = Interval.days(1)

    /// `field`: that of `authorization`. Nil for what is no such token.
    package init?(_ field: ArraySlice<UInt8>) {
        guard let (text, key) = Self.parameters(field), let token = SignedToken(text),
            let point = Base64.decode(key), point.count == 65, point[0] == 4,
            let expiration = token.seconds("exp")
        else { return nil }
        guard let said = token.claims["aud"] else { return nil }
        audience = (said.listValue ?? [said]).compactMap(\.stringValue)
        (self.key, self.expiration) = (point, expiration)
        (signed, signature) = (token.signed, token.signature)
    }

    /// `vapid t=TOKEN, k=KEY`, in any order.
    private static func parameters(
        _ field: ArraySlice<UInt8>
    ) -> (token: ArraySlice<UInt8>, key: ArraySlice<UInt8>)? {
        let scheme = Array("vapid ".utf8)
        guard field.count > scheme.count, zip(field, scheme).allSatisfy({ lowered($0) == $1 })
        else { return nil }
        var token: ArraySlice<UInt8>?
        var key: ArraySlice<UInt8>?
        for part in field.dropFirst(scheme.count).split(separator: UInt8(ascii: ",")) {
            let trimmed = part.drop { $0 == 0x20 || $0 == 0x09 }
            guard let name = trimmed.first, trimmed.dropFirst().first == UInt8(ascii: "=") else {
                return nil
            }
            let value = Self.unquoted(trimmed.dropFirst(2))
            if name == UInt8(ascii: "t"), token == nil {
                token = value
            } else if name == UInt8(ascii: "k"), key == nil {
                key = value
            } else {
                return nil
            }
        }
        guard let token, let key else { return nil }
        return (token, key)
    }

    private static func unquoted(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var value = value
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        let quote = UInt8(ascii: "\"")
        guard value.count >= 2, value.first == quote, value.last == quote else { return value }
        return value.dropFirst().dropLast()
    }

    /// Why it does not serve, its signature being right. `sender`: whose the subscription is.
    package func refusal(
        origin: String,
        sender: [UInt8]?,
        at now: WallTime
    ) -> WebPushReason? {
        guard audience.contains(where: { Self.canonical($0) == Self.canonical(origin) }) else {
            return .badVapid
        }
        let left = WallTime(nanoseconds: Interval.seconds(expiration).nanoseconds) - now
        guard left > .zero else { return .expiredVapid }
        // What clocks differ is not the sender's fault.
        guard left <= Self.longest + .minutes(10) else { return .badVapid }
        if let sender, sender != WebPushAddress.compressed(key) { return .otherSender }
        return nil
    }

    /// An origin in one spelling.
    static func canonical(_ origin: String) -> String {
        var text = origin.lowercased()
        if text.hasSuffix("/") { text.removeLast() }
        if text.hasPrefix("https://"), text.hasSuffix(":443") { text.removeLast(4) }
        return text
    }
}
