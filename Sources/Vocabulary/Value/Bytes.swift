/// Bytes that a Codable type encodes as `Value.bytes`; a plain `[UInt8]` becomes a list.
package struct Bytes: Hashable, Sendable {
    package var array: [UInt8]

    package init(_ array: [UInt8]) { self.array = array }
}

extension Bytes: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: UInt8...) { array = elements }
}

extension Bytes: Codable {
    package init(from decoder: any Decoder) throws {
        guard let reader = decoder as? ValueReader else {
            array = try decoder.singleValueContainer().decode([UInt8].self)
            return
        }
        guard case .bytes(let array) = reader.value else { throw reader.mismatch("bytes") }
        self.array = array
    }

    package func encode(to encoder: any Encoder) throws {
        guard let writer = encoder as? ValueWriter else {
            var container = encoder.singleValueContainer()
            return try container.encode(array)
        }
        writer.put(.bytes(array))
    }
}

/// A value stays itself in a tree; other formats cannot hold one.
extension Value: Codable {
    package init(from decoder: any Decoder) throws {
        guard let reader = decoder as? ValueReader else {
            throw DecodingError.typeMismatch(
                Value.self,
                .init(codingPath: decoder.codingPath, debugDescription: "only from a Value")
            )
        }
        self = reader.value
    }

    package func encode(to encoder: any Encoder) throws {
        guard let writer = encoder as? ValueWriter else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "only into a Value")
            )
        }
        writer.put(self)
    }
}

extension ValueMap: Codable {
    package init(from decoder: any Decoder) throws {
        guard let map = try Value(from: decoder).mapValue else {
            throw DecodingError.typeMismatch(
                ValueMap.self,
                .init(codingPath: decoder.codingPath, debugDescription: "it is no map")
            )
        }
        self = map
    }

    package func encode(to encoder: any Encoder) throws { try Value.map(self).encode(to: encoder) }
}
