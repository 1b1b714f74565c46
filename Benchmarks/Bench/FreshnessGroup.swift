import DeviceCore
import Glibc
import Linux
import Simulator
import TestKit
import Vocabulary
import Zlib

/// How fresh apps are when people open them: the daemon's own core over real usage logs.
struct FreshnessGroup {
    private static let budgets = [2, 4, 8, 24]
    /// Fresh opens in percent: the limits, and what would beat gradient boosting.
    private static let wanted: [(scope: RefreshBudgetScope, name: String, limits: [Double])] = [
        (.device, "budget per device", [23.5, 40, 60, 88.5]),
        (.device, "budget per device, stretch goal", [24.7, 42, 63.5, 90.3]),
        (.app, "budget per app", [11.5, 21.5, 40, 82]),
    ]

    func run() throws -> [Figure] {
        let logs = try Self.logs()
        guard !logs.isEmpty else {
            print("     skipped: no usage logs; give their pattern in USAGE")
            return [DecisionBench.figure()]
        }
        let begin = processorSeconds()
        let device = Self.rows(logs, [.device], Self.budgets)
        let seconds = processorSeconds() - begin
        let rows = device + Self.rows(logs, [.app], Self.budgets)
        var figures: [Figure] = []
        for (scope, name, limits) in Self.wanted {
            for (budget, limit) in zip(Self.budgets, limits) {
                guard let row = rows.first(where: { $0.scope == scope && $0.budget == budget })
                else { continue }
                figures.append(
                    Figure(
                        name: "fresh opens at \(budget) refreshes a day, \(name)",
                        unit: "%",
                        ours: row.pooled,
                        limit: .atLeast(limit)
                    )
                )
            }
        }
        let bare = Self.rows(logs, RefreshBudgetScope.allCases, Self.budgets, hasPrior: false)
        figures += bare.map { row in
            Figure(
                name:
                    "fresh opens at \(row.budget) refreshes a day, "
                    + "budget per \(row.scope.rawValue), without the prior",
                unit: "%",
                ours: row.pooled
            )
        }
        figures += Self.sharing(logs) + Self.atWakesOfWaking(logs)
        figures.append(
            Figure(
                name: "evaluating all logs at four budgets",
                unit: "s of processor time",
                ours: seconds,
                limit: .atMost(60)
            )
        )
        return figures + [DecisionBench.figure()]
    }

    /// Freshness against wakes from sleep, with a budget of 4 a day for the device.
    private static func sharing(_ logs: [UserLog]) -> [Figure] {
        let prices: [Int64] = [0, 8, 16, 24, 32]
        let rows = Self.rows(logs, [.device], [4], wakePrices: prices)
        guard rows.count == prices.count, let alone = rows.first,
            let index = prices.firstIndex(of: Settings().wakePrice)
        else { return [] }
        let shipped = rows[index]
        var figures = zip(prices, rows).map { price, row in
            Figure(
                name: "wakes from sleep at 4 refreshes a day, wake-price \(price) "
                    + "(\((row.pooled * 10).rounded() / 10) % fresh opens)",
                unit: "a day",
                ours: row.wakesFromSleepPerDay
            )
        }
        figures.append(
            Figure(
                name: "wakes from sleep saved by sharing them, at 4 refreshes a day",
                unit: "%",
                ours: 100 * (1 - shipped.wakesFromSleepPerDay / alone.wakesFromSleepPerDay),
                limit: .atLeast(30)
            )
        )
        figures.append(
            Figure(
                name: "fresh opens lost by sharing wakes",
                unit: "percentage points",
                ours: alone.pooled - shipped.pooled,
                limit: .atMost(1)
            )
        )
        return figures
    }

    /// The best budget and price of a wake, where *waking* with a budget of 24 wakes the device as
    /// often.
    private static func atWakesOfWaking(_ logs: [UserLog]) -> [Figure] {
        let rows = Self.rows(
            logs,
            [.device],
            [24],
            wakePrices: [100, 200, 400, 1000],
            hasBaselines: true
        )
        let own = rows.filter { $0.policy == Evaluation.own }
        guard let waking = rows.first(where: { $0.policy == Baseline.waking.rawValue }),
            let best = own.best(wakes: waking.wakesFromSleepPerDay)
        else { return [] }
        let wakes = { (row: EvaluationRow) in (row.wakesFromSleepPerDay * 10).rounded() / 10 }
        return [
            Figure(
                name: "fresh opens at 24 refreshes a day and the wakes of waking "
                    + "(\(wakes(best)), waking \(wakes(waking)); "
                    + "wake-price \(best.wakePrice ?? 0))",
                unit: "%",
                ours: best.pooled,
                peer: waking.pooled,
                peerName: "waking"
            )
        ]
    }

    private static func rows(
        _ logs: [UserLog],
        _ scopes: [RefreshBudgetScope],
        _ budgets: [Int],
        wakePrices: [Int64] = [Settings().wakePrice],
        hasBaselines: Bool = false,
        hasPrior: Bool = true
    ) -> [EvaluationRow] {
        var plan = Evaluation.Plan(budgets: budgets, scopes: scopes)
        plan.wakePrices = wakePrices
        plan.hasBaselines = hasBaselines
        plan.hasPrior = hasPrior
        var evaluation = Evaluation(plan)
        for log in logs { evaluation.add(log) }
        return evaluation.rows.filter { $0.data == "all" }
    }

    private static func logs() throws -> [UserLog] {
        let pattern =
            CurrentProcess.environment("USAGE") ?? "../shared/data/usage/*/events.csv.gz"
        return try Files.matching(pattern).flatMap { path in
            let text = try Files.readRegular(path, limit: 1 << 30)
            return try UserLog.read(
                Gzip.isCompressed(text) ? Gzip.decompress(text, limit: 1 << 30) : text,
                data: Files.name(of: Files.directory(of: path))
            )
        }
    }

    private func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// One decision about 50 apps of known use.
enum DecisionBench {
    static func figure() -> Figure {
        var device = LearnedDevice()
        var times: [Double] = []
        for _ in 0..<2000 {
            device.use()
            times.append(timed { device.decide() } / 1000)
        }
        return Figure(
            name: "one decision about 50 apps, median",
            unit: "µs",
            ours: times.median,
            limit: .atMost(100)
        )
    }
}
