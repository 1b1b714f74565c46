import DeviceCore
import Vocabulary

/// The form in which a type is stored, found by letting it read itself from a decoder that notes
/// what it asks for: fields, whether they may be absent, cases, and the words of an enum. A line
/// for each leaf; `?` may be absent, `[]` is each element, `|` parts the cases of an enum.
struct StoredShape {
    /// Sorted.
    let lines: [String]

    init(_ roots: KeyValuePairs<String, any Decodable.Type>) throws {
        var lines: [String] = []
        for (name, type) in roots {
            let node = ShapeNode()
            _ = try read(type, into: node)
            node.write(name, to: &lines)
        }
        self.lines = lines.sorted()
    }

    /// Of all that the store keeps.
    static func ofStore() throws -> StoredShape {
        try StoredShape([
            "app": AppRecord.self, "device": DeviceRecord.self, "launch": LaunchRecord.self,
            "line": HistoryLine.self, "request": RequestRecord.self,
            "transfer": TransferRecord.self,
        ])
    }

    var text: String { lines.map { $0 + "\n" }.joined() }
}

/// What was noted of one place in the tree.
private final class ShapeNode {
    var leaf: String?
    var fields: [String: ShapeNode] = [:]
    var optional: Set<String> = []
    var cases: [String: ShapeNode] = [:]
    var element: ShapeNode?

    func field(_ name: String, isOptional: Bool = false) -> ShapeNode {
        if isOptional { optional.insert(name) }
        let node = fields[name] ?? ShapeNode()
        fields[name] = node
        return node
    }

    func write(_ path: String, to lines: inout [String]) {
        if let leaf { lines.append("\(path): \(leaf)") }
        element?.write(path + "[]", to: &lines)
        for (name, node) in fields {
            node.write("\(path).\(name)\(optional.contains(name) ? "?" : "")", to: &lines)
        }
        for (name, node) in cases { node.write("\(path)|\(name)", to: &lines) }
        let isEmpty = leaf == nil && element == nil && fields.isEmpty && cases.isEmpty
        if isEmpty { lines.append("\(path): nothing") }
    }
}

/// Reads a value that is made up, and notes the form of it.
private func read<T: Decodable>(_ type: T.Type, into node: ShapeNode) throws -> T {
    if let words = words(of: type) {
        node.leaf = words.names.joined(separator: " ")
        return words.first
    }
    // Any tree is a value.
    if type == ValueMap.self, let empty = ValueMap() as? T {
        node.leaf = "map"
        return empty
    }
    let reader = ShapeReader(node)
    let value = try T(from: reader)
    // Each case of an enum is read once.
    while reader.nextCase() { _ = try T(from: reader) }
    return value
}

/// Of an enum that is stored as a string or a number.
private func words<T>(of type: T.Type) -> (names: [String], first: T)? {
    guard let raw = type as? any RawRepresentable.Type, MemoryLayout<T?>.size <= 1 else {
        return nil
    }
    func all<Raw: RawRepresentable>(_ type: Raw.Type) -> (names: [String], first: T)? {
        let cases = allCases(of: type)
        let names = cases.compactMap {
            $0.rawValue as? String ?? ($0.rawValue as? any BinaryInteger).map { "\($0)" }
        }
        guard let first = cases.first as? T, !names.isEmpty else { return nil }
        return (names.sorted(), first)
    }
    return all(raw)
}

/// All values of an enum without associated values, which need not be told to be `CaseIterable`: a
/// byte counts its cases, and the number after the last one stands for nil.
private func allCases<T>(of type: T.Type) -> [T] {
    precondition(MemoryLayout<T>.size <= 1 && MemoryLayout<T?>.size == 1, "\(type) is no enum")
    guard MemoryLayout<T>.size == 1 else { return [unsafeBitCast((), to: T.self)] }
    let count = unsafeBitCast(T?.none, to: UInt8.self)
    return (0..<count).map { unsafeBitCast($0, to: T.self) }
}

private final class ShapeReader: Decoder {
    let node: ShapeNode
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// Of an enum: which of its cases is read now.
    private var place = 0
    private var count = 1

    init(_ node: ShapeNode) { self.node = node }

    func nextCase() -> Bool {
        place += 1
        return place < count
    }

