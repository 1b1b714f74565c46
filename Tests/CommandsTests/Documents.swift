import Linux
import TestKit
import Testing

/// A document of the tree that says what a table in the code says. With
/// `OFFSTAGE_WRITE_DOCUMENTS=1` in the environment it is written instead of compared.
struct Document {
    let path: String

    init(_ path: String) { self.path = path }

    /// The whole file is `text`.
    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if Self.areWritten {
            try Files.makeDirectory(Files.directory(of: file), permissions: 0o755, parents: true)
            try Files.replace(file, with: text, permissions: 0o644)
        }
        let isSame = (try? Files.text(file)) == text
        #expect(
            isSame,
            "\(path) is not what the tables say; make docs",
            sourceLocation: sourceLocation
        )
    }

    /// The part between `<!-- begin NAME -->` and `<!-- end NAME -->` is `text`; the rest of the
    /// file is written by people.
    func expect(
        part name: String,
        _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let whole = try contents
        let begin = try #require(whole.firstRange(of: "<!-- begin \(name) -->\n"))
        let end = try #require(whole.firstRange(of: "<!-- end \(name) -->"))
        let before = whole[..<begin.upperBound]
        try expect(
            before + "\n" + text + "\n" + whole[end.lowerBound...],
            sourceLocation: sourceLocation
        )
    }

    var contents: String {
        get throws { try Files.text(file) }
    }

    var file: String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return root.joined(separator: "/") + "/" + path
    }

    static var areWritten: Bool {
        CurrentProcess.environment("OFFSTAGE_WRITE_DOCUMENTS") == "1"
    }
}

/// A table in Markdown.
struct MarkdownTable {
    private(set) var text: String

    init(_ titles: String...) { self.init(titles: titles) }

    init(titles: [String]) {
        text = Self.row(titles) + Self.row(titles.map { _ in "---" })
    }

    mutating func add(_ cells: String...) { text += Self.row(cells) }
    mutating func add(_ cells: [String]) { text += Self.row(cells) }

    private static func row(_ cells: [String]) -> String {
        let escaped = cells.map { cell in
            cell.map { $0 == "|" ? "\\|" : "\($0)" }.joined()
        }
        return "| " + escaped.joined(separator: " | ") + " |\n"
    }
}
