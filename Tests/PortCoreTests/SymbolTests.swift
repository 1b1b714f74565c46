import Linux
import PortCore
import Testing

/// The table of symbols against the library: what it calls here is declared there, and what it
/// calls not here is not.
struct SymbolTests {
    /// What the library declares for apps: names of types and members, and whole names of methods.
    private let declared: Set<String>
    /// Names of its types alone.
    private let types: Set<String>
    /// By the name of a type: what is declared in files that declare or extend it.
    private let members: [String: Set<String>]

    init() throws {
        var declared: Set<String> = []
        var types: Set<String> = []
        var members: [String: Set<String>] = [:]
        for file in try Self.files(FixtureTests.root + "/Sources/Offstage") {
            let text = Self.withoutComments(try Files.text(file))
            let declarations = Self.declarations(text)
            for (kind, name) in declarations {
                declared.insert(name)
                if kind == .type { types.insert(name) }
            }
            let extended = Self.names(text, after: "extension").map(\.0)
            for type in declarations.filter({ $0.0 == .type }).map(\.1) + extended {
                members[type, default: []].formUnion(declarations.map(\.1))
            }
        }
        (self.declared, self.types, self.members) = (declared, types, members)
        try #require(types.count > 30 && declared.count > 150)
    }

    private static func files(_ folder: String) throws -> [String] {
        try Files.list(folder).flatMap { name in
            let path = folder + "/" + name
            if Files.status(path)?.kind == .directory { return try files(path) }
            return path.hasSuffix(".swift") ? [path] : []
        }
    }

    private static func withoutComments(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line)
        }.joined(separator: "\n")
    }

    private enum Kind { case type, member }

    /// What follows a match of the pattern up to the end of a name, for each match.
    private static func names(_ text: String, after keywords: String) -> [(String, String.Index)] {
        guard let pattern = try? Regex("\\b(?:\(keywords)) +`?(\\w+)`?") else { return [] }
        return text.matches(of: pattern).map { match in
            (match.output[1].substring.map(String.init) ?? "", match.range.upperBound)
        }
    }

    /// By the keyword before each name; of a function also its whole name.
    private static func declarations(_ text: String) -> [(Kind, String)] {
        var found = names(text, after: "class|struct|enum|protocol|typealias|actor")
            .map { (Kind.type, $0.0) }
        found += names(text, after: "var|let").map { (Kind.member, $0.0) }
        for (name, end) in names(text, after: "func") {
            found.append((.member, name))
            guard let open = text[end...].firstIndex(of: "(") else { continue }
            let labels = labels(text[open...].dropFirst())
            found.append((.member, name + "(" + labels + ")"))
        }
        return found
    }

    /// The labels of a list of parameters, from behind its parenthesis.
    private static func labels(_ text: Substring) -> String {
        var labels = ""
        var depth = 1
        var parameter = ""
        for character in text {
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            if depth == 0 || depth == 1 && character == "," {
                let head = parameter.split(separator: ":").first ?? ""
                if let label = head.split(whereSeparator: \.isWhitespace).first {
                    labels += label + ":"
                }
                parameter = ""
                if depth == 0 { return labels }
            } else {
                parameter.append(character)
            }
        }
        return labels
    }

    private func isDeclared(_ symbol: Symbol) -> Bool {
        switch symbol.form {
        case .name: return declared.contains(symbol.name)
        case .path:
            guard let first = symbol.components.first, let last = symbol.components.last
            else { return false }
            return members[first]?.contains(last) == true
        case .method, .label: return declared.contains(symbol.name)
        case .module: return false
        case .language: return declared.contains { $0 == symbol.name }
        }
    }

    @Test func `what the table calls here is in the library`() {
        let missing = SymbolTable.rows.filter { $0.state == .here && !isDeclared($0) }.map(\.name)
        #expect(missing.sorted() == [])
    }

    @Test func `what the table calls not here is not in the library`() {
        let there = SymbolTable.rows.filter { symbol in
            (symbol.state == .notYet || symbol.state == .never) && isDeclared(symbol)
        }
        #expect(there.map(\.name) == [])
    }

    /// A type of Apple's that comes to the library must come to the table too.
    @Test func `each type of Apple's in the library is in the table`() {
        let known = Set(SymbolTable.rows.flatMap(\.components))
        let prefixes = ["UI", "BG", "URL", "NW", "UN", "PK", "CX", "CL"]
        // Of Foundation on Linux, and types that appear only where others do.
        let parts: Set<String> = [
            "URLRequest", "URLResponse", "URLError",
        ]
        let public_ = types.filter { type in prefixes.contains { type.hasPrefix($0) } }
        #expect(public_.subtracting(known).subtracting(parts).sorted() == [])
    }

    @Test func `each row says what to do, and no two say it of the same`() {
        var seen: Set<String> = []
        for row in SymbolTable.rows {
            #expect(seen.insert(row.name).inserted, "\(row.name) is there twice")
            #expect((row.state == .here) == row.text.isEmpty, "\(row.name)")
            if row.state == .here { #expect(row.replacement.isEmpty, "\(row.name)") }
            if row.mustChange { #expect(!row.replacement.isEmpty, "\(row.name)") }
        }
    }

    /// Advice is no advice if the next report says something else.
    @Test func `what is put into the condition that a row names is reported no more`() throws {
        let rows = SymbolTable.rows.filter { $0.replacement.contains("#if !os(Linux) around") }
        try #require(rows.count > 20)
        #expect(!SymbolTable.rows.contains { $0.replacement.contains("#if canImport around") })
        for row in rows {
            let use: String
            switch row.form {
            case .name, .path, .module: use = row.name
            case .method:
                let labels = row.name.drop { $0 != "(" }.dropFirst().split(separator: ":")
                    .dropLast()
                let parameters = labels.map { "\($0) a: Int" }.joined(separator: ", ")
                use = "func " + row.name.prefix { $0 != "(" } + "(\(parameters)) {}"
            case .label(let label): use = "call(\(label): 1)"
            case .language: continue
            }
            #expect(LexerTests.found(use).contains("1 " + row.name), "\(row.name): \(use)")
            #expect(LexerTests.found("#if !os(Linux)\n\(use)\n#endif") == [], "\(row.name)")
        }
    }
}
