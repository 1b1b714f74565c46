/// What a server has of an object: its bytes follow from the version and the place, so that many
/// megabytes cost no memory, and each byte tells of which version it is.
package struct VersionedObject: Equatable, Sendable {
    package var version: UInt64
    package var size: Int64

    package init(version: UInt64, size: Int64) { (self.version, self.size) = (version, size) }

    /// At most `count` bytes from there on.
    package func bytes(at offset: Int64, count: Int) -> [UInt8] {
        let end = min(size, offset + Int64(count))
        guard offset < end else { return [] }
        let first = offset / 8
        let words = (end + 7) / 8 - first
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(words) * 8)
        for index in first..<first + words {
            var word = (version << 40 &+ UInt64(index)) &* 0x9E37_79B9_7F4A_7C15
            word ^= word >> 29
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        let skipped = Int(offset - first * 8)
        return Array(bytes[skipped..<skipped + Int(end - offset)])
    }

    package var all: [UInt8] { bytes(at: 0, count: Int(size)) }
}
