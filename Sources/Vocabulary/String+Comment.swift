/// People write comments at the end of a line. The files that they write for us have none there: it
/// is part of the value.
extension String {
    /// What to do about it.
    package static let commentFix = "A comment needs a line of its own."

    /// What looks like a comment behind a value: from a `#` on that is outside quotes and stands
    /// after a space, or before one. An element of a list may begin with the sign.
    package var trailingComment: Substring? {
        var quote: UInt8?
        var last = UInt8(ascii: ";")
        for (index, byte) in zip(utf8.indices, utf8) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = byte } else if quote == byte { quote = nil }
            case UInt8(ascii: "#") where quote == nil:
                let next = utf8[index...].dropFirst().first ?? 0x20
                let isApart = last == 0x20 || last == 0x09
                if isApart || last == UInt8(ascii: ";") && next == 0x20 { return self[index...] }
            default: break
            }
            last = byte
        }
        return nil
    }

    /// The value without that.
    package var withoutComment: String {
        let rest = utf8.prefix(utf8.count - (trailingComment?.utf8.count ?? 0))
        return String(Substring(Substring(rest).utf8.trimmed))
    }
}
