/// One complete D-Bus type.
indirect enum BusType: Equatable, Sendable {
    case byte, boolean
    case int16, uint16, int32, uint32, int64, uint64
    case double
    case string, objectPath, signature
    case variant
    case array(BusType)
    case dictionary(key: BusType, value: BusType)
    case structure([BusType])

    /// How deep types and variants together may nest.
    static let depthLimit = 32

    /// The types that a signature lists; nil when it is none, when it holds descriptors (`h`),
    /// or nests too deep.
    static func list(_ signature: String) -> [BusType]? {
        guard signature.utf8.count <= 255 else { return nil }
        var parser = Parser(rest: Array(signature.utf8)[...])
        var types: [BusType] = []
        while !parser.rest.isEmpty {
            guard let type = parser.type(depth: 0) else { return nil }
            types.append(type)
        }
        return types
    }

    var signature: String {
        switch self {
        case .array(let element): "a" + element.signature
        case .dictionary(let key, let value): "a" + "{" + key.signature + value.signature + "}"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string,
            .objectPath, .signature, .variant:
            String(Unicode.Scalar(code))
        }
    }

    /// The letter of a type; of a container the one that sd-bus opens it by.
    var code: UInt8 {
        switch self {
        case .byte: UInt8(ascii: "y")
        case .boolean: UInt8(ascii: "b")
        case .int16: UInt8(ascii: "n")
        case .uint16: UInt8(ascii: "q")
        case .int32: UInt8(ascii: "i")
        case .uint32: UInt8(ascii: "u")
        case .int64: UInt8(ascii: "x")
        case .uint64: UInt8(ascii: "t")
        case .double: UInt8(ascii: "d")
        case .string: UInt8(ascii: "s")
        case .objectPath: UInt8(ascii: "o")
        case .signature: UInt8(ascii: "g")
        case .variant: UInt8(ascii: "v")
        case .array, .dictionary: UInt8(ascii: "a")
        case .structure: UInt8(ascii: "r")
        }
    }

    /// The type of a letter that stands for itself.
    init?(basic code: UInt8) {
        let basic: [BusType] = [
            .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string,
            .objectPath, .signature,
        ]
        guard let type = basic.first(where: { $0.code == code }) else { return nil }
        self = type
    }

    private struct Parser {
        var rest: ArraySlice<UInt8>

        mutating func type(depth: Int) -> BusType? {
            guard depth < BusType.depthLimit, let code = rest.popFirst() else { return nil }
            switch code {
            case UInt8(ascii: "v"): return .variant
            case UInt8(ascii: "a"): return array(depth: depth)
            case UInt8(ascii: "("):
                var fields: [BusType] = []
                while let next = rest.first, next != UInt8(ascii: ")") {
                    guard let field = type(depth: depth + 1) else { return nil }
                    fields.append(field)
                }
                guard rest.popFirst() != nil, !fields.isEmpty else { return nil }
                return .structure(fields)
            default: return BusType(basic: code)
            }
        }

        private mutating func array(depth: Int) -> BusType? {
            guard rest.first == UInt8(ascii: "{") else {
                return type(depth: depth + 1).map { .array($0) }
            }
            rest.removeFirst()
            guard let first = rest.popFirst(), let key = BusType(basic: first),
                let value = type(depth: depth + 1), rest.popFirst() == UInt8(ascii: "}")
            else { return nil }
            return .dictionary(key: key, value: value)
        }
    }
}
