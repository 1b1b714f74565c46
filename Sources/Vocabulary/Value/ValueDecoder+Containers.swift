struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: ValueReader
    let map: ValueMap

    var codingPath: [any CodingKey] { reader.codingPath }
    var allKeys: [Key] { map.entries.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { map[key.stringValue] != nil }

    private func value(_ name: String) throws -> Value {
        guard let value = map[name] else {
            throw reader.error(.missing, at: .key(name), "is missing")
        }
        return value
    }

    /// The value of a field that may be absent or null.
    private func present(_ name: String) -> Value? {
        guard let value = map[name], !value.isNull else { return nil }
        return value
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key.stringValue).isNull }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let name = key.stringValue
        return try reader.bool(try value(name), at: .key(name))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let name = key.stringValue
        return try reader.string(try value(name), at: .key(name))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let name = key.stringValue
        return try reader.double(try value(name), at: .key(name))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        Float(try decode(Double.self, forKey: key))
    }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let name = key.stringValue
        return try reader.integer(try value(name), at: .key(name))
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let name = key.stringValue
        return try reader.nested(type, try value(name), at: .key(name))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        let name = key.stringValue
        return try present(name).map { try reader.bool($0, at: .key(name)) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        let name = key.stringValue
        return try present(name).map { try reader.string($0, at: .key(name)) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        let name = key.stringValue
        return try present(name).map { try reader.double($0, at: .key(name)) }
    }

    func decodeIfPresent<T: FixedWidthInteger & Decodable>(
        _ type: T.Type,
        forKey key: Key
    ) throws -> T? {
        let name = key.stringValue
        return try present(name).map { try reader.integer($0, at: .key(name)) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let name = key.stringValue
        return try present(name).map { try reader.nested(type, $0, at: .key(name)) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(try child(key.stringValue).keyed())
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key.stringValue).unkeyed()
    }

    func superDecoder() throws -> any Decoder { try child("super") }

    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key.stringValue) }

    private func child(_ name: String) throws -> ValueReader {
        ValueReader(try value(name), parent: reader, step: .key(name))
    }
}

struct UnkeyedReader: UnkeyedDecodingContainer {
    let reader: ValueReader
    let list: [Value]
    private(set) var currentIndex = 0

    init(reader: ValueReader, list: [Value]) { (self.reader, self.list) = (reader, list) }

    var codingPath: [any CodingKey] { reader.codingPath }
    var count: Int? { list.count }
    var isAtEnd: Bool { currentIndex == list.count }

    /// Reads one element with `body`; stays where it is when that throws.
    private mutating func next<T>(_ body: (Value, PathStep) throws -> T) throws -> T {
        guard !isAtEnd else {
            throw reader.error(.missing, at: .index(currentIndex), "is missing")
        }
        let result = try body(list[currentIndex], .index(currentIndex))
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else {
            throw reader.error(.missing, at: .index(currentIndex), "is missing")
        }
        guard list[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(reader.bool) }
    mutating func decode(_ type: String.Type) throws -> String { try next(reader.string) }
    mutating func decode(_ type: Double.Type) throws -> Double { try next(reader.double) }
    mutating func decode(_ type: Float.Type) throws -> Float { Float(try next(reader.double)) }

    mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
        try next(reader.integer)
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let reader = reader
        return try next { try reader.nested(type, $0, at: $1) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(try child().keyed())
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try child().unkeyed()
    }

    mutating func superDecoder() throws -> any Decoder { try child() }

    private mutating func child() throws -> ValueReader {
        let reader = reader
        return try next { ValueReader($0, parent: reader, step: $1) }
    }
}

struct SingleReader: SingleValueDecodingContainer {
    let reader: ValueReader

    var codingPath: [any CodingKey] { reader.codingPath }

    func decodeNil() -> Bool { reader.value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool { try reader.bool(reader.value, at: .none) }
    func decode(_ type: String.Type) throws -> String {
        try reader.string(reader.value, at: .none)
    }
    func decode(_ type: Double.Type) throws -> Double {
        try reader.double(reader.value, at: .none)
    }
    func decode(_ type: Float.Type) throws -> Float {
        Float(try reader.double(reader.value, at: .none))
    }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
        try reader.integer(reader.value, at: .none)
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try reader.read(type) }
}
