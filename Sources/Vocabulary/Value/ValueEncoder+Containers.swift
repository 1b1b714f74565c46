struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: ValueWriter

    var codingPath: [any CodingKey] { writer.codingPath }

    func encodeNil(forKey key: Key) { writer.put(.null, at: key.stringValue) }

    func encode(_ value: Bool, forKey key: Key) { writer.put(.bool(value), at: key.stringValue) }

    func encode(_ value: String, forKey key: Key) {
        writer.put(.string(value), at: key.stringValue)
    }

    func encode(_ value: Double, forKey key: Key) {
        writer.put(.double(value), at: key.stringValue)
    }

    func encode(_ value: Float, forKey key: Key) {
        writer.put(.double(Double(value)), at: key.stringValue)
    }

    func encode<T: FixedWidthInteger & Encodable>(_ value: T, forKey key: Key) throws {
        let name = key.stringValue
        writer.put(try writer.integer(value, at: .key(name)), at: name)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let name = key.stringValue
        writer.put(try writer.nested(value, at: .key(name)), at: name)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(writer.child(at: .key(key.stringValue)).keyed())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        writer.child(at: .key(key.stringValue)).unkeyed()
    }

    func superEncoder() -> any Encoder { writer.child(at: .key("super")) }

    func superEncoder(forKey key: Key) -> any Encoder { writer.child(at: .key(key.stringValue)) }
}

struct UnkeyedWriter: UnkeyedEncodingContainer {
    let writer: ValueWriter

    var codingPath: [any CodingKey] { writer.codingPath }
    var count: Int { writer.count }

    func encodeNil() { writer.append(.null) }
    func encode(_ value: Bool) { writer.append(.bool(value)) }
    func encode(_ value: String) { writer.append(.string(value)) }
    func encode(_ value: Double) { writer.append(.double(value)) }
    func encode(_ value: Float) { writer.append(.double(Double(value))) }

    func encode<T: FixedWidthInteger & Encodable>(_ value: T) throws {
        writer.append(try writer.integer(value, at: .index(count)))
    }

    func encode<T: Encodable>(_ value: T) throws {
        writer.append(try writer.nested(value, at: .index(count)))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(child().keyed())
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyed() }

    func superEncoder() -> any Encoder { child() }

    /// The next element: null until its writer is done.
    private func child() -> ValueWriter {
        let child = writer.child(at: .index(count))
        writer.append(.null)
        return child
    }
}

struct SingleWriter: SingleValueEncodingContainer {
    let writer: ValueWriter

    var codingPath: [any CodingKey] { writer.codingPath }

    func encodeNil() { writer.put(.null) }
    func encode(_ value: Bool) { writer.put(.bool(value)) }
    func encode(_ value: String) { writer.put(.string(value)) }
    func encode(_ value: Double) { writer.put(.double(value)) }
    func encode(_ value: Float) { writer.put(.double(Double(value))) }

    func encode<T: FixedWidthInteger & Encodable>(_ value: T) throws {
        writer.put(try writer.integer(value, at: .none))
    }

    func encode<T: Encodable>(_ value: T) throws { try writer.write(value) }
}
