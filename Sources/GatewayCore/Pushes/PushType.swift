/// What a push is for, mostly by `apns-push-type`.
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
    /// By RFC 8030, whose senders speak another interface: no `apns-push-type`.
    case webpush

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
        case .webpush: "webpush"
        }
    }

    package init?(_ name: some Collection<UInt8>) {
        let known = Self.allCases.first { $0.name.utf8.elementsEqual(name) }
        guard let type = known, type != .webpush else { return nil }
        self = type
    }

    /// What follows the bundle identifier in `apns-topic`.
    package var topicSuffix: StaticString {
        switch self {
        case .alert, .background, .mdm, .webpush: ""
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
    package static func split(
        topic: ArraySlice<UInt8>,
        type: PushType?
    ) -> (bundle: String, type: PushType)? {
        let found = suffixed.first { topic.ends(with: $0.topicSuffix) }
        guard let type else {
            return (topic.text(without: found?.topicSuffix ?? ""), found ?? .alert)
        }
        let suffix = type.topicSuffix
        // `org.example.App.voip` is not a topic of alerts.
        let fits =
            suffix.utf8CodeUnitCount == 0 ? found == nil : topic.ends(with: suffix)
        return fits ? (topic.text(without: suffix), type) : nil
    }
}

extension ArraySlice where Element == UInt8 {
    /// And begins with something else.
    fileprivate func ends(with suffix: StaticString) -> Bool {
        var (index, left) = (endIndex, suffix.utf8CodeUnitCount)
        guard count > left else { return false }
        // Nearly always it is over with the first: from the end, names differ at once.
        while left > 0 {
            (index, left) = (index - 1, left - 1)
            guard unsafe self[index] == suffix.utf8Start[left] else { return false }
        }
        return true
    }

    fileprivate func text(without suffix: StaticString) -> String {
        String(decoding: dropLast(suffix.utf8CodeUnitCount), as: UTF8.self)
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
