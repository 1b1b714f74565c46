import CommandTable
import Pages
import Simulator
import Vocabulary

/// What `evaluate` prints for people: for each scope of the budget the figures of all people, then
/// the fresh opens by data set.
struct EvaluationTables {
    let rows: [EvaluationRow]
    let users: Int

    func print(_ console: Console) {
        for (index, scope) in RefreshBudgetScope.allCases.enumerated() {
            let rows = rows.filter { $0.scope == scope }
            guard !rows.isEmpty else { continue }
            if index > 0, self.rows.contains(where: { $0.scope != scope }) { console.print("") }
            let people = users == 1 ? "1 person" : "\(users) people"
            console.print(console.styled("\(scope.title), \(people)", .bold))
            figures(rows.filter(\.isOfAll)).print(console, indent: 2)
            let data = Set(rows.map(\.data)).subtracting([EvaluationRow.all]).sorted()
            guard data.count > 1 else { continue }
            console.print(console.styled("Fresh opens by data set, %", .bold))
            byData(rows, data).print(console, indent: 2)
        }
    }

    private func figures(_ rows: [EvaluationRow]) -> Table {
        // Of one person there are no samples, and no mean.
        let hasSamples = users > 1
        let hasPrices = rows.hasSeveralWakePrices
        var columns = [Table.Column("BUDGET", isNumber: true), Table.Column("POLICY")]
        if hasPrices { columns.append(Table.Column("WAKE PRICE", isNumber: true)) }
        columns.append(Table.Column("FRESH %", isNumber: true))
        if hasSamples {
            columns.append(Table.Column("95 % OF SAMPLES"))
            columns.append(Table.Column("MEAN OF USERS %", isNumber: true))
        }
        let figures = ["MEDIAN AGE", "SPENT", "WASTED %", "WAKES", "FROM SLEEP"]
        var table = Table(columns + figures.map { Table.Column($0, isNumber: true) })
        for row in rows {
            var cells = ["\(row.budget)", row.policy]
            if hasPrices { cells.append(row.wakePrice.map { "\($0)" } ?? "") }
            cells.append(row.pooled.tenths)
            if hasSamples {
                cells.append("[\(row.pooledFrom.tenths), \(row.pooledTo.tenths)]")
                cells.append(row.userMean.tenths)
            }
            cells += [
                row.medianAgeMinutes.tenths + " min", row.spentPerAppDay.tenths,
                row.wastedPercent.tenths, row.wakesPerDay.tenths, row.wakesFromSleepPerDay.tenths,
            ]
            table.add(cells.map { Table.Cell($0) })
        }
        return table
    }

    private func byData(_ rows: [EvaluationRow], _ data: [String]) -> Table {
        var table = Table(
            [Table.Column("BUDGET", isNumber: true), Table.Column("POLICY")]
                + data.map { Table.Column($0.uppercased(), isNumber: true) }
        )
        let rows = rows.atFirstWakePrice
        for all in rows where all.isOfAll {
            let cells = data.map { name in
                rows.first {
                    $0.data == name && $0.policy == all.policy && $0.budget == all.budget
                }?.pooled.tenths ?? ""
            }
            table.add(
                [Table.Cell("\(all.budget)"), Table.Cell(all.policy)] + cells.map { .init($0) }
            )
        }
        return table
    }
}
