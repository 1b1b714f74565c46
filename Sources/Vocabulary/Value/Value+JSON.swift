extension Value {
    /// JSON text, always the same for the same value: keys in the order of their UTF-8 bytes, bytes
    /// as base64, doubles in the shortest form that reads back (never without `.` or `e`), a NaN
    /// or an infinity as null.
    ///
    /// `pretty` puts one field on a line, two spaces a level; else it is one line without spaces.
    package func json(pretty: Bool = false) -> String {
        var writer = JSONWriter(pretty: pretty)
        writer.write(self, level: 0)
        return writer.text
    }
}

private struct JSONWriter {
    let pretty: Bool
    private(set) var text = ""

    init(pretty: Bool) { self.pretty = pretty }

    mutating func write(_ value: Value, level: Int) {
        switch value {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .double(let value): text += value.isFinite ? value.description : "null"
        case .string(let value): write(value)
        case .bytes(let value): text += "\"\(base64(value))\""
        case .list(let list):
            text += "["
            for (index, value) in list.enumerated() {
                startItem(isFirst: index == 0, level: level)
                write(value, level: level + 1)
            }
            end("]", isEmpty: list.isEmpty, level: level)
        case .map(let map):
            text += "{"
            for (index, entry) in map.entries.enumerated() {
                startItem(isFirst: index == 0, level: level)
                write(entry.key)
                text += pretty ? ": " : ":"
                write(entry.value, level: level + 1)
            }
            end("}", isEmpty: map.isEmpty, level: level)
        }
    }

    private mutating func startItem(isFirst: Bool, level: Int) {
        if !isFirst { text += "," }
        newLine(level: level + 1)
    }

    private mutating func end(_ bracket: String, isEmpty: Bool, level: Int) {
        if !isEmpty { newLine(level: level) }
        text += bracket
    }

    private mutating func newLine(level: Int) {
        guard pretty else { return }
        text += "\n"
        for _ in 0..<level { text += "  " }
    }

    private mutating func write(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Controls as JSON demands; the two line separators for readers that are JavaScript.
            case "\0"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// Base64 with padding (RFC 4648 section 4).
func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        var bits: UInt32 = 0
        for byte in group { bits = bits << 8 | UInt32(byte) }
        bits <<= UInt32(8 * (3 - group.count))
        for index in 0..<4 {
            let digit = Int(bits >> UInt32(18 - 6 * index)) & 0x3F
            encoded.append(index <= group.count ? alphabet[digit] : UInt8(ascii: "="))
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}
