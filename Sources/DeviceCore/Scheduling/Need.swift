package import Vocabulary

/// One thing that work can ask for, by the name that callers use.
package enum Need: String, CaseIterable, Hashable, Sendable {
    case power, network, unmetered, unlocked

    /// Asked often; `allCases` is made anew each time.
    package static let all = allCases

    package func isAsked(by needs: Needs) -> Bool {
        switch self {
        case .power: needs.power
        case .network: needs.network
        case .unmetered: needs.unmetered
        case .unlocked: needs.unlocked
        }
    }

    /// What must be assured for it.
    var condition: Condition {
        switch self {
        case .power: .power
        case .network: .network
        case .unmetered: .metered
        case .unlocked: .locked
        }
    }

    /// What holds it back.
    var gate: Gate {
        switch self {
        case .power: .externalPower
        case .network: .network
        case .unmetered: .metered
        case .unlocked: .dataProtection
        }
    }
}

extension Condition {
    /// Whether work can ask for it, and waits while it is unknown.
    package var canBeAskedFor: Bool { Need.all.contains { $0.condition == self } }
}

extension Needs {
    package var names: [String] { Need.all.filter { $0.isAsked(by: self) }.map(\.rawValue) }
}

extension TaskKind {
    /// The first of them that a request of this kind would be stored with and never held by: its
    /// gate does not concern the trigger.
    package func ignored(of needs: Needs) -> Need? {
        Need.all.first { $0.isAsked(by: needs) && $0.gate.row.cells[trigger.column] == .no }
    }
}
