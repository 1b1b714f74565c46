/// What the gateway must know of a payload, read in one pass without building anything of it.
package struct PayloadScan: Equatable, Sendable {
    /// `content-available: 1` in `aps`.
    package var wakes = false
    /// An alert, a sound or a badge in `aps`.
    package var shows = false

    package var isSilent: Bool { wakes && !shows }

    /// No real payload nests deeper.
    package static let depthLimit = 64

    /// Nil unless `bytes` are one JSON object (RFC 8259) in UTF-8.
    package init?(_ bytes: [UInt8]) {
        var scanner = Scanner(bytes: bytes)
        guard scanner.document() else { return nil }
        (wakes, shows) = (scanner.wakes, scanner.shows)
    }
}

private struct Scanner {
    let bytes: [UInt8]
    var offset = 0
    var wakes = false
    var shows = false

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() -> Bool {
        skipSpace()
        guard next == UInt8(ascii: "{"), object(depth: 0, isAps: false) else { return false }
        skipSpace()
        return offset == bytes.count
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) -> Bool {
        switch next {
        case UInt8(ascii: "{"): return object(depth: depth, isAps: false)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        case .some, .none: return number()
        }
    }

    private mutating func object(depth: Int, isAps: Bool) -> Bool {
        guard depth < PayloadScan.depthLimit else { return false }
        offset += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        while true {
            guard let key = string() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            let start = offset
            if depth == 0, next == UInt8(ascii: "{"), self.is(key, "aps") {
                guard object(depth: 1, isAps: true) else { return false }
            } else {
                guard value(depth: depth + 1) else { return false }
            }
            if isAps { recordField(key, start..<offset) }
            skipSpace()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
    }

    private mutating func recordField(_ key: Range<Int>, _ value: Range<Int>) {
        if self.is(key, "content-available") {
            wakes = value.count == 1 && bytes[value.lowerBound] == UInt8(ascii: "1")
        } else if self.is(key, "alert") || self.is(key, "sound") || self.is(key, "badge") {
            shows = true
        }
    }

    private func `is`(_ key: Range<Int>, _ name: StaticString) -> Bool {
        guard key.count == name.utf8CodeUnitCount else { return false }
        for index in 0..<key.count
        where unsafe bytes[key.lowerBound + index] != name.utf8Start[index] {
            return false
        }
        return true
    }

    private mutating func array(depth: Int) -> Bool {
        guard depth < PayloadScan.depthLimit else { return false }
        offset += 1
        skipSpace()
        if take(UInt8(ascii: "]")) { return true }
        while true {
            guard value(depth: depth + 1) else { return false }
            skipSpace()
            if take(UInt8(ascii: "]")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
    }

    private mutating func word(_ word: StaticString) -> Bool {
        for byte in word.description.utf8 where !take(byte) { return false }
        return true
    }

    private mutating func digits() -> Bool {
        let start = offset
        while let byte = next, isDigit(byte) { offset += 1 }
        return offset > start
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: ".")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() else { return false }
        }
        return true
    }

    /// Where the text between the quotes stands; nil if it is none.
    private mutating func string() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        while true {
            skipPlain()
            guard let byte = next else { return nil }
            if byte == UInt8(ascii: "\"") {
                offset += 1
                return start..<(offset - 1)
            }
            if byte == UInt8(ascii: "\\") {
                guard escape() else { return nil }
            } else if byte >= 0x80 {
                guard character() else { return nil }
            } else {
                return nil
            }
        }
    }

    /// Goes on to what ends a text, or needs a closer look: most of a payload passes here, so eight
    /// bytes at a time.
    private mutating func skipPlain() {
        offset = unsafe bytes.withUnsafeBytes { bytes in
            var next = offset
            while next + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self)
                let marks = Self.marks(UInt64(littleEndian: word))
                if marks != 0 { return next + marks.trailingZeroBitCount / 8 }
                next += 8
            }
            while unsafe next < bytes.count && Self.marks(UInt64(bytes[next])) & 0x80 == 0 {
                next += 1
            }
            return next
        }
    }

    /// The highest bit of the lowest byte that is none of plain text: a control character, a quote,
    /// a backslash, or part of a longer character. Bits above it may be set as well.
    private static func marks(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let slashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        let low = (word &- ones &* 0x20) | (quotes &- ones) | (slashes &- ones)
        return (low & ~word | word) & (ones &* 0x80)
    }

    private mutating func escape() -> Bool {
        offset += 1
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 1
            return true
        case UInt8(ascii: "u"):
            offset += 1
            guard let unit = hexadecimal() else { return false }
            guard unit & 0xF800 == 0xD800 else { return true }
            // Half of a pair: the other half must follow.
            guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")),
                let low = hexadecimal()
            else { return false }
            return low & 0xFC00 == 0xDC00
        case .some, .none: return false
        }
    }

    private mutating func hexadecimal() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Hexadecimal.digit(byte) else { return nil }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    /// One character of more than one byte, in its only well-formed spelling.
    private mutating func character() -> Bool {
        let first = bytes[offset]
        let count: Int
        var least: UInt8 = 0x80
        var most: UInt8 = 0xBF
        switch first {
        case 0xC2...0xDF: count = 2
        case 0xE0: (count, least) = (3, 0xA0)
        case 0xE1...0xEC, 0xEE, 0xEF: count = 3
        case 0xED: (count, most) = (3, 0x9F)
        case 0xF0: (count, least) = (4, 0x90)
        case 0xF1...0xF3: count = 4
        case 0xF4: (count, most) = (4, 0x8F)
        default: return false
        }
        guard offset + count <= bytes.count else { return false }
        for index in 1..<count {
            let byte = bytes[offset + index]
            guard byte >= least, byte <= most else { return false }
            (least, most) = (0x80, 0xBF)
        }
        offset += count
        return true
    }
}
