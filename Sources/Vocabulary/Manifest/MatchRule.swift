/// A D-Bus match rule that picks signals: `type='signal',interface='org.bluez.Device1'`.
package struct MatchRule: Hashable, Sendable {
    package struct Term: Hashable, Sendable {
        package let key: String
        package let value: String
    }

    /// In the order of the text, each key once.
    package let terms: [Term]

    package subscript(key: String) -> String? { terms.first { $0.key == key }?.value }

    /// The terms of `text`, if it is a rule that picks some signals and not simply all.
    init(_ text: String) throws(Problem) {
        var terms: [Term] = []
        for (key, value) in try Self.split(text) {
            guard Self.isKnown(key) else {
                throw Problem(
                    "has \(key.quoted), which no match rule has",
                    fix: Spelling.hint(
                        for: key,
                        among: Self.keys,
                        otherwise: "Terms are \(Self.keys.joined(separator: ", ")) and argN."
                    ),
                    part: text
                )
            }
            guard !terms.contains(where: { $0.key == key }) else {
                throw Problem("has \(key) twice", fix: "Remove one.", part: text)
            }
            terms.append(Term(key: key, value: value))
        }
        self.terms = terms
        guard self["type"] ?? "signal" == "signal" else {
            throw Problem("does not match signals", fix: "Write type='signal'.", part: text)
        }
        guard terms.contains(where: { Self.picking.contains($0.key) }) else {
            throw Problem(
                "matches every signal",
                fix: "Name an interface, a member, a path or a sender.",
                part: text
            )
        }
    }

    private static let picking = ["sender", "interface", "member", "path", "path_namespace"]
    private static let keys = ["type"] + picking + ["destination", "arg0namespace"]

    private static func isKnown(_ key: String) -> Bool {
        if keys.contains(key) { return true }
        guard key.hasPrefix("arg") else { return false }
        let rest = key.dropFirst(3)
        let digits = rest.hasSuffix("path") ? rest.dropLast(4) : rest
        return digits.utf8.count <= 2 && digits.utf8.allSatisfy(\.isDigit)
            && Int(digits).map { $0 < 64 } ?? false
    }

    /// Splits at commas outside apostrophes; outside them `\'` is an apostrophe.
    private static func split(_ text: String) throws(Problem) -> [(key: String, value: String)] {
        var terms: [(key: String, value: String)] = []
        var (key, value): ([UInt8]?, [UInt8]) = (nil, [])
        var (isQuoted, isEscape) = (false, false)
        for byte in Array(text.utf8) + [UInt8(ascii: ",")] {
            if isEscape {
                if byte != UInt8(ascii: "'") { value.append(UInt8(ascii: "\\")) }
                isEscape = false
            } else if byte == UInt8(ascii: "'"), key != nil {
                isQuoted.toggle()
                continue
            } else if byte == UInt8(ascii: "\\"), !isQuoted {
                isEscape = true
                continue
            } else if byte == UInt8(ascii: ","), !isQuoted {
                guard let name = key else { throw notTerms(text) }
                terms.append(
                    (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
                )
                (key, value) = (nil, [])
                continue
            } else if byte == UInt8(ascii: "="), key == nil {
                (key, value) = (value.filter { $0 != 0x20 }, [])
                continue
            }
            value.append(byte)
        }
        guard !isQuoted, !isEscape, key == nil, value.isEmpty else { throw notTerms(text) }
        return terms
    }

    private static func notTerms(_ text: String) -> Problem {
        Problem(
            "is not a D-Bus match rule",
            fix: "Write terms such as interface='org.bluez.Device1',member='Changed'.",
            part: text
        )
    }
}