    func chosen<Key: CodingKey>(_ type: Key.Type) -> [Key] {
        guard MemoryLayout<Key>.size <= 1 else { return [] }
        let keys = allCases(of: type)
        count = keys.count
        for key in keys where node.cases[key.stringValue] == nil {
            node.cases[key.stringValue] = ShapeNode()
        }
        return [keys[place]]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ShapeFields(reader: self, node: node))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { ShapeList(node: node) }

    func singleValueContainer() -> any SingleValueDecodingContainer { ShapeLeaf(node: node) }
}

private struct ShapeFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: ShapeReader
    let node: ShapeNode
    let codingPath: [any CodingKey] = []

    /// Asked by enums with associated values, and by nothing else that is stored.
    var allKeys: [Key] { reader.chosen(Key.self) }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    private func leaf<T>(_ key: Key, _ type: T.Type, _ value: T, isOptional: Bool = false) -> T {
        node.field(key.stringValue, isOptional: isOptional).leaf = "\(type)"
        return value
    }

    func decode(_ type: Bool.Type, forKey key: Key) -> Bool { leaf(key, type, false) }
    func decode(_ type: String.Type, forKey key: Key) -> String { leaf(key, type, madeUpText) }
    func decode(_ type: Double.Type, forKey key: Key) -> Double { leaf(key, type, 0) }
    func decode(_ type: Float.Type, forKey key: Key) -> Float { leaf(key, type, 0) }
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) -> T {
        leaf(key, type, 0)
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try read(type, into: node.field(key.stringValue))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? {
        leaf(key, type, false, isOptional: true)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? {
        leaf(key, type, madeUpText, isOptional: true)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) -> Float? {
        leaf(key, type, 0, isOptional: true)
    }
    // One for all would not be asked: the protocol has its own for each.
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) -> Int8? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) -> Int16? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) -> Int32? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) -> UInt? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) -> UInt8? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) -> UInt16? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) -> UInt32? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) -> UInt64? {
        leaf(key, type, 0, isOptional: true)
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try read(type, into: node.field(key.stringValue, isOptional: true))
    }

    /// The associated values of a case.
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        let inner = node.cases[key.stringValue] ?? node.field(key.stringValue)
        return KeyedDecodingContainer(ShapeFields<Nested>(reader: ShapeReader(inner), node: inner))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        ShapeList(node: node.field(key.stringValue))
    }
    func superDecoder() -> any Decoder { ShapeReader(node.field("super")) }
    func superDecoder(forKey key: Key) -> any Decoder { ShapeReader(node.field(key.stringValue)) }
}

/// What a digest is read from as well.
private let madeUpText = "0000000000000000"

/// Two elements: what is stored in pairs is read as well.
private struct ShapeList: UnkeyedDecodingContainer {
    let node: ShapeNode
    let codingPath: [any CodingKey] = []
    let count: Int? = 2
    private(set) var currentIndex = 0
    var isAtEnd: Bool { currentIndex == 2 }

    init(node: ShapeNode) {
        self.node = node
        if node.element == nil { node.element = ShapeNode() }
    }

    private mutating func next() -> ShapeNode {
        currentIndex += 1
        return node.element ?? ShapeNode()
    }

    private mutating func leaf<T>(_ type: T.Type, _ value: T) -> T {
        next().leaf = "\(type)"
        return value
    }

    func decodeNil() -> Bool { false }
    mutating func decode(_ type: Bool.Type) -> Bool { leaf(type, false) }
    mutating func decode(_ type: String.Type) -> String { leaf(type, madeUpText) }
    mutating func decode(_ type: Double.Type) -> Double { leaf(type, 0) }
    mutating func decode(_ type: Float.Type) -> Float { leaf(type, 0) }
    mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T { leaf(type, 0) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try read(type, into: next()) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> {
        ShapeReader(next()).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        ShapeList(node: next())
    }
    mutating func superDecoder() -> any Decoder { ShapeReader(next()) }
}

private struct ShapeLeaf: SingleValueDecodingContainer {
    let node: ShapeNode
    let codingPath: [any CodingKey] = []

    private func leaf<T>(_ type: T.Type, _ value: T) -> T {
        node.leaf = "\(type)"
        return value
    }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) -> Bool { leaf(type, false) }
    func decode(_ type: String.Type) -> String { leaf(type, madeUpText) }
    func decode(_ type: Double.Type) -> Double { leaf(type, 0) }
    func decode(_ type: Float.Type) -> Float { leaf(type, 0) }
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T { leaf(type, 0) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try read(type, into: node) }
}
