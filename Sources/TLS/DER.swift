/// As much of DER as the extensions of certificates need.
package enum DER {
    /// All texts with this tag (UTF8String if none is named), in the order in which they stand,
    /// whatever they stand in.
    package static func texts(_ bytes: [UInt8], tag: UInt8 = 0x0C) -> [String] {
        contents(bytes, tag: tag).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same as bytes.
    static func contents(_ bytes: [UInt8], tag: UInt8) -> [[UInt8]] {
        var contents: [[UInt8]] = []
        collect(bytes[...], tag, into: &contents, depth: 0)
        return contents
    }

    private static func collect(
        _ bytes: ArraySlice<UInt8>,
        _ wanted: UInt8,
        into contents: inout [[UInt8]],
        depth: Int
    ) {
        var rest = bytes
        while depth < 8, let tag = rest.popFirst(), let first = rest.popFirst() {
            var count = Int(first)
            if first >= 0x80 {
                guard first <= 0x82 else { return }
                count = 0
                for _ in 0..<(first & 0x7F) {
                    guard let byte = rest.popFirst() else { return }
                    count = count << 8 | Int(byte)
                }
            }
            guard count <= rest.count else { return }
            let content = rest.prefix(count)
            rest = rest.dropFirst(count)
            if tag == wanted {
                contents.append(Array(content))
            } else if tag & 0x20 != 0 {
                collect(content, wanted, into: &contents, depth: depth + 1)
            }
        }
    }
}
