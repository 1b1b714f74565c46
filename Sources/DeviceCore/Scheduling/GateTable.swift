import Vocabulary

/// Whether, and how, a row applies to a column.
enum GateCell: Character, Sendable {
    case no = "."
    case yes = "*"
    /// When the request asks for it.
    case asked = "a"
    /// Unless the manifest says `NeedsNetwork=false`.
    case needed = "n"
    /// By a setting of the user, or when the request asks for it.
    case set = "s"
    /// Fetches by interval and plain commands.
    case fetchOrCommand = "f"
    /// Plain commands.
    case command = "o"
    /// Only where it is critical.
    case critical = "c"

    package var label: String {
        switch self {
        case .no: ""
        case .yes: "●"
        case .asked: "ask"
        case .needed: "need"
        case .set: "set, ask"
        case .fetchOrCommand: "fetch, command"
        case .command: "command"
        case .critical: "crit"
        }
    }
}

/// One row: what it is called, which triggers it holds, and how it decides.
struct GateRow: Sendable {
    let gate: Gate
    let index: Int
    let title: String
    /// One letter (`GateCell`) per trigger, in the order of `Trigger.allCases`.
    let cells: [GateCell]
    let kind: Kind
    let check: @Sendable (borrowing GateContext) -> GateAnswer
    let explain: @Sendable (borrowing GateContext) -> GateExplanation

    enum Kind: Sendable {
        /// Without it no launch is possible: holds simulated runs too.
        case needed
        /// A rule that holds user-initiated runs too.
        case rule
        /// Only saves energy, data or wakes: `offstage run` skips it.
        case saving
        /// As `saving`, but holds a user-initiated run of before this daemon: it has to hear of its
        /// sensors first.
        case pause
    }

}

extension GateRow.Kind {
    func concerns(_ work: Work, _ cell: GateCell) -> Bool {
        guard applies(in: work.mode) || self == .pause && work.isLeftOver else { return false }
        switch cell {
        case .no: return false
        case .fetchOrCommand: return work.isPeriodic
        case .command: return work.origin == .command || work.every != nil
        case .yes, .asked, .needed, .set, .critical: return true
        }
    }

    private func applies(in mode: Work.RunMode) -> Bool {
        switch (mode, self) {
        case (.normal, _), (.simulated, .needed), (.userInitiated, .needed),
            (.userInitiated, .rule):
            true
        case (.simulated, _), (.userInitiated, .saving), (.userInitiated, .pause): false
        }
    }
}

/// A row as one trigger sees it: what asking it takes, and no more, since it is asked often.
struct GateQuestion: Sendable {
    /// Of its row.
    let index: Int
    let cell: GateCell
    let kind: GateRow.Kind
    let check: @Sendable (borrowing GateContext) -> GateAnswer
}

/// The table gate × trigger. A new gate is a row here and a file in `Gates`; a new trigger is a
/// column.
enum GateTable {
    /// What a gate is made of; one static per file in `Gates`.
    struct Definition: Sendable {
        let title: String
        let kind: GateRow.Kind
        let check: @Sendable (borrowing GateContext) -> GateAnswer
        let explain: @Sendable (borrowing GateContext) -> GateExplanation
    }

    // Columns: Fetch or refresh, Processing, Transfer, Discretionary transfer, session Events
    static let rows: [GateRow] = [
        //                   FPTDE
        row(.unknownApp, "*****", .unknownApp),
        row(.notPermitted, "**...", .notPermitted),
        row(.closedByUser, "*****", .closedByUser),
        row(.refreshOff, "**...", .refreshOff),
        row(.paused, "*****", .paused),
        row(.beforeFirstUnlock, "**..*", .beforeFirstUnlock),
        row(.dataProtection, "aaaa.", .dataProtection),
        row(.lowPower, "**.*.", .lowPower),
        row(.earliest, "****.", .earliest),
        row(.quiet, "fo...", .quiet),
        row(.network, "na**.", .network),
        row(.metered, "saa*.", .metered),
        row(.externalPower, ".aaa.", .externalPower),
        row(.battery, "**.*.", .battery),
        row(.deviceInUse, ".*...", .deviceInUse),
        row(.appInForeground, "*....", .appInForeground),
        row(.thermal, "**c*c", .thermal),
        row(.memory, "**..*", .memory),
        row(.storage, "*****", .storage),
        row(.unused, "**...", .unused),
        row(.appQuota, "**.*.", .appQuota),
        row(.deviceQuota, "**.*.", .deviceQuota),
        row(.backOff, "**..*", .backOff),
        row(.stillRunning, "**..*", .stillRunning),
        row(.startPause, "**.**", .startPause),
        row(.settling, ".*.*.", .settling),
        row(.betterMoment, "*..*.", .betterMoment),
        row(.sharedWake, "*....", .sharedWake),
        row(.runSlots, "**..*", .runSlots),
        row(.retry, "..**.", .retry),
        row(.answer, "..**.", .answer),
        row(.transferSlots, "..**.", .transferSlots),
        row(.processes, "**..*", .processes),
        row(.stopping, "*****", .stopping),
    ]

    /// By trigger: the rows that may hold it.
    static let columns: [[GateQuestion]] = Trigger.allCases.indices.map { column in
        rows.compactMap { row in
            let cell = row.cells[column]
            if cell == .no { return nil }
            return GateQuestion(index: row.index, cell: cell, kind: row.kind, check: row.check)
        }
    }

    static func row(_ gate: Gate) -> GateRow { rows[index(of: gate)] }

    /// By a search: the hash of a case is that of its name, which takes longer.
    static func index(of gate: Gate) -> Int {
        let rows = rows
        let span = rows.span
        for index in span.indices where span[index].gate == gate { return index }
        preconditionFailure("\(gate.name) has no row")
    }

    private static func row(_ gate: Gate, _ cells: String, _ definition: Definition) -> GateRow {
        guard let index = Gate.allCases.firstIndex(of: gate), index < GateSet.capacity else {
            preconditionFailure("no bit of GateSet is left for \(gate.name)")
        }
        let known = cells.compactMap { GateCell(rawValue: $0) }
        precondition(
            known.count == cells.count && known.count == Trigger.allCases.count,
            "\(gate.name) needs one known cell for each trigger, not \(cells)"
        )
        return GateRow(
            gate: gate,
            index: index,
            title: definition.title,
            cells: known,
            kind: definition.kind,
            check: definition.check,
            explain: definition.explain
        )
    }
}
