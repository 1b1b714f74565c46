/// Turns a ``Value`` into anything Decodable: the reverse of ``ValueEncoder``.
package struct ValueDecoder: Sendable {
    package init() {}

    /// - Throws: For a field that is missing, of another kind or outside its type's range; the
    ///   error names it.
    package func decode<T: Decodable>(_ type: T.Type, from value: Value) throws(ValueError) -> T {
        let reader = ValueReader(value)
        do {
            return try reader.read(type)
        } catch let error as ValueError {
            throw error
        } catch let error as DecodingError {
            throw ValueError(error)
        } catch {
            throw ValueError(.mismatch, "\(error)")
        }
    }

    /// Decodes from canonical bytes; `limit` is the most that they may measure.
    package func decode<T: Decodable>(
        _ type: T.Type,
        from bytes: [UInt8],
        limit: Int = ValueBytes.defaultLimit
    ) throws(ValueError) -> T {
        try decode(type, from: try ValueBytes.decode(bytes, limit: limit))
    }
}

extension ValueError {
    /// What a type's own `init(from:)` found.
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missing, path: valuePath(context.codingPath + [key]), "is missing")
        case .valueNotFound(_, let context):
            self.init(.missing, path: valuePath(context.codingPath), context.debugDescription)
        case .typeMismatch(_, let context), .dataCorrupted(let context):
            self.init(.mismatch, path: valuePath(context.codingPath), context.debugDescription)
        @unknown default: self.init(.mismatch, "\(error)")
        }
    }
}

/// Where one value is being decoded; used again for its parent's next one, as ``ValueWriter`` is.
final class ValueReader: Decoder {
    private(set) var value: Value
    private unowned let parent: ValueReader?
    private var step: PathStep
    private var spare: ValueReader?

    init(_ value: Value, parent: ValueReader? = nil, step: PathStep = .none) {
        self.value = value
        self.parent = parent
        self.step = step
    }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (step.codingKey.map { [$0] } ?? [])
    }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try keyed())
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try unkeyed() }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleReader(reader: self) }

    // MARK: What containers call

    func keyed<Key: CodingKey>() throws -> KeyedReader<Key> {
        guard case .map(let map) = value else { throw mismatch("map") }
        return KeyedReader(reader: self, map: map)
    }

    func unkeyed() throws -> UnkeyedReader {
        guard case .list(let list) = value else { throw mismatch("list") }
        return UnkeyedReader(reader: self, list: list)
    }

    func read<T: Decodable>(_ type: T.Type) throws -> T {
        // As they are written.
        if type == [UInt8].self, let bytes = try bytes() as? T { return bytes }
        return try T(from: self)
    }

    private func bytes() throws -> [UInt8] {
        var list = try unkeyed()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(list.list.count)
        while !list.isAtEnd { bytes.append(try list.decode(UInt8.self)) }
        return bytes
    }

    func nested<T: Decodable>(_ type: T.Type, _ value: Value, at step: PathStep) throws -> T {
        let reader: ValueReader
        if let spare {
            reader = spare
            self.spare = nil
            reader.value = value
            reader.step = step
        } else {
            reader = ValueReader(value, parent: self, step: step)
        }
        let result = try reader.read(type)
        spare = reader
        return result
    }

    func bool(_ value: Value, at step: PathStep) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch("bool", value, at: step) }
        return bool
    }

    func string(_ value: Value, at step: PathStep) throws -> String {
        guard case .string(let string) = value else { throw mismatch("string", value, at: step) }
        return string
    }

    func double(_ value: Value, at step: PathStep) throws -> Double {
        guard let double = value.doubleValue else { throw mismatch("double", value, at: step) }
        return double
    }

    func integer<T: FixedWidthInteger>(_ value: Value, at step: PathStep) throws -> T {
        guard case .integer(let integer) = value else {
            throw mismatch("integer", value, at: step)
        }
        guard let number = T(exactly: integer) else {
            throw error(.mismatch, at: step, "\(integer) is not in \(T.min)...\(T.max)")
        }
        return number
    }

    func mismatch(_ wanted: String) -> ValueError { mismatch(wanted, value, at: .none) }

    func mismatch(_ wanted: String, _ value: Value, at step: PathStep) -> ValueError {
        error(.mismatch, at: step, "wanted \(wanted), found \(value.kindName)")
    }

    func error(_ reason: ValueError.Reason, at step: PathStep, _ detail: String) -> ValueError {
        ValueError(
            reason,
            path: valuePath(codingPath + (step.codingKey.map { [$0] } ?? [])),
            detail
        )
    }
}
