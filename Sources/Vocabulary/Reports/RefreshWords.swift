// What is said of refreshes that are chosen by what was learned.

/// Whose the refresh budget of a day is: one of all apps together, or one of each app.
package enum RefreshBudgetScope: String, CaseIterable, Hashable, Sendable, Codable {
    // In the order in which all tables, charts and documents have them: the default first.
    case device, app
}

/// What stands against a refresh at an instant.
package enum RefreshBlocker: String, CaseIterable, Hashable, Sendable, Codable {
    /// Nobody is expected to use the device.
    case nobody
    /// Nothing is left for it today: of the budget, or of its share of a common one.
    case budget, share
    /// It was used or refreshed a moment ago.
    case fresh
    /// Its date, its quiet period or a retry comes first.
    case early
    /// Its chance is below the price.
    case price
    /// It is worth a refresh, but not waking the device.
    case wake
}

/// Why a refresh was worth it.
package enum RefreshReason: String, CaseIterable, Hashable, Sendable, Codable {
    /// The chance alone was worth it.
    case chance
    /// Only as nothing had to be woken: the device was awake anyway, or woken for another app.
    case deviceAwake, sharedWake
    /// Only as it had got nothing of the common budget for long.
    case turn
}
