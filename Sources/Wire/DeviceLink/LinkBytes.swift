/// The numbers of the link: 1, 2, 4 or 8 bytes, most significant first; the first two bits tell how
/// many (as QUIC's, RFC 9000 section 16). Always in the fewest.
extension Array where Element == UInt8 {
    mutating func appendNumber(_ number: UInt64) {
        switch number {
        case 0..<(1 << 6): append(UInt8(number))
        case (1 << 6)..<(1 << 14): appendBytes(of: number | 0x40 << 8, 2)
        case (1 << 14)..<(1 << 30): appendBytes(of: number | 0x80 << 24, 4)
        default: appendBytes(of: Swift.min(number, LinkFormat.largestNumber) | 0xC0 << 56, 8)
        }
    }

    private mutating func appendBytes(of number: UInt64, _ count: Int) {
        for shift in stride(from: 8 * (count - 1), through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    mutating func appendCounted(_ bytes: some Collection<UInt8>) {
        appendNumber(UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Reads the fields of one frame.
struct LinkReader {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var isAtEnd: Bool { offset == bytes.endIndex }
    var remaining: Int { bytes.endIndex - offset }

    mutating func byte() throws(LinkError) -> UInt8 {
        guard offset < bytes.endIndex else { throw .truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() throws(LinkError) -> UInt64 {
        let first = try byte()
        let count = 1 << Int(first >> 6)
        guard remaining >= count - 1 else { throw .truncated }
        var number = UInt64(first & 0x3F)
        for _ in 1..<max(count, 1) { number = number << 8 | UInt64(try byte()) }
        let least: UInt64 =
            switch count {
            case 1: 0
            case 2: 1 << 6
            case 4: 1 << 14
            default: 1 << 30
            }
        guard number >= least else { throw .notCanonical }
        return number
    }

    mutating func take(_ count: Int) throws(LinkError) -> [UInt8] {
        guard remaining >= count else { throw .truncated }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// A length and so many bytes.
    mutating func counted(atMost limit: Int) throws(LinkError) -> [UInt8] {
        let count = try number()
        guard count <= UInt64(limit) else { throw .badValue }
        return try take(Int(count))
    }

    mutating func topic() throws(LinkError) -> String {
        let bytes = try counted(atMost: LinkFormat.longestTopic)
        guard !bytes.isEmpty, bytes.allSatisfy(LinkFormat.isTopicByte) else { throw .badValue }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A point of P-256, or nothing.
    mutating func senderKey() throws(LinkError) -> [UInt8] {
        let bytes = try counted(atMost: LinkFormat.senderKeyBytes)
        guard bytes.isEmpty || bytes.count == LinkFormat.senderKeyBytes && bytes[0] == 4 else {
            throw .badValue
        }
        return bytes
    }

    /// A URL: what is printed of ASCII, without spaces.
    mutating func endpoint() throws(LinkError) -> String {
        let bytes = try counted(atMost: LinkFormat.longestEndpoint)
        guard !bytes.isEmpty, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .badValue
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func condition() throws(LinkError) -> LinkCondition {
        let flags = try byte()
        guard flags & ~ConditionFlag.all == 0 else { throw .notCanonical }
        var condition = LinkCondition(
            isOnMains: flags & ConditionFlag.mains != 0,
            isLowPower: flags & ConditionFlag.lowPower != 0,
            isUnmetered: flags & ConditionFlag.unmetered != 0
        )
        if flags & ConditionFlag.battery != 0 {
            let percent = try byte()
            guard percent <= 100 else { throw .badValue }
            condition.battery = percent
        }
        if flags & ConditionFlag.wakes != 0 { condition.silentWakes = try number() }
        return condition
    }

    func end() throws(LinkError) {
        guard isAtEnd else { throw .trailing }
    }
}

enum ConditionFlag {
    static let battery: UInt8 = 1
    static let mains: UInt8 = 2
    static let lowPower: UInt8 = 4
    static let unmetered: UInt8 = 8
    static let wakes: UInt8 = 16
    static let all: UInt8 = 31
}

extension Array where Element == UInt8 {
    mutating func append(_ condition: LinkCondition) {
        var flags: UInt8 = 0
        if condition.battery != nil { flags |= ConditionFlag.battery }
        if condition.isOnMains { flags |= ConditionFlag.mains }
        if condition.isLowPower { flags |= ConditionFlag.lowPower }
        if condition.isUnmetered { flags |= ConditionFlag.unmetered }
        if condition.silentWakes != nil { flags |= ConditionFlag.wakes }
        append(flags)
        if let battery = condition.battery { append(Swift.min(battery, 100)) }
        if let wakes = condition.silentWakes { appendNumber(wakes) }
    }
}
