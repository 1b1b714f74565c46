import Vocabulary

/// What can start, or prolong, an app's run in the background: a column of the gate table.
package enum Trigger: String, CaseIterable, Hashable, Sendable, Codable {
    case refresh, processing, continued, push, voip
    case discretionaryTransfer, transfer, transferEvents
    case location, mode, notificationAction, finishUp

    /// The letter of the column.
    package var letter: String {
        switch self {
        case .refresh: "F"
        case .processing: "P"
        case .continued: "C"
        case .push: "S"
        case .voip: "V"
        case .discretionaryTransfer: "D"
        case .transfer: "T"
        case .transferEvents: "E"
        case .location: "L"
        case .mode: "M"
        case .notificationAction: "N"
        case .finishUp: "U"
        }
    }

    /// The mode that a manifest must declare for it; nil: none of its own.
    var mode: BackgroundMode? {
        switch self {
        case .refresh: .fetch
        case .processing: .processing
        case .push: .remoteNotification
        case .voip: .voip
        case .location: .location
        case .continued, .discretionaryTransfer, .transfer, .transferEvents, .mode,
            .notificationAction, .finishUp:
            nil
        }
    }

    package var label: String {
        switch self {
        case .refresh: "fetch or refresh"
        case .processing: "processing"
        case .continued: "continued processing"
        case .push: "silent push"
        case .voip: "VoIP push"
        case .discretionaryTransfer: "discretionary transfer"
        case .transfer: "transfer"
        case .transferEvents: "events of a transfer session"
        case .location: "location"
        case .mode: "event of another mode"
        case .notificationAction: "notification"
        case .finishUp: "time after the user left"
        }
    }
}

extension TaskKind {
    var trigger: Trigger {
        switch self {
        case .refresh: .refresh
        case .processing: .processing
        }
    }
}

extension AppManifest {
    /// Whether it has the mode that a trigger needs, or the trigger needs none.
    func declares(_ trigger: Trigger) -> Bool { trigger.mode.map { modes.contains($0) } ?? true }
}
