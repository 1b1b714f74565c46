/// Turns anything Encodable into a ``Value``.
///
/// Structs become maps without their nil fields, arrays lists, enums with associated values
/// `{"case": {"label": …}}`, as Swift synthesizes them. A `Set`, and a `Dictionary` whose keys are
/// not strings, is written in the order of its canonical bytes, so that equal values make equal
/// bytes. An integer above `Int64.max` is an error.
package struct ValueEncoder: Sendable {
    package init() {}

    /// - Throws: What a type's own `encode(to:)` throws, and for an integer of more than 64 bits
    ///   with sign or more than `Value.depthLimit` levels an error that names the field.
    package func encode<T: Encodable>(_ value: T) throws(ValueError) -> Value {
        let writer = ValueWriter()
        do {
            try writer.write(value)
            return try writer.finish()
        } catch let error as ValueError {
            throw error
        } catch let EncodingError.invalidValue(_, context) {
            throw ValueError(
                .mismatch,
                path: valuePath(context.codingPath),
                context.debugDescription
            )
        } catch {
            throw ValueError(.mismatch, "\(error)")
        }
    }

    /// The canonical bytes of `value`.
    package func bytes<T: Encodable>(_ value: T) throws(ValueError) -> [UInt8] {
        ValueBytes.encode(try encode(value))
    }
}

/// A step of the way to a field.
enum PathStep {
    case none
    case key(String)
    case index(Int)

    var codingKey: PathKey? {
        switch self {
        case .none: nil
        case .key(let key): PathKey(stringValue: key)
        case .index(let index): PathKey(intValue: index)
        }
    }
}

/// A key that is known only at run time.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

/// `launches[3].app`.
func valuePath(_ keys: [any CodingKey]) -> String {
    var path = ""
    for key in keys {
        if let index = key.intValue {
            path += "[\(index)]"
        } else {
            path += path.isEmpty ? key.stringValue : "." + key.stringValue
        }
    }
    return path
}

/// A collection that encodes itself in the order of its hashes, which differs from run to run.
private protocol HashOrdered {
    /// How many elements of the encoded list belong together, the first one deciding the order.
    static var groupSize: Int { get }
}
extension Set: HashOrdered { fileprivate static var groupSize: Int { 1 } }
extension Dictionary: HashOrdered { fileprivate static var groupSize: Int { 2 } }

/// Where one value is being encoded.
///
/// A writer is used again for the next value of the same parent (`spare`): a wrapped number costs
/// no allocation, a struct one for its map and one for the standard library's container.
final class ValueWriter: Encoder {
    private enum State {
        /// Nothing yet; stays so for a type without fields, which becomes an empty map.
        case empty
        case single(Value)
        case map
        case list
    }

    private var state = State.empty
    private var map = ValueMap()
    private var list: [Value] = []
    /// Containers given out, whose values are known only at the end.
    private var pending: [(step: PathStep, writer: ValueWriter)] = []
    /// The type being encoded, when one list was asked for.
    private var type: Any.Type?
    private var groupSize = 0

    private unowned let parent: ValueWriter?
    private var step = PathStep.none
    /// How many lists and maps are around this value.
    private let level: Int
    private var spare: ValueWriter?

