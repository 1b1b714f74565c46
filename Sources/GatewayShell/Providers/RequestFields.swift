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
            guard let kind = Kind(headers, index) else { continue }
            set(kind, headers.value(at: index))
        }
    }

    private enum Kind {
        case method, path, authorization, id, topic, type, expiration, priority, collapse
        case requestID, channelID

        init?(_ headers: HeaderBlock, _ index: Int) {
            // The length tells nearly all of them apart, one character the others.
            let count = headers.nameCount(at: index)
            let sign = headers.nameByte(at: index, count == 15 ? 5 : 1)
            let (text, kind): (StaticString, Kind) =
                switch (count, sign) {
                case (5, _): (":path", .path)
                case (7, UInt8(ascii: "m")): (":method", .method)
                case (7, _): ("apns-id", .id)
                case (10, _): ("apns-topic", .topic)
                case (13, UInt8(ascii: "p")): ("apns-priority", .priority)
                case (13, _): ("authorization", .authorization)
                case (14, _): ("apns-push-type", .type)
                case (15, UInt8(ascii: "e")): ("apns-expiration", .expiration)
                case (15, UInt8(ascii: "r")): ("apns-request-id", .requestID)
                case (15, _): ("apns-channel-id", .channelID)
                case (16, _): ("apns-collapse-id", .collapse)
                default: ("", .path)
                }
            guard count > 0, headers.isName(at: index, text) else { return nil }
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
