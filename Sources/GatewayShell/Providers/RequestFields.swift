import GatewayCore
import HTTP2

/// The fields of a provider's request, found in one pass.
struct RequestFields {
    var method: ArraySlice<UInt8> = []
    var path: ArraySlice<UInt8> = []
    var authorization: ArraySlice<UInt8>?
    var requestID: ArraySlice<UInt8>?
    var channelID: ArraySlice<UInt8>?
    var push = PushRequest()
    /// A field that may come once came twice.
    var hasDuplicate = false

    init(_ headers: HeaderBlock) {
        for index in 0..<headers.count {
            let name = headers.name(at: index)
            guard let kind = Kind(name) else { continue }
            set(kind, headers.value(at: index))
        }
    }

    private enum Kind {
        case method, path, authorization, id, topic, type, expiration, priority, collapse
        case requestID, channelID

        init?(_ name: ArraySlice<UInt8>) {
            // The length tells nearly all of them apart.
            let (text, kind): (StaticString, Kind) =
                switch name.count {
                case 5: (":path", .path)
                case 7: name.first == UInt8(ascii: ":") ? (":method", .method) : ("apns-id", .id)
                case 10: ("apns-topic", .topic)
                case 13:
                    name.first == UInt8(ascii: "a") && name.dropFirst().first == UInt8(ascii: "p")
                        ? ("apns-priority", .priority) : ("authorization", .authorization)
                case 14: ("apns-push-type", .type)
                case 15:
                    name.dropFirst(5).first == UInt8(ascii: "e")
                        ? ("apns-expiration", .expiration)
                        : name.dropFirst(5).first == UInt8(ascii: "r")
                            ? ("apns-request-id", .requestID) : ("apns-channel-id", .channelID)
                case 16: ("apns-collapse-id", .collapse)
                default: ("", .path)
                }
            guard name.count == text.utf8CodeUnitCount, !name.isEmpty else { return nil }
            var index = name.startIndex
            for byte in text.description.utf8 {
                if name[index] != byte { return nil }
                index += 1
            }
            self = kind
        }
    }

    private mutating func set(_ kind: Kind, _ value: ArraySlice<UInt8>) {
        switch kind {
        case .method: method = value
        case .path: path = value
        case .authorization: hasDuplicate = Self.isSet(&authorization, value) || hasDuplicate
        case .id: hasDuplicate = Self.isSet(&push.id, value) || hasDuplicate
        case .topic: hasDuplicate = Self.isSet(&push.topic, value) || hasDuplicate
        case .type: hasDuplicate = Self.isSet(&push.pushType, value) || hasDuplicate
        case .expiration: hasDuplicate = Self.isSet(&push.expiration, value) || hasDuplicate
        case .priority: hasDuplicate = Self.isSet(&push.priority, value) || hasDuplicate
        case .collapse: hasDuplicate = Self.isSet(&push.collapseID, value) || hasDuplicate
        case .requestID: hasDuplicate = Self.isSet(&requestID, value) || hasDuplicate
        case .channelID: hasDuplicate = Self.isSet(&channelID, value) || hasDuplicate
        }
    }

    /// Sets a field; true if it is there already.
    private static func isSet(
        _ field: inout ArraySlice<UInt8>?,
        _ value: ArraySlice<UInt8>
    ) -> Bool {
        if field != nil { return true }
        field = value
        return false
    }
}
