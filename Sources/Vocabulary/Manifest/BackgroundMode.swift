/// What a manifest may ask for in `BackgroundModes`; in the order of the table in the documents.
package enum BackgroundMode: String, CaseIterable, Codable, Sendable, Comparable {
    case fetch
    case processing
    case remoteNotification = "remote-notification"
    case voip
    case newsstandContent = "newsstand-content"
    case location
    case audio
    case bluetooth
    case accessory
    case health
    case watch
    case intent
    case networkAuthentication = "network-authentication"

    /// What sets a mode off and what it gives, in words: `offstage modes` and the documents.
    package struct Description: Hashable, Sendable {
        package let trigger: String
        package let grant: String
        package let rate: String
        package let appGets: String
        /// What else an `Info.plist` calls this mode.
        package var aliases: [String] = []
        /// Whether a `WakeOn-MODE` key gives the D-Bus match rules that wake the app.
        package var hasWakeRules = false
    }

    package var description: Description {
        switch self {
        case .fetch:
            Description(
                trigger: "scheduler",
                grant: "30 s",
                rate: "learned, within the refresh budget",
                appGets: "nothing"
            )
        case .processing:
            Description(
                trigger: "scheduler",
                grant: "minutes",
                rate: "conditions",
                appGets: "nothing"
            )
        case .remoteNotification: .push(rate: "bucket")
        case .voip:
            Description(
                trigger: "VoIP push",
                grant: "call",
                rate: "strikes",
                appGets: "the payload"
            )
        case .newsstandContent: .push(rate: "1 a day")
        case .location:
            Description(
                trigger: "region, significant change, continuous",
                grant: "30 s, or while it lasts",
                rate: "12 an hour",
                appGets: "the event"
            )
        case .audio:
            Description(
                trigger: "a playing stream",
                grant: "while it lasts",
                rate: "–",
                appGets: "nothing"
            )
        case .bluetooth: .wakeOn("bluetooth", ["bluetooth-central", "bluetooth-peripheral"])
        case .accessory: .wakeOn("accessory", ["external-accessory"])
        case .health: .wakeOn("health")
        case .watch: .wakeOn("watch")
        case .intent: .wakeOn("intent")
        case .networkAuthentication:
            Description(
                trigger: "NetworkManager reports a captive portal",
                grant: "30 s",
                rate: "once per portal",
                appGets: "the network's name"
            )
        }
    }

    /// The mode that a manifest calls `name`, by its own name or an alias.
    package init?(name: String) {
        let named = BackgroundMode(rawValue: name)
        let mode = named ?? Self.allCases.first { $0.description.aliases.contains(name) }
        guard let mode else { return nil }
        self = mode
    }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (left: BackgroundMode, right: BackgroundMode) -> Bool {
        left.position < right.position
    }
}

extension BackgroundMode.Description {
    fileprivate static func push(rate: String) -> Self {
        Self(
            trigger: "push with content-available",
            grant: "30 s",
            rate: rate,
            appGets: "the payload"
        )
    }

    fileprivate static func wakeOn(_ mode: String, _ aliases: [String] = []) -> Self {
        Self(
            trigger: "WakeOn-\(mode)= D-Bus match rule",
            grant: "30 s",
            rate: "12 an hour",
            appGets: "the matched signal",
            aliases: aliases,
            hasWakeRules: true
        )
    }
}
