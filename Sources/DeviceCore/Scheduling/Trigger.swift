package import Vocabulary

/// Why an app gets time in the background: a row of the trigger table (`TriggerTable`) and a column
/// of the gate table.
package enum Trigger: String, CaseIterable, Hashable, Sendable, Codable {
    case refresh, processing
    /// The start of a transfer; one that is discretionary waits for a good moment too.
    case transfer, discretionaryTransfer
    /// All transfers of an app's session have ended.
    case sessionEvents
}

extension Trigger {
    var row: TriggerRow { TriggerTable.rows[column] }

    /// The index of its row, and of its column in the gate table.
    var column: Int {
        // By a span: a row would be copied to be looked at.
        let rows = TriggerTable.rows
        let span = rows.span
        for column in span.indices where span[column].trigger == self { return column }
        preconditionFailure("\(self) has no row")
    }

    // Asked often; the whole row would be copied.
    var grant: Grant { TriggerTable.rows[column].grant }
    /// Its moments are chosen by the refresh policy.
    var spendsRefreshBudget: Bool { TriggerTable.rows[column].bucket == .refreshBudget }

    /// How long the first launch for it holds back the next one for the same; nil: its launches are
    /// not held apart.
    var launchWait: Interval? {
        switch TriggerTable.rows[column].bucket {
        case .doublingWait(let wait): wait
        case .refreshBudget, nil: nil
        }
    }

    /// Those that are not requested: something happens.
    package static var ofEvents: [Trigger] { allCases.filter { $0.row.triggered != nil } }

    /// Nil: it cannot be submitted.
    var taskKind: TaskKind? { TaskKind.allCases.first { $0.trigger == self } }

    /// The mode that a manifest must declare; nil: none.
    package var mode: BackgroundMode? { TriggerTable.rows[column].mode }
    /// What its message may hold (I5).
    package var message: [String] { row.message }

    /// The letter of the column.
    package var letter: String { row.letter }
    package var label: String { row.label }
}

extension TaskKind {
    package var trigger: Trigger {
        switch self {
        case .refresh: .refresh
        case .processing: .processing
        }
    }
}

extension AppManifest {
    /// Whether it has the mode that a trigger needs, or the trigger needs none.
    package func declares(_ trigger: Trigger) -> Bool {
        trigger.mode.map { modes.contains($0) } ?? true
    }
}

extension Shared<AppManifest> {
    /// What serves a trigger in place of the app's own process.
    func command(for trigger: Trigger) -> [String]? {
        trigger.row.command.flatMap { $0.arguments(self) }
    }
}

extension BackgroundMode {
    /// Whether this version wakes apps for it. A manifest may declare the others already.
    package var isServed: Bool { TriggerTable.rows.contains { $0.mode == self } }
}
