/// Tells code from comments and from the contents of string literals. It knows no more of Swift or
/// C than that takes, which is why it is right where a search for words in the text is not.
struct Lexer {
    enum Language { case swift, other }

    /// Two texts of the same length and lines as `text`: the other part is blanked in each.
    static func split(_ text: String, language: Language) -> (code: [UInt8], comments: [UInt8]) {
        var lexer = Lexer(bytes: Array(text.utf8), language: language)
        lexer.run()
        return (lexer.code, lexer.comments)
    }

    private struct Literal {
        var pounds: Int
        var isMultiline: Bool
        var quote: UInt8
    }

    /// What encloses the present place.
    private enum Context {
        case literal(Literal)
        /// Code within `\(…)`, with the number of parentheses open in it.
        case interpolation(Int)
    }

    private let bytes: [UInt8]
    private let language: Language
    private var at = 0
    private var contexts: [Context] = []
    private var code: [UInt8] = []
    private var comments: [UInt8] = []

    private init(bytes: [UInt8], language: Language) {
        (self.bytes, self.language) = (bytes, language)
        code.reserveCapacity(bytes.count)
        comments.reserveCapacity(bytes.count)
    }

    private mutating func run() {
        while at < bytes.count {
            if case .literal(let literal)? = contexts.last {
                readLiteral(literal)
            } else {
                readCode()
            }
        }
    }

    private mutating func readCode() {
        if starts(with: "//") {
            while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { take(.comment) }
        } else if starts(with: "/*") {
            readBlockComment()
        } else if let literal = literalStart() {
            take(.code, literal.pounds + (literal.isMultiline ? 3 : 1))
            contexts.append(.literal(literal))
        } else {
            readParentheses()
            take(.code)
        }
    }

    private mutating func readParentheses() {
        guard case .interpolation(let open)? = contexts.last else { return }
        if bytes[at] == UInt8(ascii: "(") {
            contexts[contexts.count - 1] = .interpolation(open + 1)
        } else if bytes[at] == UInt8(ascii: ")") {
            if open == 0 {
                contexts.removeLast()
            } else {
                contexts[contexts.count - 1] = .interpolation(open - 1)
            }
        }
    }

    private mutating func readBlockComment() {
        var depth = 0
        while at < bytes.count {
            if starts(with: "/*"), depth == 0 || language == .swift {
                depth += 1
                take(.comment, 2)
            } else if starts(with: "*/") {
                depth -= 1
                take(.comment, 2)
                if depth == 0 { return }
            } else {
                take(.comment)
            }
        }
    }

    private mutating func readLiteral(_ literal: Literal) {
        let pounds = String(repeating: "#", count: literal.pounds)
        let quote = String(decoding: [literal.quote], as: UTF8.self)
        let end = (literal.isMultiline ? quote + quote + quote : quote) + pounds
        if starts(with: end) {
            take(.code, end.utf8.count)
            contexts.removeLast()
        } else if starts(with: "\\" + pounds + "("), language == .swift {
            take(.code, 2 + literal.pounds)
            contexts.append(.interpolation(0))
        } else if starts(with: "\\" + pounds) {
            take(.blank, min(2 + literal.pounds, bytes.count - at))
        } else if bytes[at] == UInt8(ascii: "\n"), !literal.isMultiline {
            // No literal after all (a quote in a shell script's or document's prose).
            contexts.removeLast()
        } else {
            take(.blank)
        }
    }

    private func literalStart() -> Literal? {
        var quoteAt = at
        while quoteAt < bytes.count, bytes[quoteAt] == UInt8(ascii: "#") { quoteAt += 1 }
        guard quoteAt < bytes.count else { return nil }
        let quote = bytes[quoteAt]
        let isQuote =
            quote == UInt8(ascii: "\"") || (language == .other && quote == UInt8(ascii: "'"))
        guard isQuote, language == .swift || quoteAt == at else { return nil }
        let triple = bytes[quoteAt...].prefix(3).elementsEqual([quote, quote, quote])
        return Literal(
            pounds: quoteAt - at,
            isMultiline: language == .swift && triple,
            quote: quote
        )
    }

    private enum Kind { case code, comment, blank }

    private mutating func take(_ kind: Kind, _ count: Int = 1) {
        for _ in 0..<count where at < bytes.count {
            let byte = bytes[at]
            let blank = byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " ")
            code.append(kind == .code ? byte : blank)
            comments.append(kind == .comment ? byte : blank)
            at += 1
        }
    }

    private func starts(with prefix: String) -> Bool {
        bytes[at...].starts(with: prefix.utf8)
    }
}
