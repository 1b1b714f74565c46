/// One header field of a request or an answer.
package struct HTTPField: Hashable, Sendable, Codable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    /// `NAME: VALUE`; nil: it is not legal.
    package init?(line: String) {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 }
        let bytes = line.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var value = bytes[bytes.index(after: colon)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        self.init(String(line[..<colon]), String(Substring(value)))
        guard isLegal else { return nil }
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
        return elementsEqual(other) { lower($0) == lower($1) }
    }
}

extension HTTPField {
    /// By RFC 9110: a token, and a value without control characters.
    package var isLegal: Bool {
        let marks = "!#$%&'*+-.^_`|~".utf8
        let isToken = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || marks.contains($0)
        }
        return !name.isEmpty && isToken
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}
