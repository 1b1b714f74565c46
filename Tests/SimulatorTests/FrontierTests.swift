import Simulator
import Testing
import Vocabulary

/// What is worth choosing among several settings.
struct FrontierTests {
    private func row(_ wakes: Double, _ fresh: Double, price: Int64?) -> EvaluationRow {
        var row = EvaluationRow(
            policy: price == nil ? "fixed" : Evaluation.own,
            scope: .device,
            budget: 4,
            wakePrice: price,
            data: "all",
            []
        )
        (row.wakesFromSleepPerDay, row.pooled) = (wakes, fresh)
        return row
    }

    @Test func onlyWhatNothingIsBetterThanStays() {
        let rows = [
            row(12, 43, price: 16), row(5, 25, price: 16), row(12, 40, price: 0),
            row(20, 43, price: 0), row(18, 86, price: 400), row(5, 25, price: 400),
        ]
        let frontier = rows.frontier
        #expect(frontier.map(\.wakesFromSleepPerDay) == [5, 12, 18])
        #expect(frontier.map(\.pooled) == [25, 43, 86])
        // Of equals the one that was tried first.
        #expect(frontier[0].wakePrice == 16)
        for row in rows {
            let isBeaten = frontier.contains {
                $0.wakesFromSleepPerDay <= row.wakesFromSleepPerDay && $0.pooled >= row.pooled
            }
            #expect(isBeaten)
        }
        #expect(rows.best(wakes: 18)?.pooled == 86 && rows.best(wakes: 17.9)?.pooled == 43)
        #expect(rows.best(wakes: 4) == nil && [EvaluationRow]().frontier.isEmpty)
    }

    @Test func policiesAreComparedAtTheFirstPrice() {
        let rows = [row(1, 1, price: 16), row(1, 2, price: 400), row(1, 3, price: nil)]
        #expect(rows.hasSeveralWakePrices && rows.wakePrices == [16, 400])
        #expect(rows.atFirstWakePrice.map(\.pooled) == [1, 3])
        #expect(!rows.atFirstWakePrice.hasSeveralWakePrices)
    }
}
