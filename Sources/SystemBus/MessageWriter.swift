import CSystemd
import Vocabulary

/// Appends values to a message, each as the D-Bus type that its place asks for.
///
/// In a variant a value chooses its type: `b`, `x`, `d`, `s`, `ay`, `av`, `a{sv}`, and for null an
/// empty signature, `g`.
@safe
struct MessageWriter {
    let message: OpaquePointer

    func append(_ value: Value, as type: BusType, depth: Int) throws(BusError) {
        guard depth < BusType.depthLimit else {
            throw BusError(.tooLarge, "encode", type.signature, "nested too deep")
        }
        switch type {
        case .byte: try append(number: try integer(value, type) as UInt8, type)
        case .boolean:
            guard case .bool(let flag) = value else { throw unsuitable(value, type) }
            try append(number: flag ? 1 : 0 as Int32, type)
        case .int16: try append(number: try integer(value, type) as Int16, type)
        case .uint16: try append(number: try integer(value, type) as UInt16, type)
        case .int32: try append(number: try integer(value, type) as Int32, type)
        case .uint32: try append(number: try integer(value, type) as UInt32, type)
        case .int64: try append(number: try integer(value, type) as Int64, type)
        case .uint64: try append(number: try integer(value, type) as UInt64, type)
        case .double:
            guard let number = value.doubleValue else { throw unsuitable(value, type) }
            try append(number: number.bitPattern, type)
        case .string, .objectPath, .signature: try append(text: value, type)
        case .variant: try append(variant: value, depth: depth)
        case .array(.byte):
            guard case .bytes(let bytes) = value else { throw unsuitable(value, type) }
            try append(bytes: bytes)
        case .array(let element):
            guard case .list(let list) = value else { throw unsuitable(value, type) }
            try open(type.code, element.signature)
            for value in list { try append(value, as: element, depth: depth + 1) }
            try close()
        case .dictionary(let key, let element):
            try append(value, key, element, depth: depth)
        case .structure(let fields):
            guard case .list(let list) = value, list.count == fields.count else {
                throw unsuitable(value, type)
            }
            try open(type.code, fields.map(\.signature).joined())
            for (value, field) in zip(list, fields) {
                try append(value, as: field, depth: depth + 1)
            }
            try close()
        }
    }

    private func append(variant value: Value, depth: Int) throws(BusError) {
        let (type, value): (BusType, Value) =
            switch value {
            case .null: (.signature, .string(""))
            case .bool: (.boolean, value)
            case .integer: (.int64, value)
            case .double: (.double, value)
            case .string: (.string, value)
            case .bytes: (.array(.byte), value)
            case .list: (.array(.variant), value)
            case .map: (.dictionary(key: .string, value: .variant), value)
            }
        try open(BusType.variant.code, type.signature)
        try append(value, as: type, depth: depth + 1)
        try close()
    }

    /// A map, or a list of pairs when the keys are no texts.
    private func append(
        _ value: Value,
        _ key: BusType,
        _ element: BusType,
        depth: Int
    ) throws(BusError) {
        let entry = key.signature + element.signature
        try open(UInt8(ascii: "a"), "{" + entry + "}")
        switch value {
        case .map(let map):
            for pair in map.entries {
                try open(UInt8(ascii: "e"), entry)
                try append(.string(pair.key), as: key, depth: depth + 1)
                try append(pair.value, as: element, depth: depth + 1)
                try close()
            }
        case .list(let list):
            for pair in list {
                guard let name = pair[0], let field = pair[1], pair[2] == nil else {
                    throw unsuitable(value, .dictionary(key: key, value: element))
                }
                try open(UInt8(ascii: "e"), entry)
                try append(name, as: key, depth: depth + 1)
                try append(field, as: element, depth: depth + 1)
                try close()
            }
        case .null, .bool, .integer, .double, .string, .bytes:
            throw unsuitable(value, .dictionary(key: key, value: element))
        }
        try close()
    }

    /// `type`: one whose values are text.
    private func append(text value: Value, _ type: BusType) throws(BusError) {
        guard case .string(let text) = value, !text.hasZeroByte else {
            throw unsuitable(value, type)
        }
        let code = unsafe sd_bus_message_append_basic(message, CChar(type.code), text)
        // sd-bus checks that a path is a path and a signature one.
        guard code >= 0 else { throw unsuitable(value, type) }
    }

    private func append(bytes: [UInt8]) throws(BusError) {
        try check(
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe sd_bus_message_append_array(
                    message,
                    CChar(UInt8(ascii: "y")),
                    buffer.baseAddress,
                    buffer.count
                )
            },
            "sd_bus_message_append_array"
        )
    }

    private func append(
        number: some FixedWidthInteger,
        _ type: BusType
    ) throws(BusError) {
        try check(
            unsafe withUnsafeBytes(of: number) { bytes in
                unsafe sd_bus_message_append_basic(message, CChar(type.code), bytes.baseAddress)
            },
            "sd_bus_message_append_basic"
        )
    }

    private func integer<Number: FixedWidthInteger>(
        _ value: Value,
        _ type: BusType
    ) throws(BusError) -> Number {
        guard case .integer(let number) = value, let exact = Number(exactly: number) else {
            throw unsuitable(value, type)
        }
        return exact
    }

    private func open(_ code: UInt8, _ contents: String) throws(BusError) {
        try check(
            unsafe sd_bus_message_open_container(message, CChar(code), contents),
            "sd_bus_message_open_container"
        )
    }

    private func close() throws(BusError) {
        try check(
            unsafe sd_bus_message_close_container(message),
            "sd_bus_message_close_container"
        )
    }

    private func unsuitable(_ value: Value, _ type: BusType) -> BusError {
        BusError(
            .unsuitable,
            "encode",
            type.signature,
            "\(value.kindName) \(value) cannot be sent as '\(type.signature)'"
        )
    }
}
