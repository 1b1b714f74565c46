/// An optional field that most values do not have: where it is absent it takes one word, and is
/// not stored.
@propertyWrapper
package struct Rare<Wrapped: Hashable & Sendable & Codable>: Hashable, Sendable {
    private var shared: Shared<Wrapped>?

    package var wrappedValue: Wrapped? {
        get { shared?.value }
        set { shared = newValue.map(Shared.init) }
    }

    package init(wrappedValue: Wrapped?) { shared = wrappedValue.map(Shared.init) }
}

extension Rare: Codable {
    package init(from decoder: any Decoder) throws {
        shared = try Shared(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws { try shared?.encode(to: encoder) }
}

// Preferred to the general methods by the code that the compiler writes for a type.
extension KeyedEncodingContainer {
    mutating func encode<Wrapped>(_ field: Rare<Wrapped>, forKey key: Key) throws {
        try encodeIfPresent(field.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    func decode<Wrapped>(_ type: Rare<Wrapped>.Type, forKey key: Key) throws -> Rare<Wrapped> {
        Rare(wrappedValue: try decodeIfPresent(Wrapped.self, forKey: key))
    }
}
