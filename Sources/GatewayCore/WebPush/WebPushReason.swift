/// Why a Web Push is refused (RFC 8030, RFC 8292), each with its status.
package enum WebPushReason: String, Error, CaseIterable, Sendable {
    case badRequest = "BadRequest"
    case duplicateHeaders = "DuplicateHeaders"
    case missingTTL = "MissingTTL"
    case badTTL = "BadTTL"
    case badUrgency = "BadUrgency"
    case badTopic = "BadTopic"
    /// The subscription is for one sender, who must say that it is.
    case missingVapid = "MissingVapid"
    /// What was said is no proof: not well-formed, not signed by its key, for another audience.
    case badVapid = "BadVapid"
    case expiredVapid = "ExpiredVapid"
    /// The subscription is for another sender.
    case otherSender = "OtherSender"
    case noSubscription = "NoSubscription"
    case methodNotAllowed = "MethodNotAllowed"
    /// The subscription was given up.
    case gone = "Gone"
    case lengthRequired = "LengthRequired"
    case payloadTooLarge = "PayloadTooLarge"
    case unsupportedEncoding = "UnsupportedEncoding"
    case tooManyRequests = "TooManyRequests"
    case headersTooLarge = "HeadersTooLarge"
    case serviceUnavailable = "ServiceUnavailable"
    case versionNotSupported = "VersionNotSupported"

    package var status: Int {
        switch self {
        case .badRequest, .duplicateHeaders, .missingTTL, .badTTL, .badUrgency, .badTopic: 400
        case .missingVapid: 401
        case .badVapid, .expiredVapid, .otherSender: 403
        case .noSubscription: 404
        case .methodNotAllowed: 405
        case .gone: 410
        case .lengthRequired: 411
        case .payloadTooLarge: 413
        case .unsupportedEncoding: 415
        case .tooManyRequests: 429
        case .headersTooLarge: 431
        case .serviceUnavailable: 503
        case .versionNotSupported: 505
        }
    }

    /// What the status must be told with.
    package var field: (name: String, value: String)? {
        switch self {
        case .missingVapid: ("www-authenticate", "vapid")
        case .methodNotAllowed: ("allow", "POST")
        case .unsupportedEncoding: ("accept-encoding", WebPushRequest.encoding)
        case .tooManyRequests: ("retry-after", "1")
        case .serviceUnavailable: ("retry-after", "30")
        case .badRequest, .duplicateHeaders, .missingTTL, .badTTL, .badUrgency, .badTopic,
            .badVapid, .expiredVapid, .otherSender, .noSubscription, .gone, .lengthRequired,
            .payloadTooLarge, .headersTooLarge, .versionNotSupported:
            nil
        }
    }
}
