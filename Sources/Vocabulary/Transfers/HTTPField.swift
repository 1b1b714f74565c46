/// One header field of a request or an answer.
package struct HTTPField: Hashable, Sendable, Codable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    /// `NAME: VALUE`; nil: it is not legal.
    package init?(line: String) {
        let bytes = line.utf8Span.span
        guard let colon = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: ":") })
        else { return nil }
        var (start, end) = (colon + 1, bytes.count)
        while start < end, bytes[start].isBlank { start += 1 }
        while start < end, bytes[end - 1].isBlank { end -= 1 }
        self.init(line.slice(0..<colon), line.slice(start..<end))
        guard isLegal else { return nil }
    }
}

extension String {
    /// The offsets are in bytes and lie between whole characters.
    fileprivate func slice(_ range: Range<Int>) -> String {
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return String(self[start..<utf8.index(start, offsetBy: range.count)])
    }
}

extension [HTTPField] {
    /// The value of the first field of this name, in whatever case it is written.
    package func value(of name: String) -> String? {
        first { $0.name.utf8.elementsEqualIgnoringCase(name.utf8) }?.value
    }

    /// The values of all fields of this name.
    package func values(of name: String) -> [String] {
        filter { $0.name.utf8.elementsEqualIgnoringCase(name.utf8) }.map(\.value)
    }

    package mutating func removeAll(named name: String) {
        removeAll { $0.name.utf8.elementsEqualIgnoringCase(name.utf8) }
    }
}

extension String.UTF8View {
    /// Whether both are the same but for the case of ASCII letters.
    fileprivate func elementsEqualIgnoringCase(_ other: Self) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return count == other.count && elementsEqual(other) { lower($0) == lower($1) }
    }
}

extension HTTPField {
    /// By RFC 9110: a token, and a value without control characters.
    package var isLegal: Bool {
        guard !name.isEmpty else { return false }
        let (name, value) = (name.utf8Span.span, value.utf8Span.span)
        return name.indices.allSatisfy { name[$0].isOfToken }
            && value.indices.allSatisfy { value[$0].isOfValue }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    fileprivate var isOfToken: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            // With a circumflex, a low line and a grave accent before the letters.
            UInt8(ascii: "^")...UInt8(ascii: "z"), UInt8(ascii: "#")...UInt8(ascii: "'"),
            UInt8(ascii: "!"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    fileprivate var isOfValue: Bool { self >= 0x20 && self != 0x7f || self == UInt8(ascii: "\t") }
}
