/// The text of `offstage.conf`, and what stands in it:
///
///     # Whole lines only are comments.
///     minimum-refresh-interval = 10m
///
///     [apps]
///     org.example.Reader = off
///
/// A value goes to the end of its line, without the space around it; there are no quotes and no
/// escapes. What the names and values mean is not known here. Writing changes one line and leaves
/// every other byte as it was.
package struct ConfigurationText: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// Empty before the first `[section]`.
        package let section: String
        package let name: String
        package let value: String
        /// Counted from 1.
        package let line: Int
    }

    /// The most bytes that a file may have.
    package static let limit = 64 * 1024

    /// In the order of the text. Of a name that occurs twice in a section, the first.
    package private(set) var entries: [Entry] = []
    /// What is wrong; all of them are errors.
    package private(set) var diagnostics: [Diagnostic] = []

    /// Without the line feeds.
    private var lines: [String]
    private var places: [Key: Int] = [:]
    /// Whether `lines` is the file, so that writing them would lose nothing.
    private let isFaithful: Bool

    private struct Key: Hashable {
        let section: String
        let name: String
    }

    package init(_ text: String = "") {
        guard text.utf8.count <= Self.limit else {
            self.init(refused: Self.tooLarge(text.utf8.count))
            return
        }
        self.init(
            lines: Substring(text).utf8
                .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
        )
    }

    private init(lines: [String]) {
        self.lines = lines
        isFaithful = true
        read()
    }

    /// The same for the bytes of a file, which must be UTF-8.
    package init(bytes: [UInt8]) {
        guard bytes.count <= Self.limit else {
            self.init(refused: Self.tooLarge(bytes.count))
            return
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            self.init(text)
        } else {
            self.init(refused: .notText(bytes))
        }
    }

    private init(refused problem: Diagnostic) {
        lines = []
        isFaithful = false
        diagnostics = [problem]
    }

    private static func tooLarge(_ count: Int) -> Diagnostic {
        Diagnostic(
            .error,
            reason: "the file has \(count) bytes; at most \(limit) are read",
            fix: "Remove comments."
        )
    }

    package var text: String { lines.joined(separator: "\n") }

    package subscript(name: String, section section: String = "") -> Entry? {
        places[Key(section: section, name: name)].map { entries[$0] }
    }

    // MARK: Reading

    private mutating func read() {
        var section = ""
        for (index, line) in lines.enumerated() {
            let content = Substring(line).utf8.trimmed
            switch content.first {
            case nil, UInt8(ascii: "#"), UInt8(ascii: ";"): break
            case UInt8(ascii: "["):
                if let name = Self.sectionName(content) {
                    section = name
                } else {
                    report(
                        index,
                        value: String(Substring(content)),
                        "is not a section",
                        fix: "Write a name between [ and ], and nothing after it."
                    )
                }
            default: readEntry(content, section, index)
            }
        }
    }

    private mutating func readEntry(
        _ content: Substring.UTF8View,
        _ section: String,
        _ index: Int
    ) {
        guard let equals = content.firstIndex(of: UInt8(ascii: "=")) else {
            return report(
                index,
                value: String(Substring(content)),
                "is neither NAME = VALUE nor a [section]",
                fix: "Write a # before a comment, at the start of its line."
            )
        }
        let name = String(Substring(content[..<equals].trimmed))
        let value = String(Substring(content[equals...].dropFirst().trimmed))
        guard Self.isName(name) else {
            return report(index, value: name, "is not a name", fix: Self.nameRule)
        }
        guard Self.isValue(value) else {
            return report(index, key: name, "has a control character", fix: "Remove it.")
        }
        let key = Key(section: section, name: name)
        if let earlier = places[key] {
            return report(
                index,
                key: name,
                "is here for the second time, after line \(entries[earlier].line)",
                fix: "Remove one of the two."
            )
        }
        places[key] = entries.count
        entries.append(Entry(section: section, name: name, value: value, line: index + 1))
    }

    private static func sectionName(_ content: Substring.UTF8View) -> String? {
        guard content.first == UInt8(ascii: "["), content.last == UInt8(ascii: "]") else {
            return nil
        }
        let name = content.dropFirst().dropLast().trimmed
        let isValid = name.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x5B && $0 != 0x5D }
        return isValid && !name.isEmpty ? String(Substring(name)) : nil
    }

    private static let nameRule = "Names have letters, digits, - _ and . only."

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    || $0 == UInt8(ascii: ".")
            }
    }

    private static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private mutating func report(
        _ index: Int,
        key: String? = nil,
        value: String? = nil,
        _ reason: String,
        fix: String
    ) {
        guard diagnostics.count < Diagnostic.limit else { return }
        diagnostics.append(
            Diagnostic(.error, line: index + 1, key: key, value: value, reason: reason, fix: fix)
        )
    }

    // MARK: Writing

    /// Gives `name` the value `value`: in its line if it has one, else in a new line at the end of
    /// its section, which is made if it is not there.
    ///
    /// - Throws: For a name, a section or a value that would not be read back, and for a file that
    ///   was not read in full; the text stays as it was.
    package mutating func set(
        _ name: String,
        section: String = "",
        to value: String
    ) throws(Diagnostic) {
        let value = String(Substring(Substring(value).utf8.trimmed))
        try check(name, section, value)
        var lines = lines
        if let entry = self[name, section: section] {
            lines[entry.line - 1] = Self.replacingValue(in: lines[entry.line - 1], with: value)
        } else {
            insert("\(name) = \(value)", into: section, &lines)
        }
        self = ConfigurationText(lines.joined(separator: "\n"))
    }

    /// Takes the line of `name` out; nothing happens if there is none.
    ///
    /// - Throws: For a file that was not read in full.
    package mutating func remove(_ name: String, section: String = "") throws(Diagnostic) {
        guard isFaithful else { throw diagnostics[0] }
        guard let entry = self[name, section: section] else { return }
        var lines = lines
        lines.remove(at: entry.line - 1)
        self = ConfigurationText(lines.joined(separator: "\n"))
    }

    /// Takes a section out in which nothing stands any more, not even a comment.
    ///
    /// - Throws: For a file that was not read in full.
    package mutating func removeEmptySection(_ section: String) throws(Diagnostic) {
        guard isFaithful else { throw diagnostics[0] }
        let headers = lines.count { Self.sectionName(Substring($0).utf8.trimmed) == section }
        guard headers == 1, let region = region(of: section, in: lines) else { return }
        var end = region.upperBound
        // The comment right above the next header is that one's.
        if end < lines.count {
            while end > region.lowerBound, isComment(lines[end - 1]) { end -= 1 }
        }
        if lines[region.lowerBound..<end].allSatisfy(isEmpty) { try removeSection(section) }
    }

    /// Takes a section out, with its header and the empty lines before it; nothing happens if there
    /// is none.
    ///
    /// - Throws: For a file that was not read in full.
    package mutating func removeSection(_ section: String) throws(Diagnostic) {
        guard isFaithful else { throw diagnostics[0] }
        var lines = lines
        while let region = region(of: section, in: lines), region.lowerBound > 0 {
            var end = region.upperBound
            // The comment right above the next header is that one's.
            if end < lines.count {
                while end > region.lowerBound, isComment(lines[end - 1]) { end -= 1 }
            }
            lines.removeSubrange((region.lowerBound - 1)..<end)
            let index = region.lowerBound - 1
            let isLast = lines[index...].allSatisfy(isEmpty)
            if isLast { lines.removeSubrange(index...) }
            while isLast, let last = lines.last, isEmpty(last) { lines.removeLast() }
            if isLast, !lines.isEmpty { lines.append("") }
        }
        self = ConfigurationText(lines.joined(separator: "\n"))
    }

    private func check(
        _ name: String,
        _ section: String,
        _ value: String
    ) throws(Diagnostic) {
        guard isFaithful else { throw diagnostics[0] }
        guard Self.isName(name) else {
            throw Diagnostic(.error, value: name, reason: "is not a name", fix: Self.nameRule)
        }
        guard section.isEmpty || Self.sectionName(Substring("[\(section)]").utf8) == section else {
            throw Diagnostic(
                .error,
                value: section,
                reason: "is not the name of a section",
                fix: "Leave out [ and ] and space at the ends."
            )
        }
        guard Self.isValue(value) else {
            throw Diagnostic(
                .error,
                key: name,
                value: value,
                reason: "has a control character",
                fix: "Write it in one line."
            )
        }
        guard
            text.utf8.count + value.utf8.count + name.utf8.count + section.utf8.count + 16
                <= Self.limit
        else {
            throw Diagnostic(
                .error,
                key: name,
                reason: "makes the file larger than \(Self.limit) bytes",
                fix: "Remove comments."
            )
        }
    }

    /// The line with what follows its `=` replaced; the space around the value stays.
    private static func replacingValue(in line: String, with value: String) -> String {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { return line }
        let rest = Substring(line.utf8[equals...].dropFirst())
        let old = rest.utf8.trimmed
        if old.isEmpty {
            let end = rest.utf8.last == 0x0D ? "\r" : ""
            return "\(line[...equals]) \(value)\(end)"
        }
        return "\(line[..<old.startIndex])\(value)\(line[old.endIndex...])"
    }

    private func insert(_ line: String, into section: String, _ lines: inout [String]) {
        let end = lines.first?.utf8.last == 0x0D ? "\r" : ""
        guard let region = region(of: section, in: lines) else {
            while let last = lines.last, Substring(last).utf8.trimmed.isEmpty { lines.removeLast() }
            if !lines.isEmpty { lines.append(end) }
            lines += ["[\(section)]\(end)", line + end, ""]
            return
        }
        // Before what belongs to the next header: the comment right above it and empty lines.
        var index = region.upperBound
        if index < lines.count {
            while index > region.lowerBound, isComment(lines[index - 1]) { index -= 1 }
        }
        while index > region.lowerBound, isEmpty(lines[index - 1]) { index -= 1 }
        lines.insert(line + end, at: index)
        // An empty line after it, unless one is there; and the last line ends like the others.
        if index + 1 == lines.count {
            lines.append("")
        } else if !isEmpty(lines[index + 1]) {
            lines.insert(end, at: index + 1)
        }
    }

    /// The lines after the header of `section` up to the next header; of its last part if it has
    /// several.
    private func region(of section: String, in lines: [String]) -> Range<Int>? {
        var start = section.isEmpty ? 0 : nil as Int?
        var found: Range<Int>?
        for (index, line) in lines.enumerated() {
            guard let name = Self.sectionName(Substring(line).utf8.trimmed) else { continue }
            if let begun = start { found = begun..<index }
            start = name == section ? index + 1 : nil
        }
        if let begun = start { found = begun..<lines.count }
        return found
    }

    private func isEmpty(_ line: String) -> Bool { Substring(line).utf8.trimmed.isEmpty }

    private func isComment(_ line: String) -> Bool {
        let first = Substring(line).utf8.trimmed.first
        return first == UInt8(ascii: "#") || first == UInt8(ascii: ";")
    }
}
