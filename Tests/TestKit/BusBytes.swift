/// D-Bus as bytes, for clients that send what no library would.
package enum BusBytes {
    /// All that a client says before its first message.
    package static let handshake = Array("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n".utf8)

    private static func number(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }

    private static func field(_ code: UInt8, _ type: Character, _ text: String) -> [UInt8] {
        let length = type == "g" ? [UInt8(text.utf8.count)] : number(text.utf8.count)
        return [code, 1, type.asciiValue ?? 0, 0] + length + Array(text.utf8) + [0]
    }

    /// The first 16 bytes of a call that announces so many bytes of fields and of body.
    package static func beginning(fields: Int, body: Int, serial: Int = 1) -> [UInt8] {
        [0x6C, 1, 0, 1] + number(body) + number(serial) + number(fields)
    }

    /// A call with one text as its argument, or none; it may say that descriptors come with it.
    package static func call(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ text: String? = nil,
        serial: Int = 1,
        descriptors: Int? = nil
    ) -> [UInt8] {
        var fields =
            padded(field(1, "o", path)) + padded(field(2, "s", interface))
            + field(3, "s", member)
        if text != nil { fields = padded(fields) + field(8, "g", "s") }
        if let descriptors {
            fields = padded(fields) + [9, 1, 0x75, 0] + number(descriptors)
        }
        let body = text.map { number($0.utf8.count) + Array($0.utf8) + [0] } ?? []
        let head = beginning(fields: fields.count, body: body.count, serial: serial)
        return padded(head + fields) + body
    }
}