    init(parent: ValueWriter? = nil, step: PathStep = .none) {
        self.parent = parent
        self.step = step
        level = (parent?.level ?? -1) + 1
    }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (step.codingKey.map { [$0] } ?? [])
    }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(keyed())
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { unkeyed() }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleWriter(writer: self) }

    // MARK: What containers call

    func keyed<Key: CodingKey>() -> KeyedWriter<Key> {
        state = .map
        map.reserveCapacity(16)
        return KeyedWriter(writer: self)
    }

    func unkeyed() -> UnkeyedWriter {
        state = .list
        if let ordered = type as? any HashOrdered.Type { groupSize = ordered.groupSize }
        return UnkeyedWriter(writer: self)
    }

    func put(_ value: Value) { state = .single(value) }
    func put(_ value: Value, at key: String) { map.set(key, to: value) }
    func append(_ value: Value) { list.append(value) }
    var count: Int { list.count }

    /// Encodes `value` as this writer's value.
    func write<T: Encodable>(_ value: T) throws {
        type = T.self
        // Many elements, none of which needs a writer of its own.
        if let values = Self.elements(of: value) {
            (state, list) = (.list, values)
            return
        }
        try value.encode(to: self)
    }

    /// Of a list of numbers; nil: it is something else.
    private static func elements<T>(of value: T) -> [Value]? {
        if T.self == [UInt8].self, let bytes = value as? [UInt8] {
            return bytes.map { .integer(Int64($0)) }
        }
        if T.self == [Int64].self, let numbers = value as? [Int64] {
            return numbers.map { .integer($0) }
        }
        if T.self == [Double].self, let numbers = value as? [Double] {
            return numbers.map { .double($0) }
        }
        return nil
    }

    /// The value that `value` becomes as this writer's field or element `step`.
    func nested<T: Encodable>(_ value: T, at step: @autoclosure () -> PathStep) throws -> Value {
        let step = step()
        guard level < Value.depthLimit else { throw tooDeep(step) }
        let writer = spare ?? ValueWriter(parent: self)
        spare = nil
        writer.step = step
        try writer.write(value)
        let result = try writer.finish()
        spare = writer
        return result
    }

    /// A writer for a container whose value is taken at the end.
    func child(at step: PathStep) -> ValueWriter {
        let writer = spare ?? ValueWriter(parent: self)
        spare = nil
        (writer.step, writer.type) = (step, nil)
        pending.append((step, writer))
        return writer
    }

    func integer(_ number: some BinaryInteger, at step: PathStep) throws -> Value {
        guard let value = Value.exactly(number) else {
            throw ValueError(
                .mismatch,
                path: valuePath(codingPath + (step.codingKey.map { [$0] } ?? [])),
                "\(number) is more than 64 bits with sign hold"
            )
        }
        return value
    }

    /// Takes the finished value out; the writer is as new after it.
    func finish() throws -> Value {
        if !pending.isEmpty { try takePending() }
        defer { state = .empty }
        switch state {
        case .empty: return .map(ValueMap())
        case .single(let value):
            if level + value.depth > Value.depthLimit { throw tooDeep(.none) }
            return value
        case .map:
            guard level < Value.depthLimit else { throw tooDeep(.none) }
            return .map(map.takeEntries())
        case .list:
            guard level < Value.depthLimit else { throw tooDeep(.none) }
            if groupSize > 0 { sortGroups() }
            let taken = list
            list = []
            return .list(taken)
        }
    }

    private func takePending() throws {
        let taken = pending
        pending = []
        for (step, writer) in taken {
            let value = try writer.finish()
            spare = writer
            switch step {
            case .key(let key): map.set(key, to: value)
            case .index(let index): list[index] = value
            case .none: break
            }
        }
    }

    private func sortGroups() {
        let size = groupSize
        groupSize = 0
        let groups = stride(from: 0, to: list.count - list.count % size, by: size).map { start in
            (order: ValueBytes.encode(list[start]), values: list[start..<(start + size)])
        }
        list = groups.sorted { $0.order.lexicographicallyPrecedes($1.order) }.flatMap(\.values)
    }

    private func tooDeep(_ step: PathStep) -> ValueError {
        ValueError(
            .tooDeep,
            path: valuePath(codingPath + (step.codingKey.map { [$0] } ?? [])),
            "more than \(Value.depthLimit) levels"
        )
    }
}

extension Value {
    /// How many lists and maps are inside one another here; 0 for a plain value.
    var depth: Int {
        switch self {
        case .null, .bool, .integer, .double, .string, .bytes: return 0
        case .list(let list):
            var deepest = 0
            for value in list { deepest = max(deepest, value.depth) }
            return deepest + 1
        case .map(let map):
            var deepest = 0
            for entry in map.entries { deepest = max(deepest, entry.value.depth) }
            return deepest + 1
        }
    }
}
