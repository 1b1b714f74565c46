/// Something in the tree that should not be there.
struct Finding: Equatable, CustomStringConvertible {
    var path: String
    /// Counted from 1.
    var line: Int
    var what: String

    var description: String { "\(path):\(line): \(what)" }
}

/// A rule that each file keeps by itself.
struct Rule: Sendable, CustomStringConvertible {
    var name: String
    /// Which files must keep it.
    var applies: @Sendable (TextFile) -> Bool
    var check: @Sendable (TextFile) -> [Finding]
    /// Files that break it, with the line where; they show that the rule can fail.
    var bad: [Sample]
    /// Files that look alike and keep it.
    var good: [Sample] = []

    var description: String { name }

    struct Sample: Sendable {
        var path: String
        var text: String
        var line: Int

        init(_ path: String, _ text: String, line: Int = 1) {
            (self.path, self.text, self.line) = (path, text, line)
        }
    }

    static let all =
        formRules + coreRules + [
            switches, imports, concurrency, preconcurrency, sleeping, leftovers, places, launches,
            units,
        ]
}

extension TextFile {
    func finding(at offset: Int, _ what: String) -> Finding {
        Finding(path: path, line: code.line(of: offset), what: what)
    }
}
