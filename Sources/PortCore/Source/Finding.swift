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
}
