import Vocabulary

/// A push as a provider asks for it: the fields of its request, as they came.
package struct PushRequest: Sendable {
    package var topic: ArraySlice<UInt8>?
    package var pushType: ArraySlice<UInt8>?
    package var id: ArraySlice<UInt8>?
    package var expiration: ArraySlice<UInt8>?
    package var priority: ArraySlice<UInt8>?
    package var collapseID: ArraySlice<UInt8>?
    package var payload: [UInt8] = []
    /// The payload was longer than is ever taken.
    package var isCutOff = false

    package init() {}

    /// What the fields say, before anyone looks who sends and to whom.
    package struct Fields: Equatable, Sendable {
        package var id: PushUUID?
        /// The bundle identifier; nil: that of the certificate.
        package var bundle: String?
        /// What the provider said; nil: to be found from the topic and the payload.
        package var type: PushType?
        package var priority: PushPriority?
        package var expiration: PushExpiration?
        package var collapseID: [UInt8]

        /// Who names no topic means the first of the certificate that fits.
        package mutating func assumeTopic(of certificate: ProviderCertificate) throws(Reason) {
            guard bundle == nil else { return }
            for topic in certificate.topics {
                guard let split = PushType.split(topic: Array(topic.utf8)[...], type: type) else {
                    continue
                }
                bundle = split.bundle
                if split.type != .alert { type = split.type }
                return
            }
            throw .invalidPushType
        }
    }

    /// Checks the fields, in this order: id, topic, collapse id, priority, push type, expiration.
    package func fields() throws(Reason) -> Fields {
        var fields = Fields(collapseID: [])
        if let id {
            guard let uuid = PushUUID(id) else { throw .badMessageID }
            fields.id = uuid
        }
        if let topic { try Self.check(topic: topic) }
        if let collapseID {
            guard collapseID.count <= 64 else { throw .badCollapseID }
            fields.collapseID = Array(collapseID)
        }
        if let priority {
            guard let number = Self.number(priority), number <= 10,
                let known = PushPriority(rawValue: UInt8(number))
            else { throw .badPriority }
            fields.priority = known
        }
        if let pushType {
            guard let type = PushType(pushType) else { throw .invalidPushType }
            // It is for what may wait; 10 would be an error at every device.
            if type == .background, fields.priority == .immediate { throw .badPriority }
            fields.type = type
        }
        if let topic {
            guard let split = PushType.split(topic: topic, type: fields.type) else {
                throw fields.type == nil ? .badTopic : .invalidPushType
            }
            fields.bundle = split.bundle
            if fields.type == nil, split.type != .alert { fields.type = split.type }
        }
        if let expiration {
            guard let seconds = Self.number(expiration) else { throw .badExpirationDate }
            fields.expiration =
                seconds == 0
                ? .once : .until(WallTime(nanoseconds: Interval.seconds(seconds).nanoseconds))
        }
        return fields
    }

    /// A bundle identifier with or without a suffix: letters, digits, `-`, `_` and `.`.
    private static func check(topic: ArraySlice<UInt8>) throws(Reason) {
        guard !topic.isEmpty else { throw .missingTopic }
        guard topic.allSatisfy(isTopic(byte:)), topic.count <= 255, topic.first != UInt8(ascii: ".")
        else { throw .badTopic }
    }

    /// Whether a bundle identifier, or a topic, may have it.
    package static func isTopic(byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Decimal digits only; nil for anything else.
    static func number(_ text: some Collection<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= 12 else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return number
    }

    /// What the payload makes of the push: its type, its priority, and whether it only wakes.
    package struct Nature: Equatable, Sendable {
        package var type: PushType
        package var priority: PushPriority
        package var isSilent: Bool
        /// Type and priority were not said, and are those of a background push.
        package var isAssumedBackground: Bool
    }

    /// Checks the payload: there is one, not too long, one JSON object. What is no JSON has no
    /// reason of its own in the interface; it counts as empty.
    package static func nature(
        of fields: Fields,
        _ payload: [UInt8],
        isCutOff: Bool
    ) throws(Reason) -> Nature {
        guard !payload.isEmpty || isCutOff else { throw .payloadEmpty }
        let type = fields.type ?? .alert
        guard !isCutOff, payload.count <= type.payloadLimit else { throw .payloadTooLarge }
        guard let scan = PayloadScan(payload) else { throw .payloadEmpty }
        if fields.type == nil, scan.isSilent {
            return Nature(
                type: .background,
                priority: fields.priority == .passive ? .passive : .considerate,
                isSilent: true,
                isAssumedBackground: true
            )
        }
        let priority = fields.priority ?? (type == .background ? .considerate : .immediate)
        return Nature(
            type: type,
            priority: priority,
            isSilent: type == .background || type == .alert && scan.isSilent,
            isAssumedBackground: false
        )
    }
}
