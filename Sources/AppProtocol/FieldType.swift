package import Vocabulary

/// A type that arguments and options may have.
protocol FieldType {
    /// As D-Bus writes it.
    static var type: String { get }
    /// What a value is not that cannot be read.
    static var noun: String { get }
    /// What a number counts, for the documents; empty: it says so itself.
    static var unit: String { get }
    /// What such an option must not be beyond, for the documents; empty: nothing to say.
    static var limit: String { get }
    var value: Value { get }

    static func reading(_ value: Value) -> Self?
    init(_ value: Value, of name: String) throws(OptionError)
    /// How many of them a list may have.
    static var mostInList: Int { get }
    /// The same of an element of a list.
    static func element(_ value: Value, of name: String) throws(OptionError) -> Self
}

extension FieldType {
    static func reading(_ value: Value) -> Self? { nil }
    static var unit: String { "" }
    static var limit: String { "" }
    static var mostInList: Int { 1024 }

    init(_ value: Value, of name: String) throws(OptionError) {
        guard let read = Self.reading(value) else {
            throw OptionError(name, value, isNot: Self.noun)
        }
        self = read
    }

    static func element(_ value: Value, of name: String) throws(OptionError) -> Self {
        try Self(value, of: name)
    }
}

extension Bool: FieldType {
    static let (type, noun) = ("b", "true or false")
    var value: Value { .bool(self) }
    static func reading(_ value: Value) -> Bool? { value.boolValue }
}

extension Int64: FieldType {
    static let (type, noun) = ("x", "a number")
    var value: Value { .integer(self) }
    static func reading(_ value: Value) -> Int64? { value.integerValue }
}

extension Double: FieldType {
    static let (type, noun) = ("d", "a number")
    var value: Value { .double(self) }
    static func reading(_ value: Value) -> Double? { value.doubleValue }
}

/// Seconds, whole or not, from 0 to a hundred years.
extension Interval: FieldType {
    static let type = "d"
    static let noun = "a number of seconds from 0 to 3155760000 (100 years)"
    static let (unit, limit) = ("seconds", "at most 100 years")
    var value: Value { .double(seconds) }
    static func reading(_ value: Value) -> Interval? {
        guard let seconds = value.doubleValue, (0...3_155_760_000).contains(seconds) else {
            return nil
        }
        return Interval(nanoseconds: Int64(seconds * 1e9))
    }
}

extension WallTime: FieldType {
    static var type: String { "d" }
    static var noun: String {
        "a date in seconds since 1970, \(limit) (the year 2255)"
    }
    static var unit: String { "Unix seconds" }
    static var limit: String { "at most \(Int64(latestSeconds))" }
    var value: Value { .double(secondsSince1970) }
    static func reading(_ value: Value) -> WallTime? {
        // The dates that have passed are all alike; one to come would be kept as another.
        guard let seconds = value.doubleValue, seconds <= latestSeconds else { return nil }
        return WallTime(secondsSince1970: seconds)
    }
}

extension DeliveryID: FieldType {
    static var type: String { "t" }
    static var noun: String { "the number of a delivery" }
    var value: Value { .integer(Int64(clamping: number)) }
    static func reading(_ value: Value) -> DeliveryID? {
        value.integerValue.flatMap(UInt64.init(exactly:)).map(Self.init)
    }
}

extension String: FieldType {
    static let (type, noun) = ("s", "a text")
    var value: Value { .string(self) }

    init(_ value: Value, of name: String) throws(OptionError) {
        self = try Self.bounded(value, of: name, to: 4096)
    }

    /// An argument of a command may be long.
    static func element(_ value: Value, of name: String) throws(OptionError) -> String {
        try bounded(value, of: name, to: 128 << 10)
    }

    static func bounded(
        _ value: Value,
        of name: String,
        to limit: Int
    ) throws(OptionError) -> String {
        guard let text = value.stringValue, !text.hasZeroByte else {
            throw OptionError(name, value, isNot: noun)
        }
        guard text.utf8.count <= limit else {
            throw OptionError(
                reason: "\(name) is too long",
                value: "\(text.utf8.count) bytes",
                fix: "at most \(limit) bytes"
            )
        }
        return text
    }
}

extension Array: FieldType where Element: FieldType {
    static var type: String { "a" + Element.type }
    static var noun: String { "a list of at most \(Element.mostInList) elements" }
    var value: Value { .list(map(\.value)) }

    init(_ value: Value, of name: String) throws(OptionError) {
        try self.init(value, of: name, upTo: Element.mostInList)
    }

    init(_ value: Value, of name: String, upTo limit: Int) throws(OptionError) {
        let wanted = "a list of at most \(limit) elements"
        guard let list = value.listValue else {
            throw OptionError(name, value, isNot: wanted)
        }
        guard list.count <= limit else {
            throw OptionError(
                reason: "\(name) is not \(wanted)",
                value: "\(list.count) elements",
                fix: "give the others in another call"
            )
        }
        self = []
        for item in list { append(try Element.element(item, of: name)) }
    }
}

/// A word of a list that both sides have.
extension FieldType where Self: CaseIterable & RawRepresentable<String> {
    static var type: String { "s" }
    static var noun: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
    var value: Value { .string(rawValue) }
    static func reading(_ value: Value) -> Self? {
        value.stringValue.flatMap(Self.init(rawValue:))
    }
}

extension Word: FieldType {
    static var type: String { "s" }
    static var noun: String { "a text" }
    var value: Value { .string(text) }
    static func reading(_ value: Value) -> Self? { value.stringValue.map(Self.init(text:)) }
}

extension TaskKind: FieldType {}
extension TaskResult: FieldType {}
extension Simulation: FieldType {}
extension AppMistakeName: FieldType {}

/// A map inside a list, with fields as options are.
protocol OptionMap: FieldType {
    init()
    mutating func pass(_ fields: inout Fields) throws(OptionError)
}

extension OptionMap {
    static var type: String { "a{sv}" }
    static var noun: String { "a map" }

    var value: Value {
        var (copy, fields) = (self, Fields.writing())
        // Only what is read can be wrong.
        try? copy.pass(&fields)
        return fields.written.first ?? [:]
    }

    init(_ value: Value, of name: String) throws(OptionError) {
        guard let map = value.mapValue else { throw OptionError(name, value, isNot: Self.noun) }
        self.init()
        var fields = Fields.reading([.map(map)])
        try pass(&fields)
        try fields.finish()
    }
}
