/// Why a push was stored instead of sent.
package enum StoreReason: UInt8, CaseIterable, Sendable {
    /// The device has no connection.
    case away = 1
    /// The silent budget of app and device is spent.
    case overBudget
    /// The device has used up its silent wakes of the day.
    case dailyBudget
    /// Its battery is low.
    case lowBattery
    case lowPower
    /// It does not read, or has too much to acknowledge.
    case busy
    /// It was sent and not acknowledged in time.
    case unacknowledged
    /// Priority 1 wakes no device.
    case passive

    /// A silent push is held back that would wake the device.
    package var isThrottling: Bool {
        switch self {
        case .overBudget, .dailyBudget, .lowBattery, .lowPower: true
        case .away, .busy, .unacknowledged, .passive: false
        }
    }

    package var name: String {
        switch self {
        case .away: "away"
        case .overBudget: "over the silent budget"
        case .dailyBudget: "over the silent budget of the day"
        case .lowBattery: "low battery"
        case .lowPower: "low-power mode"
        case .busy: "the device is busy"
        case .unacknowledged: "not acknowledged in time"
        case .passive: "priority 1 wakes no device"
        }
    }
}

/// One thing that became of a push.
package enum LogEvent: Equatable, Sendable {
    case accepted
    /// Given to the device's connection; nothing will be stored.
    case attempted
    case delivered
    case stored(StoreReason)
    /// A newer push took its place in the slot before the device had it.
    case replaced(by: PushNumber)
    case expired
    /// Not delivered and, with `apns-expiration: 0` or no registration, not stored.
    case dropped(DropReason)
    /// A broadcast went to so many devices that follow its channel, and is kept for those who come
    /// later or not.
    case sent(devices: Int, isKept: Bool)
}

package enum DropReason: Equatable, Sendable {
    /// It may not be stored, and could not be sent for this reason.
    case notStorable(StoreReason)
    /// The app was unregistered before the device had it.
    case unregistered
    /// The device refused it.
    case refused
    /// Newer ones of Web Push filled all places of its app.
    case tooMany
}

/// What the log keeps of a push when it is taken.
package struct Acceptance: Equatable, Sendable {
    package var apnsID: PushUUID
    /// The key, or the fingerprint of the certificate, that sent it.
    package var provider: String
    /// A silent payload came without type and priority, and was taken for a background push.
    package var isAssumedBackground: Bool

    package init(apnsID: PushUUID, provider: String, isAssumedBackground: Bool = false) {
        (self.apnsID, self.provider) = (apnsID, provider)
        self.isAssumedBackground = isAssumedBackground
    }
}
