/// One word of Swift source. What stands in comments and literals is none.
struct Token: Equatable {
    enum Kind: UInt8 {
        /// A name or a keyword; one in backticks without them.
        case name
        /// `#if`, `#selector`: the name behind the `#`.
        case hash
        case number
        /// A string, up to its end or its first interpolation, whose code follows in parentheses.
        case text
        case regex
        /// One byte of punctuation.
        case mark
    }

    var kind: Kind
    /// The byte of a mark; 0 of anything else.
    var mark: UInt8 = 0
    /// In backticks, so never a keyword.
    var isQuoted = false
    /// Counted from 1.
    var line: Int32
    /// The bytes of a name.
    var start: Int32
    var end: Int32
    /// Of a name: where it stands in the table of words that matter; negative if it does not.
    var word: Int32 = -1

    func isMark(_ character: Unicode.Scalar) -> Bool {
        kind == .mark && mark == UInt8(ascii: character)
    }
}

/// Bytes by what a lexer of Swift makes of them.
enum ByteClass {
    /// What a name begins with. Everything beyond ASCII counts as a letter.
    @inline(__always)
    static func beginsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
            true
        default: false
        }
    }

    @inline(__always)
    static func endsLine(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || endsLine(byte)
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    @inline(__always)
    static func isName(_ byte: UInt8) -> Bool { beginsName(byte) || isDigit(byte) }
}
