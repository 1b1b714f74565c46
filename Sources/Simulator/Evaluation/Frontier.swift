/// Rows of one scope and data set, with one price of a wake or several.
extension [EvaluationRow] {
    /// The rows that are worth choosing, by wakes from sleep: no other row has more fresh opens
    /// without more wakes.
    package var frontier: [EvaluationRow] {
        let ordered = enumerated().sorted {
            ($0.element.wakesFromSleepPerDay, -$0.element.pooled, $0.offset)
                < ($1.element.wakesFromSleepPerDay, -$1.element.pooled, $1.offset)
        }
        var frontier: [EvaluationRow] = []
        for (_, row) in ordered where frontier.last.map({ row.pooled > $0.pooled }) ?? true {
            frontier.append(row)
        }
        return frontier
    }

    /// The most fresh opens with at most so many wakes from sleep a day; nil: all have more.
    package func best(wakes: Double) -> EvaluationRow? {
        frontier.last { $0.wakesFromSleepPerDay <= wakes }
    }

    /// Each once, in order.
    package var wakePrices: [Int64] { compactMap(\.wakePrice).inOrderOnce }

    package var hasSeveralWakePrices: Bool { wakePrices.count > 1 }

    /// What policies are compared at.
    package var atFirstWakePrice: [EvaluationRow] {
        let price = lazy.compactMap(\.wakePrice).first
        return filter { $0.wakePrice == nil || $0.wakePrice == price }
    }
}
