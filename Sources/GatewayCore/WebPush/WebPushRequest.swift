package import Vocabulary

/// A Web Push as its sender asks for it (RFC 8030): the fields of its request, as they came.
package struct WebPushRequest: Sendable {
    package private(set) var ttl: ArraySlice<UInt8>?
    package private(set) var urgency: ArraySlice<UInt8>?
    package private(set) var topic: ArraySlice<UInt8>?
    package private(set) var encoding: ArraySlice<UInt8>?
    package private(set) var authorization: ArraySlice<UInt8>?
    /// A field that may come once came twice.
    package private(set) var hasDuplicate = false

    /// The one encryption that needs no further fields (RFC 8188, RFC 8291).
    package static let encoding = "aes128gcm"
    /// RFC 8030 section 7.2 asks for no less.
    package static let bodyLimit = 4096

    package init() {}

    /// Takes a field if it is one of these; `name` in small letters.
    package mutating func add(_ name: some Collection<UInt8>, _ value: ArraySlice<UInt8>) {
        if name.elementsEqual("ttl".utf8) {
            hasDuplicate = Self.isSet(&ttl, value) || hasDuplicate
        } else if name.elementsEqual("urgency".utf8) {
            hasDuplicate = Self.isSet(&urgency, value) || hasDuplicate
        } else if name.elementsEqual("topic".utf8) {
            hasDuplicate = Self.isSet(&topic, value) || hasDuplicate
        } else if name.elementsEqual("content-encoding".utf8) {
            hasDuplicate = Self.isSet(&encoding, value) || hasDuplicate
        } else if name.elementsEqual("authorization".utf8) {
            hasDuplicate = Self.isSet(&authorization, value) || hasDuplicate
        }
    }

    /// Sets a field; true if it was there already.
    private static func isSet(
        _ field: inout ArraySlice<UInt8>?,
        _ value: ArraySlice<UInt8>
    ) -> Bool {
        defer { field = value }
        return field != nil
    }

    /// What the fields say.
    package struct Fields: Equatable, Sendable {
        /// Seconds; 0: one attempt, never stored.
        package var ttl: Int64
        package var priority: PushPriority
        /// The topic: what it replaces.
        package var collapseID: [UInt8]
        /// Of the body; empty: it is not encrypted.
        package var encoding: [UInt8]

        package func expiration(at now: WallTime, _ limits: GatewayLimits) -> PushExpiration {
            ttl == 0 ? .once : .until(now + .seconds(granted(limits)))
        }

        /// The seconds that it is kept at most: RFC 8030 lets us say fewer than were asked for.
        package func granted(_ limits: GatewayLimits) -> Int64 {
            min(ttl, limits.storage.wholeSeconds)
        }
    }

    /// Checks the fields, in this order: all once, time to live, urgency, topic, encoding.
    package func fields() throws(WebPushReason) -> Fields {
        guard !hasDuplicate else { throw .duplicateHeaders }
        guard let ttl else { throw .missingTTL }
        guard let seconds = Self.seconds(ttl) else { throw .badTTL }
        var priority = PushPriority.immediate
        if let urgency {
            guard let named = Self.priority(urgency) else { throw .badUrgency }
            priority = named
        }
        if let topic {
            guard (1...32).contains(topic.count), topic.allSatisfy(Self.isURLSafe) else {
                throw .badTopic
            }
        }
        if let encoding, !encoding.isEmpty, !Self.isSame(encoding, Self.encoding) {
            throw .unsupportedEncoding
        }
        return Fields(
            ttl: seconds,
            priority: priority,
            collapseID: topic.map(Array.init) ?? [],
            encoding: (encoding ?? []).isEmpty ? [] : Array(Self.encoding.utf8)
        )
    }

    /// However many digits: more than we keep is not an error.
    private static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        if digits.isEmpty { return text.isEmpty ? nil : 0 }
        if digits.count <= 12 { return PushRequest.number(digits) }
        let isNumber = digits.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return isNumber ? 1_000_000_000_000 : nil
    }

    /// What the states of a device in RFC 8030 section 5.3 come to here.
    private static func priority(_ urgency: ArraySlice<UInt8>) -> PushPriority? {
        if isSame(urgency, "very-low") { return .passive }
        if isSame(urgency, "low") { return .considerate }
        if isSame(urgency, "normal") || isSame(urgency, "high") { return .immediate }
        return nil
    }

    /// Letters of either size are the same in these.
    private static func isSame(_ text: ArraySlice<UInt8>, _ word: String) -> Bool {
        text.count == word.utf8.count && zip(text, word.utf8).allSatisfy { lowered($0) == $1 }
    }

    private static func isURLSafe(_ byte: UInt8) -> Bool {
        switch lowered(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// What a device gets: which encoding the body has (its length in front), and the body.
    package static func payload(_ encoding: [UInt8], _ body: [UInt8]) -> [UInt8] {
        [UInt8(encoding.count)] + encoding + body
    }
}

/// A capital letter as a small one.
func lowered(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
