/// All symbols, and how the words of a source lead to them.
package enum SymbolTable {
    /// A symbol is known by its place here.
    package static let rows: [Symbol] =
        backgroundTasks + application + delegate + scenes + device + sessions + sessionDelegates
        + push + notifications + location + protection + language + swiftUI + publishers
        + foundation + ModuleTable.rows

    /// What a word in a source may be.
    enum Word: Sendable {
        case keyword(Keyword)
        /// Symbols whose form decides whether they are meant, and those that an own type of this
        /// name hides: a path falls with its first name.
        case symbols([Int], owned: [Int])
    }

    /// Keywords, and other words that the reader of sources looks out for.
    enum Keyword: String, CaseIterable, Sendable {
        case `import`, `func`, `class`, `struct`, `enum`, `protocol`, `typealias`, actor
        case `catch`, `as`, addObserver, objc, objcMembers, selector, observe, publisher,
            notifications, expirationHandler, backgroundTask, removeObserver
        case uiApplicationMain = "UIApplicationMain"
        case nsError = "NSError"
        case selectorType = "Selector"
        case selectorFromString = "NSSelectorFromString"
    }

    /// Keywords behind which an operand may stand, so that a `/` begins a regular expression.
    private static let operands = [
        "return", "in", "case", "if", "guard", "while", "where", "try", "await", "throw", "else",
        "is", "as", "do", "repeat", "for", "switch", "catch", "import",
    ]

    private static let others: [String] = {
        var others: [String] = []
        var known = Set(operands)
        let words =
            Keyword.allCases.map(\.rawValue) + rows.compactMap(\.word) + rows.compactMap(\.owner)
        for word in words where known.insert(word).inserted { others.append(word) }
        return others
    }()

    static let index = WordIndex(operands: operands, others: others)

    /// By the place of a word in the index; nil for a keyword of no further interest.
    static let words: [Word?] = {
        var symbols: [String: [Int]] = [:]
        var owned: [String: [Int]] = [:]
        for place in rows.indices {
            if let word = rows[place].word { symbols[word, default: []].append(place) }
            if let owner = rows[place].owner { owned[owner, default: []].append(place) }
        }
        return (operands + others).map { word in
            if let keyword = Keyword(rawValue: word) { return .keyword(keyword) }
            let (symbols, owned) = (symbols[word] ?? [], owned[word] ?? [])
            return symbols.isEmpty && owned.isEmpty ? nil : .symbols(symbols, owned: owned)
        }
    }()

    /// Symbols that FoundationNetworking has too.
    static let sessionPlaces: Set<Int> = {
        let names = Set((sessions + sessionDelegates).map(\.name))
        return Set(rows.indices.filter { names.contains(rows[$0].name) })
    }()

    /// Types of sessions, which Foundation on Linux lacks.
    static let sessionTypes = Set(
        rows.indices.filter { place in
            sessionPlaces.contains(place) && rows[place].form == .name
                && rows[place].name.first?.isUppercase == true
        }
    )

    /// Whether a symbol says what becomes of another one at its place: of the names that lead to
    /// it, and of a session that is none of the background.
    static func covers(_ symbol: Int, _ other: Int) -> Bool {
        let (symbol, other, place) = (rows[symbol], rows[other], other)
        guard symbol.form == .path, symbol.state != .here else { return false }
        if foreignSessions.contains(symbol.name) { return sessionPlaces.contains(place) }
        return symbol.components.starts(with: other.components)
    }

    /// By the module that has them on Linux.
    static let movedPlaces: [String: [Int]] = {
        var places: [String: [Int]] = [:]
        for (module, names) in moved {
            places[module] = rows.indices.filter { names.contains(rows[$0].name) }
        }
        return places
    }()

    static let onlyCombinesPlaces = Set(
        rows.indices.filter { onlyCombines.contains(rows[$0].name) }
    )

    /// The place of a row of the language.
    static func place(_ name: String) -> Int {
        guard let place = languagePlaces[name] else {
            preconditionFailure("no row for \(name)")
        }
        return place
    }

    private static let languagePlaces: [String: Int] = {
        var places: [String: Int] = [:]
        for place in rows.indices where rows[place].form == .language {
            places[rows[place].name] = place
        }
        return places
    }()
}
