import DeviceCore
import Simulator
import Testing

/// What `usage_baselines.py` computes of a log, at 2, 4, 8 and 24 refreshes.
struct Reference {
    var policy: String
    var purse: RefreshPurse
    /// Fresh opens, %.
    var fresh: [Double]
    /// A day.
    var wakes: [Double]

    init(_ policy: String, _ purse: RefreshPurse, fresh: [Double], wakes: [Double]) {
        (self.policy, self.purse, self.fresh, self.wakes) = (policy, purse, fresh, wakes)
    }

    static let madeUp = [
        Reference("fixed", .app, fresh: [6.32, 11.58, 17.89, 47.37], wakes: [2, 4, 8, 24]),
        Reference("waking", .app, fresh: [5.79, 13.68, 28.95, 75.26], wakes: [2, 4, 8, 24]),
        Reference(
            "histogram",
            .app,
            fresh: [19.47, 32.63, 55.79, 94.74],
            wakes: [9.33, 18.08, 34.54, 75.50]
        ),
        Reference("oracle", .app, fresh: [83.16, 100, 100, 100], wakes: [6.58, 7.92, 7.92, 7.92]),
        Reference(
            "histogram",
            .device,
            fresh: [22.11, 40.00, 65.79, 93.68],
            wakes: [9.54, 18.71, 35.04, 86.25]
        ),
        Reference(
            "oracle",
            .device,
            fresh: [93.16, 100, 100, 100],
            wakes: [7.38, 7.92, 7.92, 7.92]
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

    /// Those that do not choose spend the same by either purse.
    static func expect(_ references: [Reference], of records: [UsageRecord]) throws {
        let plain = references.filter { ["fixed", "waking"].contains($0.policy) }.map {
            Reference($0.policy, .device, fresh: $0.fresh, wakes: $0.wakes)
        }
        let people = records.map { ($0, HistogramScores($0)) }
        for reference in references + plain {
            let baseline = try #require(Baseline(rawValue: reference.policy))
            for (place, budget) in [2, 4, 8, 24].enumerated() {
                let tallies = people.map { record, scores in
                    Tally(
                        baseline.refreshes(record, budget: budget, purse: reference.purse, scores),
                        of: record
                    )
                }
                let row = EvaluationRow(
                    policy: reference.policy,
                    purse: reference.purse,
                    budget: budget,
                    data: "",
                    tallies
                )
                let name = "\(reference.policy), \(reference.purse), \(budget)"
                #expect(abs(row.pooled - reference.fresh[place]) < 0.2, "\(name): \(row.pooled)")
                #expect(
                    abs(row.wakesPerDay - reference.wakes[place]) < 0.1,
                    "\(name): \(row.wakesPerDay)"
                )
            }
        }
    }
}
