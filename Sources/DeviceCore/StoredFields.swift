import Vocabulary

/// The fields of a record as the store keeps it, taken one after the other in the order of their
/// names. Reading the records is most of what a start takes, and `Codable` most of that: apps and
/// requests, of which there may be thousands, are read with this instead. A record with an unknown
/// field, or a value of the wrong type, is not accepted here: `Codable` reads it, or reports what
/// is wrong with it.
struct StoredFields {
    private let entries: [ValueMap.Entry]
    private var index = 0
    private var isUsual = true

    init?(_ value: Value) {
        guard case .map(let map) = value else { return nil }
        entries = map.entries
    }

    /// Each field was asked for, and is of the kind that was asked for.
    var areTaken: Bool { isUsual && index == entries.count }

    private mutating func next(_ key: String) -> Value? {
        guard index < entries.count, entries[index].key.hasSameBytes(as: key) else { return nil }
        index += 1
        return entries[index - 1].value
    }

    /// Nil: it is not there, or not what `read` takes.
    mutating func take<Field>(_ key: String, _ read: (Value) -> Field?) -> Field? {
        guard let value = next(key) else { return nil }
        let field = read(value)
        isUsual = isUsual && field != nil
        return field
    }

    mutating func text(_ key: String) -> String? { take(key, \.stringValue) }

    mutating func number(_ key: String) -> Int64? {
        take(key) { if case .integer(let number) = $0 { number } else { nil } }
    }

    mutating func time<Clock>(_ key: String) -> Instant<Clock>? {
        number(key).map { Instant(nanoseconds: $0) }
    }

    mutating func span(_ key: String) -> Interval? { number(key).map { Interval(nanoseconds: $0) } }

    mutating func flag(_ key: String) -> Bool? { take(key, \.boolValue) }

    mutating func word<Word: RawRepresentable<String>>(_ key: String) -> Word? {
        take(key) { $0.stringValue.flatMap(Word.init(rawValue:)) }
    }

    mutating func words<Word: RawRepresentable<String>>(_ key: String) -> [Word]? {
        list(key) { $0.stringValue.flatMap(Word.init(rawValue:)) }
    }

    mutating func map(_ key: String) -> ValueMap? {
        take(key) { if case .map(let map) = $0 { map } else { nil } }
    }

    mutating func serial<Kind>(_ key: String) -> Serial<Kind>? {
        take(key) {
            guard case .integer(let number) = $0, number >= 0 else { return nil }
            return Serial(UInt64(number))
        }
    }

    mutating func list<Element>(
        _ key: String,
        _ read: (Value) -> Element?
    ) -> [Element]? {
        take(key) { value in
            guard case .list(let values) = value else { return nil }
            var list: [Element] = []
            list.reserveCapacity(values.count)
            for value in values {
                guard let element = read(value) else { return nil }
                list.append(element)
            }
            return list
        }
    }

    mutating func texts(_ key: String) -> [String]? { list(key, \.stringValue) }

    mutating func statuses(_ key: String) -> [Int32]? {
        list(key) {
            if case .integer(let number) = $0 { Int32(exactly: number) } else { nil }
        }
    }

    /// By `Codable`.
    mutating func decoded<Field: Decodable>(_ key: String) -> Field? {
        take(key) { try? ValueDecoder().decode(Field.self, from: $0) }
    }
}
