import GatewayCore
import HTTP2

/// The fields of a provider's request, found in one pass.
struct RequestFields {
    var path: ArraySlice<UInt8> = []
    var requestID: ArraySlice<UInt8>?
    var channelID: ArraySlice<UInt8>?
    /// The fields of pushes.
    var arrival = PushArrival()

    var method: ArraySlice<UInt8> { arrival.method }
    var authorization: ArraySlice<UInt8>? { arrival.authorization }

    init(_ message: HTTP2Message) {
        let headers = message.headers
        arrival.push.payload = message.body
        arrival.push.isCutOff = message.isCutOff
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
        var isDouble = false
        switch kind {
        case .method: arrival.method = value
        case .path: path = value
        case .authorization: isDouble = Self.isSet(&arrival.authorization, value)
        case .id: isDouble = Self.isSet(&arrival.push.id, value)
        case .topic: isDouble = Self.isSet(&arrival.push.topic, value)
        case .type: isDouble = Self.isSet(&arrival.push.pushType, value)
        case .expiration: isDouble = Self.isSet(&arrival.push.expiration, value)
        case .priority: isDouble = Self.isSet(&arrival.push.priority, value)
        case .collapse: isDouble = Self.isSet(&arrival.push.collapseID, value)
        case .requestID: isDouble = Self.isSet(&requestID, value)
        case .channelID: isDouble = Self.isSet(&channelID, value)
        }
        if isDouble { arrival.hasDuplicate = true }
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
