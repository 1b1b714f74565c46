import Vocabulary

/// Has a form on the link to the network process: its fields, one after the other. Two programs of
/// one version speak it, so that it needs no names; `Codable` costs ten times as much, which is
/// seen where small files come by the thousand.
protocol LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError)
    func put(to fields: inout FieldWriter)
}

struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ value: some LinkValue) { value.put(to: &self) }

    /// Seven bits a byte, the least significant first; the last byte is below 128.
    mutating func number(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    mutating func counted(_ content: some Collection<UInt8>) {
        number(UInt64(content.count))
        bytes.append(contentsOf: content)
    }
}

/// Throws at the first field that is not there, or is none.
struct FieldReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func take<Value: LinkValue>(
        _ type: Value.Type = Value.self
    ) throws(NetworkError) -> Value {
        try Value(from: &self)
    }

    mutating func byte() throws(NetworkError) -> UInt8 {
        guard place < bytes.count else { throw NetworkError("cut short") }
        defer { place += 1 }
        return bytes[place]
    }

    mutating func number() throws(NetworkError) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let next = try byte()
            let part = UInt64(next & 0x7F)
            // One number has one form.
            guard shift < 63 || part <= 1, next > 0 || shift == 0 else {
                throw NetworkError("no such number")
            }
            number |= part << shift
            if next < 0x80 { return number }
            shift += 7
            guard shift < 64 else { throw NetworkError("no such number") }
        }
    }

    /// Of things that take a byte each at least.
    mutating func count() throws(NetworkError) -> Int {
        let count = try number()
        guard count <= UInt64(bytes.count - place) else { throw NetworkError("cut short") }
        return Int(count)
    }

    mutating func counted() throws(NetworkError) -> ArraySlice<UInt8> {
        let count = try count()
        defer { place += count }
        return bytes[place..<place + count]
    }
}

// MARK: Plain values

extension UInt64: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) { self = try fields.number() }
    func put(to fields: inout FieldWriter) { fields.number(self) }
}

extension Int64: LinkValue {
    /// Small ones of either sign are short: 0, -1, 1, -2 and so on.
    init(from fields: inout FieldReader) throws(NetworkError) {
        let number = try fields.number()
        self = Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    func put(to fields: inout FieldWriter) {
        fields.number(UInt64(bitPattern: self << 1 ^ self >> 63))
    }
}

extension Int: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self = Int(try fields.take(Int64.self))
    }
    func put(to fields: inout FieldWriter) { fields.put(Int64(self)) }
}

extension Bool: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        switch try fields.byte() {
        case 0: self = false
        case 1: self = true
        case _: throw NetworkError("neither yes nor no")
        }
    }

    func put(to fields: inout FieldWriter) { fields.byte(self ? 1 : 0) }
}

extension String: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        guard let text = String(validating: try fields.counted(), as: UTF8.self) else {
            throw NetworkError("no UTF-8")
        }
        self = text
    }

    func put(to fields: inout FieldWriter) { fields.counted(utf8) }
}

extension Bytes: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(Array(try fields.counted()))
    }

    func put(to fields: inout FieldWriter) { fields.counted(array) }
}

extension Optional: LinkValue where Wrapped: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self = try fields.take(Bool.self) ? try fields.take(Wrapped.self) : nil
    }

    func put(to fields: inout FieldWriter) {
        fields.put(self != nil)
        if let self { fields.put(self) }
    }
}

extension Array: LinkValue where Element: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        let count = try fields.count()
        self = []
        reserveCapacity(count)
        for _ in 0..<count { append(try fields.take()) }
    }

    func put(to fields: inout FieldWriter) {
        fields.number(UInt64(count))
        for element in self { fields.put(element) }
    }
}

extension Range: LinkValue where Bound == Int64 {
    init(from fields: inout FieldReader) throws(NetworkError) {
        let (lower, upper): (Int64, Int64) = (try fields.take(), try fields.take())
        guard lower <= upper else { throw NetworkError("no such range") }
        self = lower..<upper
    }

    func put(to fields: inout FieldWriter) {
        fields.put(lowerBound)
        fields.put(upperBound)
    }
}

extension Interval: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(nanoseconds: try fields.take())
    }

    func put(to fields: inout FieldWriter) { fields.put(nanoseconds) }
}

extension Serial: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) { self.init(try fields.number()) }
    func put(to fields: inout FieldWriter) { fields.number(number) }
}

/// One of a few, by its place among them.
protocol LinkChoice: LinkValue, CaseIterable, Equatable where AllCases == [Self] {}

extension LinkChoice {
    init(from fields: inout FieldReader) throws(NetworkError) {
        let place = Int(try fields.byte())
        guard place < Self.allCases.count else { throw NetworkError("no such choice") }
        self = Self.allCases[place]
    }

    func put(to fields: inout FieldWriter) {
        fields.byte(UInt8(Self.allCases.firstIndex(of: self) ?? 0))
    }
}
