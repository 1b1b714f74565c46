import Vocabulary

// Records are written by hand, which costs a fraction of what `Codable` takes: that was a quarter
// of the daemon's own work for a launch. Rare fields still go through `Codable`. The
// synthesized `Codable` can read every record; `WrittenRecordTests` finds a field forgotten here.

/// The fields of one record; what is nil is left out. Put in the order of their names.
struct RecordFields {
    private(set) var map = ValueMap()

    /// `count`: about so many fields are there.
    init(_ count: Int) { map.reserveCapacity(count) }

    var value: Value { .map(map) }

    mutating func put(_ key: String, _ value: Value) { map.set(key, to: value) }
    mutating func put(_ key: String, _ text: String?) {
        if let text { map.set(key, to: .string(text)) }
    }
    mutating func put(_ key: String, _ texts: [String]?) {
        if let texts { map.set(key, to: .list(texts.map { .string($0) })) }
    }
    mutating func put(_ key: String, unlessEmpty texts: [String]) {
        if !texts.isEmpty { put(key, texts) }
    }
    mutating func put(_ key: String, _ number: Int64?) {
        if let number { map.set(key, to: .integer(number)) }
    }
    mutating func put<Clock>(_ key: String, _ time: Instant<Clock>?) {
        if let time { map.set(key, to: .integer(time.nanoseconds)) }
    }
    mutating func put(_ key: String, _ span: Interval?) {
        if let span { map.set(key, to: .integer(span.nanoseconds)) }
    }
    /// False is left out.
    mutating func put(_ key: String, _ holds: Bool) {
        if holds { map.set(key, to: .bool(true)) }
    }
    mutating func put(_ key: String, _ field: (some Encodable)?) throws(ValueError) {
        if let field { map.set(key, to: try ValueEncoder().encode(field)) }
    }
    /// The default is left out.
    mutating func put<Field: Defaulted>(
        _ key: String,
        unlessDefault field: Field
    ) throws(ValueError) {
        if field != Field.defaultValue { map.set(key, to: try ValueEncoder().encode(field)) }
    }
}

extension Serial {
    /// A number that 64 bits with sign hold, as all are that a device gives out.
    func value() throws(ValueError) -> Value {
        if let value = Value.exactly(number) { return value }
        return try ValueEncoder().encode(self)
    }
}
