/// The groups and entries of a desktop entry file, with the line of each; values as they stand.
struct DesktopFile {
    struct Entry {
        let line: Int
        let key: String
        /// Not yet unescaped.
        let value: String
    }

    /// A header that was meant to be ours, and is not.
    struct Misspelt {
        let line: Int
        /// As it stands.
        let text: String
        /// Only letters' case, or something behind it, makes it another: nobody else has such a
        /// group.
        let isOurs: Bool
        let reason: String
        let fix: String
    }

    struct Group {
        let line: Int
        let name: String
        /// In the order of the file, each key once, without localized keys.
        fileprivate(set) var entries: [Entry] = []
        private var places: [String: Int] = [:]

        fileprivate init(line: Int, name: String) { (self.line, self.name) = (line, name) }

        subscript(key: String) -> Entry? { places[key].map { entries[$0] } }

        fileprivate mutating func append(_ entry: Entry) {
            places[entry.key] = entries.count
            entries.append(entry)
        }
    }

    static let entryGroup = "Desktop Entry"
    static let ourGroup = "X-Offstage"

    /// The first of each name.
    private(set) var entry: Group?
    private(set) var ours: Group?
    private(set) var misspelt: Misspelt?
    private(set) var diagnostics: [Diagnostic] = []
    private var current: Group?
    private var seen: Set<String> = []

    init(_ text: String) {
        var number = 0
        let lines = Substring(text).utf8.split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        for line in lines {
            number += 1
            let line = line.trimmed
            switch line.first {
            case nil, UInt8(ascii: "#"): break
            case UInt8(ascii: "["): readHeader(line, number)
            default: readEntry(line, number)
            }
        }
        close()
    }

    private mutating func readHeader(_ line: Substring.UTF8View, _ number: Int) {
        let name = line.dropFirst().dropLast()
        let isClosed = line.count >= 2 && line.last == UInt8(ascii: "]")
        warnOfMisspelling(line, number)
        guard isClosed, !name.contains(where: { $0 == 0x5B || $0 == 0x5D || $0 < 0x20 }) else {
            return report(
                number,
                value: String(Substring(line)),
                "is not a group header",
                fix: "Write a name between [ and ], and nothing after it."
            )
        }
        if current == nil, String(Substring(name)) != Self.entryGroup {
            report(
                number,
                value: String(Substring(line)),
                "is the first group",
                fix: "Begin the file with the group [\(Self.entryGroup)]."
            )
        }
        close()
        current = Group(line: number, name: String(Substring(name)))
        if !seen.insert(String(Substring(name))).inserted {
            report(
                number,
                value: String(Substring(line)),
                "is here for the second time",
                fix: "Put all keys of a group under one header."
            )
        }
    }

    private mutating func warnOfMisspelling(_ line: Substring.UTF8View, _ number: Int) {
        let text = String(Substring(line))
        let ours = "[\(Self.ourGroup)]"
        guard misspelt == nil, text != ours else { return }
        let begins = zip(text.utf8, ours.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        let isOurs = begins && text.utf8.count >= ours.utf8.count
        guard isOurs || Spelling.suggestion(for: text, among: [ours]) != nil else { return }
        let hasMore = isOurs && text.utf8.count > ours.utf8.count
        misspelt = Misspelt(
            line: number,
            text: text,
            isOurs: isOurs,
            reason: hasMore
                ? "has something behind the group [\(Self.ourGroup)]"
                : "is not the group [\(Self.ourGroup)]",
            fix: hasMore
                ? "Write \(ours) alone in its line; a comment needs a line of its own."
                : "Write \(ours)."
        )
    }

    private mutating func readEntry(_ line: Substring.UTF8View, _ number: Int) {
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            return report(
                number,
                value: String(Substring(line)),
                "is neither KEY=VALUE nor a [group]",
                fix: "Write a # before a comment, at the start of its line."
            )
        }
        let key = line[..<equals].trimmed
        let value = line[line.index(after: equals)...].trimmed
        let plain = key.prefix { $0 != UInt8(ascii: "[") }
        guard !plain.isEmpty, plain.allSatisfy(\.isKeyCharacter) else {
            return report(
                number,
                value: String(Substring(key)),
                "is not the name of a key",
                fix: "Names of keys have letters, digits and - only."
            )
        }
        // A translation, `Name[de]`: for people only, and nothing of ours is.
        guard plain.count == key.count else { return }
        let name = String(Substring(key))
        guard let group = current else {
            return report(
                number,
                key: name,
                "stands before the first group",
                fix: "Begin the file with the group [\(Self.entryGroup)]."
            )
        }
        if let earlier = group[name] {
            return report(
                number,
                key: name,
                "is here for the second time, after line \(earlier.line)",
                fix: "Remove one of the two."
            )
        }
        current?.append(Entry(line: number, key: name, value: String(Substring(value))))
    }

    private mutating func close() {
        guard let group = current else { return }
        if group.name == Self.entryGroup, entry == nil { entry = group }
        if group.name == Self.ourGroup, ours == nil { ours = group }
    }

    /// An error in our own group; a warning elsewhere, where others write what they like.
    private mutating func report(
        _ line: Int,
        key: String? = nil,
        value: String? = nil,
        _ reason: String,
        fix: String
    ) {
        guard diagnostics.count < Diagnostic.limit else { return }
        diagnostics.append(
            Diagnostic(
                current?.name == Self.ourGroup ? .error : .warning,
                line: line,
                key: key,
                value: value,
                reason: reason,
                fix: fix
            )
        )
    }
}

extension Substring.UTF8View {
    /// Without spaces, tabs and carriage returns at either end.
    var trimmed: Self {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var text = self
        while let first = text.first, isSpace(first) { text = text.dropFirst() }
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return text
    }
}

extension UInt8 {
    fileprivate var isKeyCharacter: Bool { isLetter || isDigit || self == UInt8(ascii: "-") }
}
