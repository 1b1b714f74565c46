/// A new case of an enum of ours must be a compile error wherever a core decides by that enum.
///
/// Which switch is over an enum of ours is told from its patterns: they name cases (`.b`, alone or
/// within a tuple), and enums in the cores declare all of these names. A switch over text, numbers
/// or an enum from elsewhere may have a `default:`.
let switches = Rule(
    name: "no default in a core's switch over an enum of ours",
    applies: \.isCore,
    check: { file in
        let declared = ownCases.union(caseNames(declaredIn: file.code))
        return file.code.places(of: "switch").flatMap { place -> [Finding] in
            guard let labels = SwitchLabels(file.code, at: place), !labels.cases.isEmpty,
                labels.cases.isSubset(of: declared)
            else { return [] }
            return labels.defaults.map { file.finding(at: $0, "default in a switch over an enum") }
        }
    },
    bad: [
        sample("switch a {\ncase .b: c()\ndefault: d()\n}", line: 4),
        sample(
            "switch (a, b) {\ncase (.c, 1): d()\ncase (1, let .b(x)): e()\ndefault:\n}",
            line: 5
        ),
        sample(
            "switch a {\ncase 1: switch c {\n case let .d(e): f()\n default: g()\n}\ndefault: h()}",
            line: 5
        ),
        sample("switch a {\ncase .some(.b), .none: c()\ndefault: d()\n}", line: 4),
    ],
    good: [
        sample("switch a {\ncase 1, 2: b()\ndefault: c()\n}"),
        sample("switch a {\ncase \"b\": switch c {\n  case .d: e()\n }\ndefault: f(.g)\n}"),
        sample("switch scalar.category {\ncase .b, .notOurs: true\ndefault: false\n}"),
    ]
)

private func sample(_ text: String, line: Int = 1) -> Rule.Sample {
    Rule.Sample(
        "Sources/DeviceCore/A.swift",
        "enum A { case b(Int), c; case d = 1 }\n" + text,
        line: line
    )
}

/// The names of all enum cases that the cores declare.
private let ownCases = Tree.current.files.filter(\.isCore).reduce(into: Set<String>()) {
    $0.formUnion(caseNames(declaredIn: $1.code))
}

private func caseNames(declaredIn code: SourceText) -> Set<String> {
    var names: Set<String> = []
    for place in code.places(of: "enum") {
        guard let open = code.bytes[place...].firstIndex(of: UInt8(ascii: "{")),
            let end = code.closing(open)
        else { continue }
        for at in code.topLevel(open, end, word: "case") {
            names.formUnion(declaredNames(code, from: at + 4))
        }
    }
    return names
}

/// `b, c(Int) = 2, d` as in an enum, from behind the word `case`.
private func declaredNames(_ code: SourceText, from start: Int) -> [String] {
    var names: [String] = []
    var at = start
    while at < code.bytes.count {
        while at < code.bytes.count, isSpace(code.bytes[at]) { at += 1 }
        let name = code.word(at: at)
        if name.isEmpty { return names }
        names.append(name)
        at += name.utf8.count
        // What a case carries and its raw value.
        while at < code.bytes.count, code.bytes[at] != UInt8(ascii: ",") {
            if [UInt8(ascii: "\n"), UInt8(ascii: ";"), UInt8(ascii: "}")].contains(code.bytes[at]) {
                return names
            }
            at = (SourceText.opening.contains(code.bytes[at]) ? code.closing(at) ?? at : at) + 1
        }
        at += 1
    }
    return names
}

/// The labels of one switch, without those of switches within it.
private struct SwitchLabels {
    /// Names of cases in the patterns; those of `Optional` and `Result` say nothing.
    var cases: Set<String> = []
    var defaults: [Int] = []

    init?(_ code: SourceText, at place: Int) {
        guard let open = Self.openBrace(code, from: place), let end = code.closing(open) else {
            return nil
        }
        for at in code.topLevel(open, end, word: "case") {
            cases.formUnion(Self.patternNames(code, at + 4))
        }
        cases.subtract(["some", "none", "success", "failure"])
        defaults = code.topLevel(open, end, word: "default")
    }

    private static func openBrace(_ code: SourceText, from place: Int) -> Int? {
        var at = place
        while at < code.bytes.count {
            switch code.bytes[at] {
            case UInt8(ascii: "{"): return at
            case UInt8(ascii: "("), UInt8(ascii: "["): at = code.closing(at) ?? code.bytes.count
            default: break
            }
            at += 1
        }
        return nil
    }

    /// The names behind dots that begin a pattern: `.b`, `let .b(c)`, `(.b, _)`.
    private static func patternNames(_ code: SourceText, _ start: Int) -> [String] {
        var names: [String] = []
        var at = start
        while at < code.bytes.count, code.bytes[at] != UInt8(ascii: ":") {
            let previous = code.bytes[at - 1]
            if code.bytes[at] == UInt8(ascii: "."),
                isSpace(previous) || previous == UInt8(ascii: "(")
            {
                names.append(code.word(at: at + 1))
            }
            if code.text(from: at, "where") { break }
            at += 1
        }
        return names.filter { !$0.isEmpty }
    }
}

extension SourceText {
    /// Where `word` stands between two brackets, but not within further ones.
    fileprivate func topLevel(_ open: Int, _ end: Int, word: String) -> [Int] {
        var found: [Int] = []
        var at = open + 1
        while at < end {
            if Self.opening.contains(bytes[at]) {
                at = closing(at) ?? end
            } else if text(from: at, word), bytes[at - 1] != UInt8(ascii: ".") {
                found.append(at)
            }
            at += 1
        }
        return found
    }

    /// Whether the whole word `word` stands at `at`.
    fileprivate func text(from at: Int, _ word: String) -> Bool {
        at > 0 && !isWord(bytes[at - 1]) && self.word(at: at) == word
    }

    fileprivate func word(at: Int) -> String {
        guard at < bytes.count, isWord(bytes[at]) else { return "" }
        return String(decoding: bytes[at...].prefix(while: isWord), as: UTF8.self)
    }
}
