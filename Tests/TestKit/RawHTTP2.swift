/// Bytes of HTTP/2 by hand, for what no client library sends.
package enum RawHTTP2 {
    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    package static let settings: [UInt8] = frame(4, 0, 0, [])

    package static func frame(
        _ type: UInt8,
        _ flags: UInt8,
        _ stream: UInt32,
        _ payload: [UInt8]
    ) -> [UInt8] {
        let count = payload.count
        return [
            UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags,
            UInt8(stream >> 24), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255),
            UInt8(stream & 255),
        ] + payload
    }

    /// Fields as literals that the other side does not remember.
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        func text(_ string: String) -> [UInt8] {
            let bytes = Array(string.utf8)
            guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
            var count: [UInt8] = [127]
            var rest = bytes.count - 127
            while rest >= 128 {
                count.append(UInt8(rest & 127) | 128)
                rest >>= 7
            }
            return count + [UInt8(rest)] + bytes
        }
        return fields.flatMap { [0] + text($0.0) + text($0.1) }
    }

    package static func request(_ path: String, _ more: [(String, String)] = []) -> [UInt8] {
        block(
            [
                (":method", "POST"), (":scheme", "https"), (":path", path),
                (":authority", "localhost"),
            ] + more
        )
    }
}
