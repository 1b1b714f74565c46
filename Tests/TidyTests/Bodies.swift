/// A function, initialiser, subscript or computed property with its body, from the line where its
/// declaration begins to the one where the body ends.
struct Body: Equatable {
    var keyword: String
    var firstLine: Int
    var lastLine: Int

    var lineCount: Int { lastLine - firstLine + 1 }

    /// All bodies in a Swift file, nested ones included.
    static func all(inSwift code: SourceText) -> [Body] {
        ["func", "init", "deinit", "subscript", "var"].flatMap { keyword in
            code.places(of: keyword).compactMap { body(inSwift: code, keyword, at: $0) }
        }
    }

    private static func body(inSwift code: SourceText, _ keyword: String, at place: Int) -> Body? {
        // `self.init(…)` calls; `.init(…)` too.
        if place > 0, code.bytes[place - 1] == UInt8(ascii: ".") { return nil }
        var at = place + keyword.utf8.count
        while at < code.bytes.count {
            switch code.bytes[at] {
            case UInt8(ascii: "("), UInt8(ascii: "["):
                guard let end = code.closing(at) else { return nil }
                at = end
            case UInt8(ascii: "{"):
                guard let end = code.closing(at) else { return nil }
                return Body(
                    keyword: keyword,
                    firstLine: code.line(of: place),
                    lastLine: code.line(of: end)
                )
            case UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: "="):
                // A requirement of a protocol, or a property with a value. (`==` as an operator's
                // name comes directly behind `func`, and its parameters behind that.)
                if keyword != "func" || code.bytes[at] != UInt8(ascii: "=") { return nil }
            case UInt8(ascii: "\n"):
                if startsDeclaration(code, at + 1) { return nil }
            default: break
            }
            at += 1
        }
        return nil
    }

    /// Whether the line that begins at `offset` is blank or declares something else, so that the
    /// declaration before it has no body.
    private static func startsDeclaration(_ code: SourceText, _ offset: Int) -> Bool {
        let line = code.text(line: code.line(of: offset))
        let words = line.split(whereSeparator: { !$0.isLetter && $0 != "@" })
        guard let first = words.first else { return !line.contains("{") }
        let beginnings = [
            "func", "var", "let", "init", "deinit", "subscript", "static", "mutating", "case",
            "associatedtype", "package", "private", "fileprivate", "public", "internal",
        ]
        return beginnings.contains(String(first)) || first.hasPrefix("@")
    }

    /// All functions in a C file: a line that ends in `{` and does not begin with a space, up to
    /// the next `}` at the beginning of a line.
    static func all(inC code: SourceText) -> [Body] {
        var bodies: [Body] = []
        var first: Int?
        for number in 1..<(code.lineCount + 1) {
            let line = code.text(line: number)
            if let start = first, line.hasPrefix("}") {
                bodies.append(Body(keyword: "function", firstLine: start, lastLine: number))
                first = nil
            } else if first == nil, line.first.map({ $0.isLetter || $0 == "{" }) == true {
                first = line.trimmed.hasSuffix("{") ? number : nil
            }
        }
        return bodies
    }
}

extension String {
    var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
