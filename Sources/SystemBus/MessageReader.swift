import CSystemd
import Vocabulary

/// Turns the content of a message into values.
///
/// Integers of every width become integers, paths and signatures strings, structures lists,
/// dictionaries with string keys maps; a variant is what it holds, and one that holds an empty
/// signature is null, since D-Bus has no null (``MessageWriter`` writes it so).
@safe
struct MessageReader {
    let message: OpaquePointer
    /// Bytes of memory that values may still take, about.
    var budget: Int

    /// What is left in the message or container that is open.
    mutating func rest(depth: Int) throws(BusError) -> [Value] {
        var values: [Value] = []
        while true {
            var code: CChar = 0
            var contents: UnsafePointer<CChar>?
            let found = try check(
                unsafe sd_bus_message_peek_type(message, &code, &contents),
                "sd_bus_message_peek_type"
            )
            guard found > 0 else { return values }
            let inner = unsafe Message.text(contents) ?? ""
            values.append(try value(UInt8(bitPattern: code), inner, depth: depth))
        }
    }

    private mutating func value(
        _ code: UInt8,
        _ contents: String,
        depth: Int
    ) throws(BusError) -> Value {
        try spend(Value.overhead)
        guard depth < BusType.depthLimit else { throw tooLarge("nested too deep") }
        switch code {
        case UInt8(ascii: "a"):
            if contents == "y" { return .bytes(try bytes()) }
            guard contents.hasPrefix("{") else {
                return .list(try container(code, contents, depth: depth))
            }
            return try dictionary(contents, depth: depth)
        case UInt8(ascii: "r"): return .list(try container(code, contents, depth: depth))
        case UInt8(ascii: "v"):
            let inner = try container(code, contents, depth: depth)
            guard let value = inner.first else { throw unsuitable("an empty variant") }
            return contents == "g" && value == .string("") ? .null : value
        default: return try basic(code)
        }
    }

    private mutating func container(
        _ code: UInt8,
        _ contents: String,
        depth: Int
    ) throws(BusError) -> [Value] {
        try enter(code, contents)
        let values = try rest(depth: depth + 1)
        try leave()
        return values
    }

    private mutating func dictionary(
        _ contents: String,
        depth: Int
    ) throws(BusError) -> Value {
        let entry = String(contents.dropFirst().dropLast())
        let hasTexts = "sog".contains(entry.prefix(1))
        var list: [Value] = []
        var map: [(String, Value)] = []
        try enter(UInt8(ascii: "a"), contents)
        while try check(unsafe sd_bus_message_at_end(message, 0), "sd_bus_message_at_end") == 0 {
            try enter(UInt8(ascii: "e"), entry)
            let pair = try rest(depth: depth + 1)
            try leave()
            guard pair.count == 2 else { throw unsuitable("a dictionary entry of one") }
            if hasTexts, case .string(let key) = pair[0] {
                map.append((key, pair[1]))
            } else {
                list.append(.list(pair))
            }
        }
        try leave()
        guard hasTexts else { return .list(list) }
        let value = ValueMap(map)
        guard value.count == map.count else { throw unsuitable("a key occurs twice") }
        return .map(value)
    }

    private mutating func basic(_ code: UInt8) throws(BusError) -> Value {
        switch code {
        case UInt8(ascii: "y"): .integer(Int64(try number(code, as: UInt8.self)))
        case UInt8(ascii: "b"): .bool(try number(code, as: Int32.self) != 0)
        case UInt8(ascii: "n"): .integer(Int64(try number(code, as: Int16.self)))
        case UInt8(ascii: "q"): .integer(Int64(try number(code, as: UInt16.self)))
        case UInt8(ascii: "i"): .integer(Int64(try number(code, as: Int32.self)))
        case UInt8(ascii: "u"): .integer(Int64(try number(code, as: UInt32.self)))
        case UInt8(ascii: "x"): .integer(try number(code, as: Int64.self))
        // Services say "never" with the largest there is.
        case UInt8(ascii: "t"): .integer(Int64(clamping: try number(code, as: UInt64.self)))
        case UInt8(ascii: "d"): .double(Double(bitPattern: try number(code, as: UInt64.self)))
        case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"): .string(try text(code))
        default: throw unsuitable("type '\(Character(Unicode.Scalar(code)))' is not taken")
        }
    }

    private func number<Number: FixedWidthInteger>(
        _ code: UInt8,
        as type: Number.Type
    ) throws(BusError) -> Number {
        var number: Number = 0
        try check(
            unsafe sd_bus_message_read_basic(message, CChar(bitPattern: code), &number),
            "sd_bus_message_read_basic"
        )
        return number
    }

    private mutating func text(_ code: UInt8) throws(BusError) -> String {
        var characters: UnsafePointer<CChar>?
        try check(
            unsafe sd_bus_message_read_basic(message, CChar(bitPattern: code), &characters),
            "sd_bus_message_read_basic"
        )
        guard let text = unsafe Message.text(characters) else { throw unsuitable("no text") }
        try spend(text.utf8.count)
        return text
    }

    private mutating func bytes() throws(BusError) -> [UInt8] {
        var start: UnsafeRawPointer?
        var count = 0
        try check(
            unsafe sd_bus_message_read_array(
                message,
                CChar(bitPattern: UInt8(ascii: "y")),
                &start,
                &count
            ),
            "sd_bus_message_read_array"
        )
        try spend(count)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private func enter(_ code: UInt8, _ contents: String) throws(BusError) {
        try check(
            unsafe sd_bus_message_enter_container(message, CChar(bitPattern: code), contents),
            "sd_bus_message_enter_container"
        )
    }

    private func leave() throws(BusError) {
        try check(unsafe sd_bus_message_exit_container(message), "sd_bus_message_exit_container")
    }

    private mutating func spend(_ count: Int) throws(BusError) {
        budget -= count
        if budget < 0 { throw tooLarge("the arguments are too large") }
    }

    private func tooLarge(_ message: String) -> BusError {
        BusError(.tooLarge, "decode", "message", message)
    }

    private func unsuitable(_ message: String) -> BusError {
        BusError(.unsuitable, "decode", "message", message)
    }
}
