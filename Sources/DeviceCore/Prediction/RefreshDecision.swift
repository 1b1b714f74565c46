package import Vocabulary

/// Why a refresh was begun: kept with the run in the history.
package struct RefreshDecision: Hashable, Sendable, Codable {
    /// That the app is opened in the half-hour after, in thousandths.
    package var chance: Int64
    /// From which chance on a refresh was worth it then, in thousandths; with `because`.
    package var price: Int64
    /// Refreshes left in the budget, before this one.
    package var left: Int64
    /// What the budget held that day, as of then. It, `because` and `at` are nil in older records.
    package var budget: Int64?
    /// Its position among the apps refreshed together, from 1.
    package var together: Int64
    package var scope: RefreshBudgetScope
    package var because: RefreshReason?
    package var at: WallTime?

    /// What could not begin by then is chosen anew.
    func isOver(at now: WallTime) -> Bool { now > end }
    var end: WallTime { at.map { $0 + RefreshPolicy.freshness } ?? .distantPast }
}
