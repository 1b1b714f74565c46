package import DeviceCore

/// Judges policies by real people's logs, one person after the other.
package struct Evaluation: Sendable {
    package struct Plan: Sendable {
        package var budgets: [Int]
        package var scopes: [RefreshBudgetScope]
        /// Of the setting `wake-price`; nil: its default.
        package var wakePrice: Int64?
        package var hasBaselines = true
        /// Of the setting `prior`.
        package var hasPrior = true

        package init(budgets: [Int], scopes: [RefreshBudgetScope]) {
            (self.budgets, self.scopes) = (budgets, scopes)
        }
    }

    /// A policy, a scope and a budget.
    private struct Key: Hashable {
        var policy: String
        var scope: RefreshBudgetScope
        var budget: Int
    }

    private let plan: Plan
    private var tallies: [Key: [Tally]] = [:]
    package private(set) var users = 0

    package init(_ plan: Plan) { self.plan = plan }

    package static let policies = ["offstage"] + Baseline.allCases.map(\.rawValue)

    /// Adds one person; one whose log is too short is left out.
    package mutating func add(_ log: UserLog) {
        guard let record = UsageRecord(log) else { return }
        users += 1
        let scores = HistogramScores(record)
        var learned = DeviceReplay(record, hasPrior: plan.hasPrior)
        learned.warmUp()
        for scope in plan.scopes {
            for budget in plan.budgets {
                var replay = learned
                replay.score(budget: budget, scope: scope, wakePrice: plan.wakePrice)
                let own = Key(policy: "offstage", scope: scope, budget: budget)
                tallies[own, default: []].append(Tally(replay.refreshes, of: record))
                for baseline in Baseline.allCases where plan.hasBaselines {
                    let key = Key(policy: baseline.rawValue, scope: scope, budget: budget)
                    let refreshes = baseline.refreshes(
                        record,
                        budget: budget,
                        scope: scope,
                        scores
                    )
                    tallies[key, default: []].append(Tally(refreshes, of: record))
                }
            }
        }
    }

    /// For each policy, scope and budget: all people, then those of each data set.
    package var rows: [EvaluationRow] {
        var rows: [EvaluationRow] = []
        for scope in plan.scopes {
            for budget in plan.budgets {
                for policy in Self.policies {
                    let key = Key(policy: policy, scope: scope, budget: budget)
                    guard let all = tallies[key] else { continue }
                    rows.append(row(key, data: "all", all))
                    for data in all.map(\.data).inOrderOnce {
                        rows.append(row(key, data: data, all.filter { $0.data == data }))
                    }
                }
            }
        }
        return rows
    }

    private func row(_ key: Key, data: String, _ tallies: [Tally]) -> EvaluationRow {
        EvaluationRow(
            policy: key.policy,
            scope: key.scope,
            budget: key.budget,
            data: data,
            tallies
        )
    }
}
