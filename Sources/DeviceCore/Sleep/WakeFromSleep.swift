/// When a machine that sleeps is woken for work (`wake-from-sleep`).
package enum WakeFromSleep: String, CaseIterable, Hashable, Sendable, Codable {
    case off
    /// While it is known to be on external power.
    case charger
    case on
}
