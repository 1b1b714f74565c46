/// One header field of a request or an answer.
package struct HTTPField: Hashable, Sendable, Codable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

extension [HTTPField] {
    /// The value of the first field of this name, in whatever case it is written.
    package func value(of name: String) -> String? {
        first { $0.name.utf8.elementsEqualIgnoringCase(name.utf8) }?.value
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
