import GatewayCore

/// What fails of a store, so that a campaign can see that each kind did.
extension GatewayWorld {
    enum ChangeKind: String, CaseIterable {
        case device, seen, app, removeApp, removeDevice, probe, registration, store, remove
        case channel, removeChannel, broadcast

        init(_ change: StoreBatch.Change) {
            switch change {
            case .device: self = .device
            case .seen: self = .seen
            case .app: self = .app
            case .removeApp: self = .removeApp
            case .removeDevice: self = .removeDevice
            case .probe: self = .probe
            case .registration: self = .registration
            case .store: self = .store
            case .remove: self = .remove
            case .channel: self = .channel
            case .removeChannel: self = .removeChannel
            case .broadcast: self = .broadcast
            }
        }

        /// Under which a failure is counted.
        var name: String { "not written: \(rawValue)" }
    }

    enum QuestionKind: String, CaseIterable {
        case device, record, isKnown, hasApp, push, channels, expired, unseen, unusedApps, log

        init(_ question: StoreQuestion) {
            switch question {
            case .device: self = .device
            case .record: self = .record
            case .isKnown: self = .isKnown
            case .hasApp: self = .hasApp
            case .push: self = .push
            case .channels: self = .channels
            case .expired: self = .expired
            case .unseen: self = .unseen
            case .unusedApps: self = .unusedApps
            case .log: self = .log
            }
        }

        /// One of so many fails: rare ones more often, to be seen at all.
        var odds: UInt64 {
            switch self {
            case .hasApp: 3
            case .isKnown, .unseen, .unusedApps, .log: 6
            case .channels: 20
            case .device, .record, .push, .expired: 60
            }
        }

        /// Under which a failure is counted.
        var name: String { "unreadable: \(rawValue)" }
    }
}
