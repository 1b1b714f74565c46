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

    package var words: String {
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
