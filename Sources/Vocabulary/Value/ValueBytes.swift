/// The one byte form of a value: CBOR in core deterministic encoding (RFC 8949 section 4.2.1).
///
/// - Integers, lengths and floats take the shortest form that holds them; a float is never written
///   as an integer, and every NaN as `f97e00`.
/// - The keys of a map are text, in the order of their *encoded* bytes as the RFC demands: shorter
///   keys first, keys of one length by their UTF-8 bytes. In memory a ``ValueMap`` is in plain
///   UTF-8 order, which is what people expect to read; the two differ only in the bytes.
/// - No indefinite lengths, tags, `undefined`, other simple values or duplicate keys.
package enum ValueBytes {
    /// The bytes of `value`.
    package static func encode(_ value: Value) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        encode(value, into: &bytes)
        return bytes
    }

    /// Appends the bytes of `value` to `bytes`, which a caller with many values may reuse.
    package static func encode(_ value: Value, into bytes: inout [UInt8]) {
        switch value {
        case .null: bytes.append(0xF6)
        case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
        case .integer(let value):
            if value >= 0 {
                appendHead(.unsigned, UInt64(value), to: &bytes)
            } else {
                appendHead(.negative, UInt64(bitPattern: ~value), to: &bytes)
            }
        case .double(let value): append(value, to: &bytes)
        case .string(let value): append(value, to: &bytes)
        case .bytes(let value):
            appendHead(.bytes, UInt64(value.count), to: &bytes)
            bytes.append(contentsOf: value)
        case .list(let list):
            appendHead(.list, UInt64(list.count), to: &bytes)
            for value in list { encode(value, into: &bytes) }
        case .map(let map): append(map, to: &bytes)
        }
    }

    /// The kinds of items, in the top three bits of their first byte.
    enum Major: UInt8 {
        case unsigned, negative, bytes, text, list, map, tag, simple
    }

    private static func appendHead(_ major: Major, _ number: UInt64, to bytes: inout [UInt8]) {
        let top = major.rawValue << 5
        switch number {
        case 0..<24: bytes.append(top | UInt8(number))
        case 24...0xFF:
            bytes.append(top | 24)
            bytes.append(UInt8(number))
        case 0x100...0xFFFF:
            bytes.append(top | 25)
            appendBigEndian(UInt16(number), to: &bytes)
        case 0x1_0000...0xFFFF_FFFF:
            bytes.append(top | 26)
            appendBigEndian(UInt32(number), to: &bytes)
        default:
            bytes.append(top | 27)
            appendBigEndian(number, to: &bytes)
        }
    }

    private static func appendBigEndian<Word: FixedWidthInteger & UnsignedInteger>(
        _ word: Word,
        to bytes: inout [UInt8]
    ) {
        var shift = Word.bitWidth
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let utf8 = text.utf8
        appendHead(.text, UInt64(utf8.count), to: &bytes)
        bytes.append(contentsOf: utf8)
    }

    private static func append(_ number: Double, to bytes: inout [UInt8]) {
        if number.isNaN {
            bytes.append(contentsOf: [0xF9, 0x7E, 0x00])
            return
        }
        let single = Float(number)
        guard Double(single) == number else {
            bytes.append(0xFB)
            appendBigEndian(number.bitPattern, to: &bytes)
            return
        }
        let half = Float16(single)
        if Float(half) == single {
            bytes.append(0xF9)
            appendBigEndian(half.bitPattern, to: &bytes)
        } else {
            bytes.append(0xFA)
            appendBigEndian(single.bitPattern, to: &bytes)
        }
    }

    /// Entries of one length are in the right order already, so one pass for each length that
    /// occurs gives the order of the encoded keys without sorting.
    private static func append(_ map: ValueMap, to bytes: inout [UInt8]) {
        appendHead(.map, UInt64(map.count), to: &bytes)
        var lengths: UInt64 = 0
        for entry in map.entries {
            let length = entry.key.utf8.count
            guard length < 64 else { return appendWithLongKeys(map, to: &bytes) }
            lengths |= 1 << UInt64(length)
        }
        while lengths != 0 {
            let length = lengths.trailingZeroBitCount
            lengths &= lengths - 1
            for entry in map.entries where entry.key.utf8.count == length {
                append(entry.key, to: &bytes)
                encode(entry.value, into: &bytes)
            }
        }
    }

    private static func appendWithLongKeys(_ map: ValueMap, to bytes: inout [UInt8]) {
        // Stable, so keys of one length stay in the order of their bytes.
        let entries = map.entries.sorted { $0.key.utf8.count < $1.key.utf8.count }
        for entry in entries {
            append(entry.key, to: &bytes)
            encode(entry.value, into: &bytes)
        }
    }
}
