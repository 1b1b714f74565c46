import Linux
import PortCore
import Testing

/// The table of symbols against the library: what it calls here is declared there, and what it
/// calls not here is not.
struct SymbolTests {
    /// What the library declares for apps.
    private let library: Declarations

    init() throws {
        var library = Declarations()
        for file in try Self.files(FixtureTests.root + "/Sources/Offstage") {
            library.read(try Files.text(file))
        }
        self.library = library
        try #require(library.types.count > 30 && library.names.count > 150)
    }

    private static func files(_ folder: String) throws -> [String] {
        try Files.list(folder).flatMap { name in
            let path = folder + "/" + name
            if Files.status(path)?.kind == .directory { return try files(path) }
            return path.hasSuffix(".swift") ? [path] : []
        }
    }

    private func isDeclared(_ symbol: Symbol) -> Bool {
        switch symbol.form {
        case .name, .method, .label, .initializer, .language: library.names.contains(symbol.name)
        case .path: library.has(symbol.components)
        case .module: false
        }
    }

    /// A member is one of the type in whose braces it stands, and of no other in the file.
    @Test func `members belong to the type that declares them`() {
        var declarations = Declarations()
        declarations.read(
            """
            public class One: Base<Int> {
                class var shared: One { let local = "}"; return One() }  // { var comment
                enum State { case `in`, out }
                func go(to place: Int, _ how: () -> (Int, Int) = { (1, 2) }) {}
            }
            extension One.State {
                var isIn: Bool { self == .in }
            }
            protocol Two { var there: Bool { get set } }
            """
        )
        #expect(
            declarations.members == [
                "One": ["shared", "State", "go", "go(to:_:)"], "One.State": ["in", "isIn"],
                "Two": ["there"],
            ]
        )
        #expect(declarations.types == ["One", "State", "Two"])
        #expect(declarations.has(["One", "shared", "go"]))
        #expect(declarations.has(["One", "State", "isIn"]))
        #expect(!declarations.has(["One", "there"]) && !declarations.has(["One", "isIn"]))
        #expect(!declarations.names.contains("local") && !declarations.names.contains("comment"))
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
        let public_ = library.types.filter { type in prefixes.contains { type.hasPrefix($0) } }
        #expect(public_.subtracting(known).subtracting(parts).sorted() == [])
    }

    /// What compiles and does nothing keeps no app from being ported: there is nothing to do.
    @Test(
        arguments: [
            "write(to: file, options: .completeFileProtectionUntilFirstUserAuthentication)",
            "let attributes = [FileAttributeKey.protectionKey: FileProtectionType.complete]",
            "values.isExcludedFromBackup = true",
            "let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]",
            "let home = NSHomeDirectory()",
        ]
    )
    func `what compiles and is ignored need not be changed`(line: String) {
        var project = PortedProject(served: [])
        project.addSource(Array(line.utf8), file: "a.swift")
        #expect(!project.places.isEmpty && project.isPorted)
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
            case .initializer: use = row.name
            case .language: continue
            }
            #expect(LexerTests.found(use).contains("1 " + row.name), "\(row.name): \(use)")
            #expect(LexerTests.found("#if !os(Linux)\n\(use)\n#endif") == [], "\(row.name)")
        }
    }
}
