/// The file in which a session keeps what its X server asks of clients (`XAUTHORITY`).
package enum XAuthority {
    /// The cookie for this display number; nil: the file has none. Any host's: two servers of one
    /// machine have two numbers, and a cookie is of no use elsewhere.
    package static func cookie(for display: Int, in bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        while let entry = entry(&rest) {
            guard entry.name == Array("MIT-MAGIC-COOKIE-1".utf8),
                entry.number.isEmpty || entry.number == Array("\(display)".utf8)
            else { continue }
            return entry.cookie
        }
        return nil
    }

    private struct Entry {
        var number: [UInt8]
        var name: [UInt8]
        var cookie: [UInt8]
    }

    /// A family of two bytes, then four fields, each after its length in two bytes.
    private static func entry(_ rest: inout ArraySlice<UInt8>) -> Entry? {
        guard rest.count >= 2 else { return nil }
        rest.removeFirst(2)
        guard field(&rest) != nil, let number = field(&rest), let name = field(&rest),
            let cookie = field(&rest)
        else { return nil }
        return Entry(number: number, name: name, cookie: cookie)
    }

    private static func field(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= 2 else { return nil }
        let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        guard rest.count >= 2 + length else { return nil }
        rest.removeFirst(2)
        defer { rest.removeFirst(length) }
        return Array(rest.prefix(length))
    }
}
