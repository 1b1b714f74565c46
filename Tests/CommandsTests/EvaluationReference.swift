import Simulator
import Testing
import Vocabulary

/// What `usage_baselines.py` computes of a log, at 2, 4, 8 and 24 refreshes.
struct Reference {
    var policy: String
    var scope: RefreshBudgetScope
    /// Fresh opens, %.
    var fresh: [Double]
    /// A day.
    var wakes: [Double]

    init(_ policy: String, _ scope: RefreshBudgetScope, fresh: [Double], wakes: [Double]) {
        (self.policy, self.scope, self.fresh, self.wakes) = (policy, scope, fresh, wakes)
    }

    /// Of the four people of `MadeUpUsage`.
    static let madeUp = [
        Reference("fixed", .app, fresh: [3.64, 9.09, 12.27, 51.36], wakes: [2, 4, 8, 24]),
        Reference("waking", .app, fresh: [5.45, 10.00, 27.27, 77.73], wakes: [2, 4, 8, 24]),
        Reference(
            "histogram",
            .app,
            fresh: [37.73, 55.45, 71.36, 91.36],
            wakes: [8.81, 16.75, 31.29, 58.15]
        ),
        Reference(
            "oracle",
            .app,
            fresh: [94.55, 99.55, 100, 100],
            wakes: [4.33, 4.56, 4.58, 4.58]
        ),
        Reference(
            "histogram",
            .device,
            fresh: [45.91, 57.73, 76.82, 86.82],
            wakes: [8.69, 17.13, 32.42, 85.10]
        ),
        Reference(
            "oracle",
            .device,
            fresh: [99.09, 100, 100, 100],
            wakes: [4.54, 4.58, 4.58, 4.58]
        ),
    ]

    /// Of dsc-3 in desktop-windows.
    static let real = [
        Reference("fixed", .app, fresh: [15.38, 15.38, 29.81, 49.04], wakes: [2, 4, 8, 24]),
        Reference("waking", .app, fresh: [2.88, 11.54, 40.38, 88.46], wakes: [2, 4, 8, 24]),
        Reference(
            "histogram",
            .app,
            fresh: [22.12, 31.73, 42.31, 82.69],
            wakes: [11.81, 22.38, 39.25, 77.13]
        ),
        Reference("oracle", .app, fresh: [78.85, 100, 100, 100], wakes: [5.13, 6.5, 6.5, 6.5]),
        Reference(
            "histogram",
            .device,
            fresh: [32.69, 50.00, 64.42, 81.73],
            wakes: [12.56, 23.56, 39.13, 104.13]
        ),
        Reference("oracle", .device, fresh: [98.08, 100, 100, 100], wakes: [6.38, 6.5, 6.5, 6.5]),
    ]

    /// Those that do not choose spend the same by either scope.
    static func expect(_ references: [Reference], of records: [UsageRecord]) throws {
        let plain = references.filter { ["fixed", "waking"].contains($0.policy) }.map {
            Reference($0.policy, .device, fresh: $0.fresh, wakes: $0.wakes)
        }
        let people = records.map { ($0, HistogramScores($0)) }
        for reference in references + plain {
            let baseline = try #require(Baseline(rawValue: reference.policy))
            for (index, budget) in [2, 4, 8, 24].enumerated() {
                let tallies = people.map { record, scores in
                    Tally(
                        baseline.refreshes(record, budget: budget, scope: reference.scope, scores),
                        of: record
                    )
                }
                let row = EvaluationRow(
                    policy: reference.policy,
                    scope: reference.scope,
                    budget: budget,
                    data: "",
                    tallies
                )
                let name = "\(reference.policy), \(reference.scope), \(budget)"
                #expect(abs(row.pooled - reference.fresh[index]) < 0.2, "\(name): \(row.pooled)")
                #expect(
                    abs(row.wakesPerDay - reference.wakes[index]) < 0.1,
                    "\(name): \(row.wakesPerDay)"
                )
            }
        }
    }
}
