/// Something in a source that a porter has to know, at one line.
package struct Finding: Hashable, Sendable {
    package enum Matter: Hashable, Sendable {
        /// The symbol at this place of the table.
        case symbol(Int)
        /// Code that stands under a condition that Linux never meets.
        case vanishing(Vanishing)
    }

    package struct Vanishing: Hashable, Sendable {
        /// As it is written: `#if os(iOS)`.
        package var condition: String
        /// How many lines it has, the directives not counted.
        package var lines: Int
        /// Where the branch begins that is compiled instead, if there is one.
        package var otherwise: Int?
        /// Whether it holds symbols of the table, or nothing stands for it on Linux.
        package var mustChange: Bool
    }

    package var line: Int
    package var matter: Matter

    package var mustChange: Bool {
        switch matter {
        case .symbol(let place): SymbolTable.rows[place].mustChange
        case .vanishing(let vanishing): vanishing.mustChange
        }
    }
}

/// What one source has.
struct SourceFindings: Equatable, Sendable {
    /// By line.
    var findings: [Finding] = []
    /// Symbols whose names this source gives to types of its own: at the top of the file, so that
    /// they hold for the whole project.
    var ownSymbols: [Int] = []

    /// What is here is no longer told where it vanishes, or where more of the same path is told.
    mutating func leaveOutCovered() {
        var vanishesUpTo = 0
        findings = findings.indices.filter { index in
            let finding = findings[index]
            switch finding.matter {
            case .vanishing(let vanishing):
                vanishesUpTo = max(vanishesUpTo, finding.line + vanishing.lines)
                return true
            case .symbol(let place):
                guard SymbolTable.rows[place].state == .here else { return true }
                return finding.line > vanishesUpTo && !isCovered(place, index)
            }
        }.map { findings[$0] }
    }

    /// Whether something else at the line of a finding says what becomes of its symbol.
    private func isCovered(_ place: Int, _ index: Int) -> Bool {
        let line = findings[index].line
        let before = findings[..<index].reversed().prefix { $0.line == line }
        let behind = findings[(index + 1)...].prefix { $0.line == line }
        return (Array(before) + behind).contains { other in
            guard case .symbol(let other) = other.matter else { return false }
            return SymbolTable.covers(other, place)
        }
    }
}
