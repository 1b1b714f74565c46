/// A field that is stored only if it differs from its type's default, and reads as the default
/// where it is absent. Most fields of most records have it, and decoding records is most of what a
/// start of the daemon takes.
@propertyWrapper @usableFromInline
package struct OmittedIfDefault<Wrapped: Defaulted> {
    @usableFromInline package var wrappedValue: Wrapped

    @inlinable package init(wrappedValue: Wrapped) { self.wrappedValue = wrappedValue }
}

/// A type with one value that most of its fields have.
@usableFromInline
package protocol Defaulted: Equatable, Codable {
    static var defaultValue: Self { get }
}

extension KeyedEncodingContainer {
    // Preferred to the general method by the code that the compiler writes for a type.
    @inlinable
    package mutating func encode<Wrapped>(
        _ field: OmittedIfDefault<Wrapped>,
        forKey key: Key
    ) throws {
        if field.wrappedValue != Wrapped.defaultValue {
            try encode(field.wrappedValue, forKey: key)
        }
    }
}

extension KeyedDecodingContainer {
    @inlinable
    package func decode<Wrapped>(
        _ type: OmittedIfDefault<Wrapped>.Type,
        forKey key: Key
    ) throws -> OmittedIfDefault<Wrapped> {
        OmittedIfDefault(
            wrappedValue: try decodeIfPresent(Wrapped.self, forKey: key) ?? Wrapped.defaultValue
        )
    }
}

extension OmittedIfDefault: Equatable {}
extension OmittedIfDefault: Hashable where Wrapped: Hashable {}
extension OmittedIfDefault: Sendable where Wrapped: Sendable {}

extension OmittedIfDefault: Codable {
    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Wrapped(from: decoder))
    }

    @usableFromInline package func encode(to encoder: any Encoder) throws {
        try wrappedValue.encode(to: encoder)
    }
}

extension Bool: Defaulted { @usableFromInline package static var defaultValue: Bool { false } }
extension Int64: Defaulted { @usableFromInline package static var defaultValue: Int64 { 0 } }
extension UInt16: Defaulted { @usableFromInline package static var defaultValue: UInt16 { 0 } }
extension String: Defaulted { @usableFromInline package static var defaultValue: String { "" } }
extension Array: Defaulted where Element: Equatable & Codable {
    @usableFromInline package static var defaultValue: [Element] { [] }
}
extension Interval: Defaulted {
    @usableFromInline package static var defaultValue: Interval { .zero }
}
