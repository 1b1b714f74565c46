/// What leaves a process is made of this: the event log, the store, D-Bus, messages, `--json`.
///
/// A value has exactly one byte form (``ValueBytes``), and two values are equal exactly when their
/// bytes are: strings compare by their UTF-8 bytes, 0.0 and -0.0 differ, every NaN is the same NaN.
package enum Value: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case list([Value])
    case map(ValueMap)

    /// Lists and maps may hold one another this many levels deep, the outermost counted.
    package static let depthLimit = 64

    /// Bytes of memory that each one takes, about, beside its text or its elements: who bounds what
    /// others send counts so.
    package static let overhead = 32

    /// `number` as an integer; nil above `Int64.max`, which no field of ours reaches.
    package static func exactly(_ number: some BinaryInteger) -> Value? {
        Int64(exactly: number).map { .integer($0) }
    }
}

extension Value {
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }
    package var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
    package var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
    /// A double, or an integer that a double holds exactly (JSON does not tell `1` from `1.0`).
    package var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .integer(let value): Double(exactly: value)
        case .null, .bool, .string, .bytes, .list, .map: nil
        }
    }
    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }
    package var bytesValue: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }
    package var listValue: [Value]? {
        if case .list(let value) = self { value } else { nil }
    }
    package var mapValue: ValueMap? {
        if case .map(let value) = self { value } else { nil }
    }

    /// The value of `key`; nil if there is none, or if this is not a map.
    package subscript(key: String) -> Value? { mapValue?[key] }

    /// The element at `index`; nil outside the list, or if this is not a list.
    package subscript(index: Int) -> Value? {
        guard case .list(let list) = self, list.indices.contains(index) else { return nil }
        return list[index]
    }

    /// What kind of value this is, as messages name it.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .integer: "integer"
        case .double: "double"
        case .string: "string"
        case .bytes: "bytes"
        case .list: "list"
        case .map: "map"
        }
    }
}

extension Value: Hashable {
    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left.canonicalBits == right.canonicalBits
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        case (.null, _), (.bool, _), (.integer, _), (.double, _), (.string, _), (.bytes, _),
            (.list, _), (.map, _):
            false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.canonicalBits)
        // Equal bytes make equal strings, so the string's own hash will do.
        case .string(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .list(let value): hasher.combine(value)
        case .map(let value): hasher.combine(value)
        }
    }
}

extension Double {
    /// The bit pattern, with one pattern for all NaNs.
    var canonicalBits: UInt64 { isNaN ? 0x7FF8_0000_0000_0000 : bitPattern }
}

// No nil literal: `map[key] == nil` would ask for `.null`.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: Value...) { self = .list(elements) }
    /// A key given twice has its last value.
    package init(dictionaryLiteral elements: (String, Value)...) { self = .map(ValueMap(elements)) }
}

extension Value: CustomStringConvertible {
    /// One line of JSON; bytes as base64.
    package var description: String { json(pretty: false) }
}
