import DeviceCore
package import Vocabulary

/// Judges policies by real people's logs, one person after the other.
package struct Evaluation: Sendable {
    package struct Plan: Sendable {
        package var budgets: [Int]
        package var scopes: [RefreshBudgetScope]
        /// Of the setting `wake-price`, for offstage; policies are compared at the first.
        package var wakePrices = [Settings().wakePrice]
        package var hasBaselines = true
        /// Of the setting `prior`.
        package var hasPrior = true

        package init(budgets: [Int], scopes: [RefreshBudgetScope]) {
            (self.budgets, self.scopes) = (budgets, scopes)
        }
    }

    /// A policy with its settings.
    private struct Key: Hashable {
        var policy: String
        var scope: RefreshBudgetScope
        var budget: Int
        var wakePrice: Int64?
    }

    private let plan: Plan
    private var tallies: [Key: [Tally]] = [:]
    package private(set) var users = 0

    package init(_ plan: Plan) { self.plan = plan }

    /// The policy that is not a baseline: the daemon's.
    package static let own = "offstage"
    package static let policies = [own] + Baseline.allCases.map(\.rawValue)

    /// Adds one person; one whose log is too short is left out.
    package mutating func add(_ log: UserLog) {
        guard let record = UsageRecord(log) else { return }
        users += 1
        let scores = HistogramScores(record)
        var learned = DeviceReplay(record, hasPrior: plan.hasPrior)
        learned.warmUp()
        for scope in plan.scopes {
            for budget in plan.budgets {
                for price in plan.wakePrices {
                    var replay = learned
                    replay.score(budget: budget, scope: scope, wakePrice: price)
                    let own = Key(
                        policy: Self.own,
                        scope: scope,
                        budget: budget,
                        wakePrice: price
                    )
                    tallies[own, default: []].append(Tally(replay.refreshes, of: record))
                }
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

    /// For each scope, budget and policy, and for offstage each price of a wake: all people, then
    /// those of each data set.
    package var rows: [EvaluationRow] {
        var rows: [EvaluationRow] = []
        for scope in plan.scopes {
            for budget in plan.budgets {
                let own = plan.wakePrices.map {
                    Key(policy: Self.own, scope: scope, budget: budget, wakePrice: $0)
                }
                let others = Baseline.allCases.map {
                    Key(policy: $0.rawValue, scope: scope, budget: budget)
                }
                for key in own + others {
                    guard let all = tallies[key] else { continue }
                    rows.append(row(key, data: EvaluationRow.all, all))
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
            wakePrice: key.wakePrice,
            data: data,
            tallies
        )
    }
}
