/// Splits Swift source into tokens. Never fails: what is no Swift gives some tokens too.
///
/// It knows nested comments, raw and multi-line strings, code in interpolations, and literals of
/// regular expressions. A `/` begins one of these where an operand may stand and the line closes
/// it, which is the rule of the language.
struct SwiftLexer {
    let bytes: [UInt8]
    var at = 0
    var line: Int32 = 1
    /// Interpolations that are open, the innermost last.
    var interpolations: [Interpolation] = []
    /// Whether the last token ended an operand, so that a `/` divides.
    var isAfterOperand = false
    /// Words that matter, by their bytes.
    private let words: WordIndex

    /// Code within a string.
    struct Interpolation {
        /// Of the string around it.
        var pounds: Int
        var isMultiline: Bool
        /// Parentheses that are open.
        var depth = 0
    }

    /// Deeper interpolations are read as plain text of the string.
    static let interpolationLimit = 200

    init(_ bytes: [UInt8], _ words: WordIndex) {
        (self.bytes, self.words) = (bytes, words)
        skipShebang()
    }

    /// All tokens of a source.
    static func tokens(_ bytes: [UInt8], _ words: WordIndex) -> [Token] {
        var tokens: [Token] = []
        tokens.reserveCapacity(bytes.count / 6)
        var lexer = SwiftLexer(bytes, words)
        while let token = lexer.next() { tokens.append(token) }
        return tokens
    }

    /// The byte so far ahead; 0 behind the end.
    @inline(__always)
    func byte(_ offset: Int = 0) -> UInt8 {
        let place = at + offset
        return place < bytes.count ? bytes[place] : 0
    }

    mutating func next() -> Token? {
        skipSpace()
        guard at < bytes.count else { return nil }
        let first = bytes[at]
        if ByteClass.beginsName(first) { return name() }
        if ByteClass.isDigit(first) { return number() }
        switch first {
        case UInt8(ascii: "`"): return quotedName()
        case UInt8(ascii: "\""): return string(pounds: 0)
        case UInt8(ascii: "#"): return hash()
        case UInt8(ascii: "/"):
            if !isAfterOperand, let end = regexEnd() { return regex(to: end) }
            return mark()
        default: return mark()
        }
    }

    private mutating func skipShebang() {
        if byte() == UInt8(ascii: "#"), byte(1) == UInt8(ascii: "!") { skipLine() }
    }

    /// Up to the end of the line, which stays.
    mutating func skipLine() {
        while at < bytes.count, !ByteClass.endsLine(bytes[at]) { at += 1 }
    }

    /// Over the end of a line: a line feed, a carriage return, or both.
    mutating func skipLineEnd() {
        at += byte() == UInt8(ascii: "\r") && byte(1) == UInt8(ascii: "\n") ? 2 : 1
        line += 1
    }

    /// White space and comments.
    private mutating func skipSpace() {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): skipLineEnd()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0:
                at += 1
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): skipLine()
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipComment()
            // The mark of byte order, as some editors begin a file.
            case 0xEF where at == 0 && byte(1) == 0xBB && byte(2) == 0xBF: at += 3
            default: return
            }
        }
    }

    /// A comment with those within it; one that is not closed goes on to the end.
    private mutating func skipComment() {
        var depth = 0
        while at < bytes.count {
            switch (bytes[at], byte(1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                at += 2
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                at += 2
                if depth == 0 { return }
            case (UInt8(ascii: "\n"), _), (UInt8(ascii: "\r"), _): skipLineEnd()
            default: at += 1
            }
        }
    }

    private mutating func name() -> Token {
        let start = at
        var hash = WordIndex.seed
        while at < bytes.count, ByteClass.isName(bytes[at]) {
            hash = WordIndex.add(bytes[at], to: hash)
            at += 1
        }
        let word = words.find(hash, bytes, start..<at)
        // Behind a point a keyword is the name of a member.
        isAfterOperand = isBehindPoint(start) || !words.expectsOperand(word)
        return Token(
            kind: .name,
            line: line,
            start: Int32(start),
            end: Int32(at),
            word: Int32(word)
        )
    }

    /// Whether one point stands before the byte; two make an operator.
    private func isBehindPoint(_ place: Int) -> Bool {
        place > 0 && bytes[place - 1] == UInt8(ascii: ".")
            && (place == 1 || bytes[place - 2] != UInt8(ascii: "."))
    }

    private mutating func quotedName() -> Token {
        var end = at + 1
        var hash = WordIndex.seed
        while end < bytes.count, bytes[end] != UInt8(ascii: "`"), !ByteClass.endsLine(bytes[end]) {
            hash = WordIndex.add(bytes[end], to: hash)
            end += 1
        }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "`") else { return mark() }
        let word = words.find(hash, bytes, at + 1..<end)
        let token = Token(
            kind: .name,
            isQuoted: true,
            line: line,
            start: Int32(at + 1),
            end: Int32(end),
            word: Int32(word)
        )
        at = end + 1
        isAfterOperand = true
        return token
    }

    private mutating func number() -> Token {
        let start = at
        while at < bytes.count, ByteClass.isName(bytes[at]) { at += 1 }
        if byte() == UInt8(ascii: "."), ByteClass.isDigit(byte(1)) {
            at += 1
            while at < bytes.count, ByteClass.isName(bytes[at]) { at += 1 }
        }
        isAfterOperand = true
        return token(.number, from: start)
    }

    private mutating func mark() -> Token {
        let first = bytes[at]
        let token = Token(
            kind: .mark,
            mark: first,
            line: line,
            start: Int32(at),
            end: Int32(at + 1)
        )
        at += 1
        switch first {
        case UInt8(ascii: "("):
            if !interpolations.isEmpty { interpolations[interpolations.count - 1].depth += 1 }
            isAfterOperand = false
        case UInt8(ascii: ")"):
            isAfterOperand = true
            closeParenthesis()
        case UInt8(ascii: "]"), UInt8(ascii: "}"): isAfterOperand = true
        // Without a space before it, it belongs to the operand: `total!/2`.
        case UInt8(ascii: "!"), UInt8(ascii: "?"):
            if at > 1, ByteClass.isSpace(bytes[at - 2]) { isAfterOperand = false }
        default: isAfterOperand = false
        }
        return token
    }

    /// A parenthesis that closes an interpolation leads back into its string.
    private mutating func closeParenthesis() {
        guard let last = interpolations.last else { return }
        guard last.depth <= 1 else {
            interpolations[interpolations.count - 1].depth -= 1
            return
        }
        interpolations.removeLast()
        skipText(pounds: last.pounds, isMultiline: last.isMultiline)
    }

    func token(_ kind: Token.Kind, from start: Int, line: Int32? = nil) -> Token {
        Token(kind: kind, line: line ?? self.line, start: Int32(start), end: Int32(at))
    }
}
