extension Value {
    /// JSON text, always the same for the same value: keys in the order of their UTF-8 bytes, bytes
    /// as base64, doubles in the shortest form that reads back (never without `.` or `e`), a NaN
    /// or an infinity as null.
    ///
    /// `pretty` puts one field on a line, two spaces a level; else it is one line without spaces.
    package func json(pretty: Bool = false) -> String {
        var writer = JSONWriter(pretty: pretty)
        writer.write(self, level: 0)
        return String(decoding: writer.text, as: UTF8.self)
    }
}

private struct JSONWriter {
    let pretty: Bool
    private(set) var text: [UInt8] = []

    init(pretty: Bool) { self.pretty = pretty }

    mutating func write(_ value: Value, level: Int) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .double(let value): append(value.isFinite ? value.description : "null")
        case .string(let value): write(value)
        case .bytes(let value): append("\"\(base64(value))\"")
        case .list(let list):
            append("[")
            for (index, value) in list.enumerated() {
                startItem(isFirst: index == 0, level: level)
                write(value, level: level + 1)
            }
            end("]", isEmpty: list.isEmpty, level: level)
        case .map(let map):
            append("{")
            for (index, entry) in map.entries.enumerated() {
                startItem(isFirst: index == 0, level: level)
                write(entry.key)
                append(pretty ? ": " : ":")
                write(entry.value, level: level + 1)
            }
            end("}", isEmpty: map.isEmpty, level: level)
        }
    }

    private mutating func append(_ string: String) { text.append(contentsOf: string.utf8) }

    private mutating func startItem(isFirst: Bool, level: Int) {
        if !isFirst { append(",") }
        newLine(level: level + 1)
    }

    private mutating func end(_ bracket: String, isEmpty: Bool, level: Int) {
        if !isEmpty { newLine(level: level) }
        append(bracket)
    }

    private mutating func newLine(level: Int) {
        guard pretty else { return }
        append("\n")
        for _ in 0..<level { append("  ") }
    }

    private mutating func write(_ string: String) {
        append("\"")
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 0x0A: append("\\n")
            case 0x0D: append("\\r")
            case 0x09: append("\\t")
            // Controls must be escaped; DEL is, for the sake of terminals.
            case 0..<0x20, 0x7F:
                append("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
            default: text.append(byte)
            }
        }
        append("\"")
    }
}

/// Base64 with padding (RFC 4648 section 4).
package func base64(_ bytes: [UInt8]) -> String {
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
