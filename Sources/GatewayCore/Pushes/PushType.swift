/// `apns-push-type`.
package enum PushType: UInt8, CaseIterable, Sendable {
    case alert = 1
    case background
    case voip
    case complication
    case fileprovider
    case location
    case liveactivity
    case widgets
    case controls
    case pushtotalk
    case mdm

    package var name: String {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .voip: "voip"
        case .complication: "complication"
        case .fileprovider: "fileprovider"
        case .location: "location"
        case .liveactivity: "liveactivity"
        case .widgets: "widgets"
        case .controls: "controls"
        case .pushtotalk: "pushtotalk"
        case .mdm: "mdm"
        }
    }

    package init?(_ name: some Collection<UInt8>) {
        guard let type = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name) }) else {
            return nil
        }
        self = type
    }

    /// What follows the bundle identifier in `apns-topic`.
    package var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        case .pushtotalk: ".voip-ptt"
        }
    }

    /// The largest body, in bytes.
    package var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Suffixes by which a topic without a type says what it is for, the longest first.
    private static let suffixed: [PushType] = [
        .liveactivity, .fileprovider, .widgets, .controls, .complication, .location, .pushtotalk,
        .voip,
    ]

    /// A topic as bundle identifier and type. `type` is what the provider said; nil: the topic
    /// says it, and `alert` is meant where it does not. Nil when the two do not fit.
    package static func split(topic: String, type: PushType?) -> (bundle: String, type: PushType)? {
        if let type {
            let suffix = type.topicSuffix
            guard topic.hasUTF8Suffix(suffix) else { return nil }
            // `org.example.App.voip` is not a topic of alerts.
            if suffix.isEmpty, suffixed.contains(where: { topic.hasUTF8Suffix($0.topicSuffix) }) {
                return nil
            }
            return (topic.dropping(suffix), type)
        }
        for type in suffixed where topic.hasUTF8Suffix(type.topicSuffix) {
            return (topic.dropping(type.topicSuffix), type)
        }
        return (topic, .alert)
    }
}

extension String {
    fileprivate func hasUTF8Suffix(_ suffix: String) -> Bool {
        utf8.count > suffix.utf8.count
            && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    fileprivate func dropping(_ suffix: String) -> String {
        suffix.isEmpty ? self : String(Substring(utf8.dropLast(suffix.utf8.count)))
    }
}

/// `apns-priority`.
package enum PushPriority: UInt8, Sendable {
    /// Never wakes the device: it rides on what goes there anyway.
    case passive = 1
    /// As the device's power allows.
    case considerate = 5
    /// Now.
    case immediate = 10
}
