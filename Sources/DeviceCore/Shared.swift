/// A large value that is read often and replaced as a whole: copies of what holds it share it.
@dynamicMemberLookup
package final class Shared<Value: Hashable & Sendable & Codable>: Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package subscript<Field>(dynamicMember field: KeyPath<Value, Field>) -> Field {
        value[keyPath: field]
    }
}

extension Shared: Hashable {
    package static func == (left: Shared, right: Shared) -> Bool {
        left === right || left.value == right.value
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension Shared: Codable {
    package convenience init(from decoder: any Decoder) throws {
        self.init(try Value(from: decoder))
    }

    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
