import Testing

/// docs/conformance.md against the tests that it names.
struct ConformanceTests {
    @Test func theTableIsTrueToTheTree() throws {
        let document = try #require(Tree.current.file("docs/conformance.md"))
        for problem in Conformance(document.text).problems(in: Tree.current.files) {
            Issue.record("docs/conformance.md: \(problem)")
        }
    }

    @Test func everyKindOfLieIsSeen() {
        let tests = TextFile(
            path: "Tests/ATests/BTests.swift",
            text: "struct BTests {\n    @Test func c() {}\n @Test func `f: g/h`() {}\n}"
                + "struct D {\n // @Test func e()\n}"
        )
        let good = Conformance.ids.map { "| \($0) | text | `ATests/BTests/c` | proven |" }
        func problems(_ row: String) -> [String] {
            Conformance((good.dropLast() + [row]).joined(separator: "\n")).problems(in: [tests])
        }
        #expect(problems("| K17 | text | `ATests/BTests/c`, `ATests/BTests/c` | in part |") == [])
        #expect(problems("| K17 | text | `ATests/BTests/f: g/h` | proven |") == [])
        #expect(problems("| K17 | text | | later |") == [])
        #expect(problems("") == ["K17 is missing"])
        #expect(
            problems("| K17 | text | `ATests/BTests/x` | proven |") == [
                "K17: no test ATests/BTests/x"
            ]
        )
        #expect(problems("| K17 | text | `ATests/D/c` | proven |") == ["K17: no test ATests/D/c"])
        #expect(problems("| K17 | text | `ATests/D/e` | proven |") == ["K17: no test ATests/D/e"])
        #expect(problems("| K17 | text | `ATests/c` | proven |") == ["K17: no test ATests/c"])
        #expect(problems("| K17 | text | | proven |") == ["K17: proven without a test"])
        #expect(
            problems("| K17 | text | `ATests/BTests/c` | later |") == ["K17: later, with tests"]
        )
        #expect(
            problems("| K17 | text | `ATests/BTests/c` | done |") == ["K17: unknown state done"]
        )
        #expect(problems("| K17 | | | later |\n| K17 | | | later |") == ["K17 is there twice"])
        #expect(problems("| K17 | | | later |\n| K18 | | | later |") == ["K18 is no id"])
    }
}

struct Conformance {
    struct Row {
        var id: String
        var tests: [String]
        var state: String
    }

    let rows: [Row]

    /// A1–A13, B1–B10 and so on: the ids of the requirements.
    static let ids = [
        ("A", 13), ("B", 10), ("C", 14), ("D", 16), ("E", 12), ("F", 5), ("G", 4), ("H", 4),
        ("I", 6), ("J", 9), ("K", 17),
    ].flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }

    init(_ document: String) {
        rows = document.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { String($0).trimmed }
            guard cells.count == 6, let first = cells[1].first, first.isUppercase,
                cells[1].dropFirst().allSatisfy(\.isNumber), cells[1].count > 1
            else { return nil }
            let names = cells[3].split(separator: "`", omittingEmptySubsequences: false)
                .enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
            return Row(id: cells[1], tests: names, state: cells[4])
        }
    }

    /// What is wrong with the table, given the files of the tree.
    func problems(in files: [TextFile]) -> [String] {
        var problems: [String] = []
        for id in Self.ids {
            switch rows.count(where: { $0.id == id }) {
            case 0: problems.append("\(id) is missing")
            case 1: break
            default: problems.append("\(id) is there twice")
            }
        }
        for row in rows {
            if !Self.ids.contains(row.id) { problems.append("\(row.id) is no id") }
            problems += row.tests.filter { !Self.exists($0, in: files) }
                .map { "\(row.id): no test \($0)" }
            switch row.state {
            case "later":
                if !row.tests.isEmpty { problems.append("\(row.id): later, with tests") }
            case "proven", "simulator", "in part":
                if row.tests.isEmpty { problems.append("\(row.id): \(row.state) without a test") }
            default: problems.append("\(row.id): unknown state \(row.state)")
            }
        }
        return problems
    }

    /// Whether `Folder/Suite/function` is a test: a function behind `@Test` within a type of that
    /// name, or an extension of it, in that folder.
    private static func exists(_ name: String, in files: [TextFile]) -> Bool {
        let parts = name.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return false }
        return files.contains { file in
            guard file.path.hasPrefix("Tests/\(parts[0])/"), file.isSwift else { return false }
            return suites(parts[1], in: file.code).contains { suite in
                file.code.places(of: parts[2]).contains { place in
                    suite.contains(place) && isTest(file.code, at: place)
                }
            }
        }
    }

    private static func suites(_ name: String, in code: SourceText) -> [ClosedRange<Int>] {
        ["struct ", "extension ", "class ", "enum "].flatMap { code.places(of: $0 + name) }
            .compactMap { place in
                guard let open = code.bytes[place...].firstIndex(of: UInt8(ascii: "{")),
                    let end = code.closing(open)
                else { return nil }
                return open...end
            }
    }

    /// Whether a name is that of a function declared behind `@Test`.
    private static func isTest(_ code: SourceText, at place: Int) -> Bool {
        let before = String(decoding: code.bytes[max(0, place - 6000)..<place], as: UTF8.self)
        guard before.trimmed.hasSuffix("func") || before.hasSuffix("func `") else { return false }
        guard let test = before.range(of: "@Test") else { return false }
        // No other function between the attribute and the name.
        return before[test..<before.endIndex].split(separator: " ").count { $0 == "func" } == 1
    }
}

extension String {
    /// Where `part` stands for the last time.
    fileprivate func range(of part: String) -> String.Index? {
        var at = endIndex
        while at > startIndex {
            at = index(before: at)
            if self[at...].hasPrefix(part) { return at }
        }
        return nil
    }
}
