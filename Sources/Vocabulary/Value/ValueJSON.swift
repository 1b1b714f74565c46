/// Reads JSON text (RFC 8259) into a value: for the output of our own programs, and for tests.
///
/// Strict: one value and nothing after it but white space, no duplicate keys, no lone surrogates,
/// nesting up to `Value.depthLimit`. A number with `.` or an exponent is a double, any other an
/// integer of 64 bits; what fits neither is refused. Never traps.
package enum ValueJSON {
    /// The value that `text` is the JSON form of; at most `limit` bytes.
    package static func parse(
        _ text: String,
        limit: Int = ValueBytes.defaultLimit
    ) throws(ValueError) -> Value {
        try parse(Array(text.utf8), limit: limit)
    }

    /// The same for bytes, which need not be UTF-8.
    package static func parse(
        _ bytes: [UInt8],
        limit: Int = ValueBytes.defaultLimit
    ) throws(ValueError) -> Value {
        guard bytes.count <= limit else {
            throw ValueError(
                .tooLarge,
                offset: limit,
                "\(bytes.count) bytes; at most \(limit) are taken"
            )
        }
        var parser = JSONParser(bytes: bytes)
        return try parser.document()
    }
}

private struct JSONParser {
    private let bytes: [UInt8]
    private var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(ValueError) -> Value {
        skipSpace()
        let value = try value(depth: 0)
        skipSpace()
        guard offset == bytes.count else {
            throw ValueError(.trailing, offset: offset, "something follows the value")
        }
        return value
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    private mutating func value(depth: Int) throws(ValueError) -> Value {
        switch next {
        case UInt8(ascii: "{"): return .map(try map(depth: depth))
        case UInt8(ascii: "["): return .list(try list(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some(let byte) where byte.isDigit || byte == UInt8(ascii: "-"): return try number()
        default: throw unexpected("a value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: Value) throws(ValueError) -> Value {
        for byte in Array("\(word)".utf8) {
            guard next == byte else { throw unexpected("\(word)") }
            offset += 1
        }
        return value
    }

    private mutating func list(depth: Int) throws(ValueError) -> [Value] {
        try open(depth: depth)
        var list: [Value] = []
        if take("]") { return list }
        while true {
            list.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return list }
            guard take(",") else { throw unexpected(", or ]") }
            skipSpace()
        }
    }

    private mutating func map(depth: Int) throws(ValueError) -> ValueMap {
        try open(depth: depth)
        var entries: [ValueMap.Entry] = []
        let start = offset
        if take("}") { return ValueMap() }
        while true {
            guard next == UInt8(ascii: "\"") else { throw unexpected("a key in quotes") }
            let key = try string()
            skipSpace()
            guard take(":") else { throw unexpected(":") }
            skipSpace()
            entries.append(ValueMap.Entry(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            if take("}") { break }
            guard take(",") else { throw unexpected(", or }") }
            skipSpace()
        }
        let map = ValueMap(unsorted: entries)
        guard map.count == entries.count else {
            throw ValueError(.duplicateKey, offset: start, "a key occurs twice")
        }
        return map
    }

    /// Steps over the opening bracket.
    private mutating func open(depth: Int) throws(ValueError) {
        guard depth < Value.depthLimit else {
            throw ValueError(.tooDeep, offset: offset, "more than \(Value.depthLimit) levels")
        }
        offset += 1
        skipSpace()
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func digits() throws(ValueError) {
        let start = offset
        while let byte = next, byte.isDigit { offset += 1 }
        guard offset > start else { throw unexpected("a digit") }
    }

    private mutating func number() throws(ValueError) -> Value {
        let start = offset
        _ = take("-")
        if !take("0") { try digits() }
        var isInteger = true
        if take(".") {
            isInteger = false
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isInteger = false
            offset += 1
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger {
            guard let value = Int64(text) else {
                throw ValueError(.unsupported, offset: start, "an integer of more than 64 bits")
            }
            return .integer(value)
        }
        guard let value = Double(text), value.isFinite else {
            throw ValueError(.unsupported, offset: start, "a number too large for a double")
        }
        return .double(value)
    }

    private mutating func string() throws(ValueError) -> String {
        let start = offset
        offset += 1
        var text: [UInt8] = []
        while true {
            guard let byte = next else { throw unexpected("the end of a string") }
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw ValueError(.notText, offset: start, "text that is not UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                offset += 1
                text.append(contentsOf: Array(String(try escape()).utf8))
            case 0..<0x20: throw unexpected("an escape for a control character")
            default:
                text.append(byte)
                offset += 1
            }
        }
    }

    private mutating func escape() throws(ValueError) -> Unicode.Scalar {
        guard let byte = next else { throw unexpected("an escape") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            offset -= 1
            throw unexpected("one of \" \\ / b f n r t u")
        }
        let start = offset
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // Half of a pair: the other half must follow.
        if unit < 0xDC00, take("\\"), take("u") {
            let low = try hexadecimal()
            if (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(
                    0x1_0000 + (UInt32(unit - 0xD800) << 10) + UInt32(low - 0xDC00)
                )
            {
                return scalar
            }
        }
        throw ValueError(.notText, offset: start, "half of a surrogate pair")
    }

    private mutating func hexadecimal() throws(ValueError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = byte.hexadecimalDigit else {
                throw unexpected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    private func unexpected(_ wanted: String) -> ValueError {
        guard let byte = next else {
            return ValueError(.truncated, offset: offset, "the text ends; wanted \(wanted)")
        }
        let found = String(decoding: [byte], as: UTF8.self)
        return ValueError(.syntax, offset: offset, "\(found.quoted); wanted \(wanted)")
    }
}

extension UInt8 {
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
