/// Tar archives (POSIX ustar): what stands around the bytes of each file.
package enum ArchiveFormat {
    package struct Entry: Equatable, Sendable {
        /// At most 100 bytes, without a directory.
        package var name: String
        package var size: Int64
        /// Permission bits, such as 0o600.
        package var permissions: UInt32
        package var user: UInt32
        package var group: UInt32
        /// Seconds since 1970.
        package var modified: Int64

        package init(
            _ name: String,
            size: Int64,
            permissions: UInt32,
            user: UInt32,
            group: UInt32,
            modified: Int64
        ) {
            (self.name, self.size, self.permissions) = (name, size, permissions)
            (self.user, self.group, self.modified) = (user, group, modified)
        }
    }

    private static let block = 512

    /// In front of a file's bytes.
    package static func header(_ entry: Entry) -> [UInt8] {
        var header: [UInt8] = []
        header.reserveCapacity(block)
        append(Array(entry.name.utf8), 100, to: &header)
        append(number: Int64(entry.permissions), 8, to: &header)
        append(number: Int64(entry.user), 8, to: &header)
        append(number: Int64(entry.group), 8, to: &header)
        append(number: entry.size, 12, to: &header)
        append(number: max(0, entry.modified), 12, to: &header)
        let sumPlace = header.count
        // The sum is that of a header whose sum is spaces.
        append(Array("        ".utf8), 8, to: &header)
        header.append(UInt8(ascii: "0"))
        append([], 100, to: &header)
        append(Array("ustar\u{0}00".utf8), 8, to: &header)
        append([], block - header.count, to: &header)
        let sum = header.reduce(0) { $0 + Int64($1) }
        header.replaceSubrange(sumPlace..<sumPlace + 7, with: octal(sum, 6) + [0])
        return header
    }

    /// Behind the bytes of a file of this size.
    package static func padding(behind size: Int64) -> [UInt8] {
        let rest = Int(size % Int64(block))
        return [UInt8](repeating: 0, count: rest == 0 ? 0 : block - rest)
    }

    /// Behind the last file.
    package static let end = [UInt8](repeating: 0, count: 2 * block)

    private static func append(_ bytes: [UInt8], _ width: Int, to header: inout [UInt8]) {
        header += bytes.prefix(width)
        header += [UInt8](repeating: 0, count: width - min(width, bytes.count))
    }

    private static func append(number: Int64, _ width: Int, to header: inout [UInt8]) {
        let digits = octal(number, width - 1)
        if digits.count < width { return append(digits, width, to: &header) }
        // A store beyond 8 GB: base 256, as GNU and BSD write it.
        var bytes = [UInt8](repeating: 0, count: width)
        for digit in 0..<min(8, width - 1) {
            bytes[width - 1 - digit] = UInt8(truncatingIfNeeded: number >> (8 * digit))
        }
        bytes[0] = 0x80
        append(bytes, width, to: &header)
    }

    /// More digits than `width` if the number needs them.
    private static func octal(_ number: Int64, _ width: Int) -> [UInt8] {
        let digits = Array(String(number, radix: 8).utf8)
        return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits
    }
}
