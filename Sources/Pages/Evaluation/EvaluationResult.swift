import Simulator
import Vocabulary

/// What the figures come to: the sentence with which the page begins.
struct EvaluationResult {
    private let own: EvaluationRow
    private let fixed: EvaluationRow

    /// Nil: nothing to compare.
    init?(_ rows: [EvaluationRow]) {
        let rows = rows.filter(\.isOfAll).atFirstWakePrice
        let scope = RefreshBudgetScope.allCases.first { scope in
            rows.contains { $0.scope == scope }
        }
        let budgets = rows.filter { $0.scope == scope }.map(\.budget).sorted()
        guard !budgets.isEmpty else { return nil }
        // Not so small that nothing helps, nor so large that no choice is left.
        let budget = budgets[(budgets.count - 1) / 2]
        func row(_ policy: String) -> EvaluationRow? {
            rows.first { $0.scope == scope && $0.budget == budget && $0.policy == policy }
        }
        guard let own = row(Evaluation.own), let fixed = row(Baseline.fixed.rawValue) else {
            return nil
        }
        (self.own, self.fixed) = (own, fixed)
    }

    var sentence: String {
        "\(whole(own.pooled)) % of opens are fresh, against \(whole(fixed.pooled)) % with a fixed "
            + "period, \(effort)."
    }

    var markup: String {
        "<h1>\(sentence)</h1>\n<p class=\"faint\">At a budget of \(own.budget): Offstage spent "
            + "\(own.spentPerAppDay.tenths) refreshes per app and day and woke the device "
            + "\(own.wakesFromSleepPerDay.tenths) times a day; a fixed period spent "
            + "\(fixed.spentPerAppDay.tenths) and woke it \(fixed.wakesFromSleepPerDay.tenths) "
            + "times.</p>\n"
    }

    /// How many refreshes it took, compared.
    private var effort: String {
        let percent = 100 * (own.spentPerAppDay / max(0.001, fixed.spentPerAppDay) - 1)
        // Not every planned refresh is due; so little is no difference between policies.
        guard abs(percent) > 2.5 else { return "at the same number of refreshes" }
        return "with \(whole(abs(percent))) % \(percent < 0 ? "fewer" : "more") refreshes"
    }

    private func whole(_ value: Double) -> String { "\(Int(value.rounded()))" }
}
