extension SwiftLexer {
    /// What begins with `#`: a raw string, a regular expression, or a name.
    mutating func hash() -> Token {
        var pounds = 0
        while byte(pounds) == UInt8(ascii: "#") { pounds += 1 }
        switch byte(pounds) {
        case UInt8(ascii: "\""): return string(pounds: pounds)
        case UInt8(ascii: "/"): return extendedRegex(pounds: pounds)
        default: break
        }
        let start = at + pounds
        at = start
        while at < bytes.count, ByteClass.isName(bytes[at]) { at += 1 }
        isAfterOperand = false
        return token(.hash, from: start)
    }

    /// A string behind so many `#`.
    mutating func string(pounds: Int) -> Token {
        let (start, first) = (at, line)
        at += pounds
        let isMultiline =
            byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"")
            && (pounds == 0 || !isClosedInLine(pounds: pounds))
        at += isMultiline ? 3 : 1
        skipText(pounds: pounds, isMultiline: isMultiline)
        return token(.text, from: start, line: first)
    }

    /// Whether the raw string whose first quote is here ends in this line: `#"""#` has one quote.
    private func isClosedInLine(pounds: Int) -> Bool {
        var place = at + 2
        while place < bytes.count, !ByteClass.endsLine(bytes[place]) {
            if bytes[place] == UInt8(ascii: "\""), hasPounds(pounds, at: place + 1) { return true }
            place += 1
        }
        return false
    }

    /// Goes on in a string, to its end or to its next interpolation. A string of one line that is
    /// not closed ends with the line.
    mutating func skipText(pounds: Int, isMultiline: Bool) {
        isAfterOperand = true
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard isMultiline else { return }
                skipLineEnd()
            case UInt8(ascii: "\""):
                if closes(pounds: pounds, isMultiline: isMultiline) { return }
                at += 1
            case UInt8(ascii: "\\"):
                guard hasPounds(pounds, at: at + 1) else {
                    at += 1
                    continue
                }
                at += 1 + pounds
                if byte() == UInt8(ascii: "("), interpolations.count < Self.interpolationLimit {
                    interpolations.append(
                        Interpolation(pounds: pounds, isMultiline: isMultiline)
                    )
                    isAfterOperand = false
                    return
                }
                // The byte that is escaped; a line break is counted above.
                if at < bytes.count, !ByteClass.endsLine(bytes[at]) { at += 1 }
            default: at += 1
            }
        }
    }

    /// Steps over the end of a string, if it is here.
    private mutating func closes(pounds: Int, isMultiline: Bool) -> Bool {
        let quotes = isMultiline ? 3 : 1
        for offset in 0..<quotes where byte(offset) != UInt8(ascii: "\"") { return false }
        guard hasPounds(pounds, at: at + quotes) else { return false }
        at += quotes + pounds
        return true
    }

    private func hasPounds(_ pounds: Int, at place: Int) -> Bool {
        guard place + pounds <= bytes.count else { return false }
        return bytes[place..<place + pounds].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    /// A longer literal between slashes is none: a line may have as many slashes as bytes, and
    /// each is looked at.
    static let regexLimit = 1000

    /// Where a regular expression that begins here ends; nil if none does: its line must close
    /// it, it neither begins nor ends with a space, and its parentheses match.
    func regexEnd() -> Int? {
        var place = at + 1
        guard place < bytes.count, !ByteClass.isSpace(bytes[place]),
            bytes[place] != UInt8(ascii: "=")
        else { return nil }
        let end = min(bytes.count, at + Self.regexLimit)
        var depth = 0
        var isEscaped = false
        while place < end {
            switch bytes[place] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return nil
            case UInt8(ascii: "\\"):
                // What is escaped may be the end of the line, which ends the search.
                isEscaped = true
                place += 1
                guard place < end, !ByteClass.endsLine(bytes[place]) else { return nil }
                place += 1
                continue
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                guard depth > 0 else { return nil }
                depth -= 1
            case UInt8(ascii: "/"):
                let endsWithSpace = !isEscaped && ByteClass.isSpace(bytes[place - 1])
                return depth == 0 && !endsWithSpace ? place + 1 : nil
            default: break
            }
            isEscaped = false
            place += 1
        }
        return nil
    }

    mutating func regex(to end: Int) -> Token {
        let start = at
        at = end
        isAfterOperand = true
        return token(.regex, from: start)
    }

    /// `#/…/#`; with a line break behind the opening one it may have many lines.
    private mutating func extendedRegex(pounds: Int) -> Token {
        let (start, first) = (at, line)
        at += pounds + 1
        var ahead = at
        while ahead < bytes.count,
            bytes[ahead] == UInt8(ascii: " ") || bytes[ahead] == UInt8(ascii: "\t")
        { ahead += 1 }
        let isMultiline = ahead < bytes.count && ByteClass.endsLine(bytes[ahead])
        isAfterOperand = true
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard isMultiline else { return token(.regex, from: start, line: first) }
                skipLineEnd()
                continue
            case UInt8(ascii: "\\"):
                if !ByteClass.endsLine(byte(1)) { at += 1 }
            case UInt8(ascii: "/"):
                if hasPounds(pounds, at: at + 1) {
                    at += 1 + pounds
                    return token(.regex, from: start, line: first)
                }
            default: break
            }
            at += 1
        }
        at = bytes.count
        return token(.regex, from: start, line: first)
    }
}
