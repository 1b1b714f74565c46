extension ValueBytes {
    /// What a value may measure unless the caller says otherwise.
    package static let defaultLimit = 1 << 20

    /// The value that `bytes` is the canonical form of.
    ///
    /// Never traps. Uses at most about 50 bytes of memory for each byte of input, and allocates
    /// nothing for a length that the input cannot hold.
    ///
    /// - Throws: For anything else than one value in canonical form, also for more than `limit`
    ///   bytes and for more than `Value.depthLimit` levels.
    package static func decode(
        _ bytes: [UInt8],
        limit: Int = defaultLimit
    ) throws(ValueError) -> Value {
        guard bytes.count <= limit else {
            throw ValueError(
                .tooLarge,
                offset: limit,
                "\(bytes.count) bytes; at most \(limit) are taken"
            )
        }
        var reader = CanonicalReader(bytes: bytes)
        let value = try reader.value(depth: 0)
        guard reader.offset == bytes.count else {
            throw ValueError(.trailing, offset: reader.offset, "something follows the value")
        }
        return value
    }
}

/// Reads one value off the front of `bytes`.
private struct CanonicalReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var remaining: Int { bytes.count - offset }

    mutating func value(depth: Int) throws(ValueError) -> Value {
        let start = offset
        guard remaining > 0 else { throw truncated() }
        let first = bytes[offset]
        offset += 1
        guard let major = ValueBytes.Major(rawValue: first >> 5) else {
            throw ValueError(.unsupported, offset: start, "no such item")
        }
        let low = first & 0x1F
        switch major {
        case .unsigned:
            return .integer(try signed(argument(low, at: start), at: start))
        case .negative:
            return .integer(~(try signed(argument(low, at: start), at: start)))
        case .bytes:
            let length = try length(low, each: 1, at: start)
            return .bytes(take(length))
        case .text: return .string(try text(low, at: start))
        case .list: return try list(low, depth: depth, at: start)
        case .map: return try map(low, depth: depth, at: start)
        case .tag: throw ValueError(.unsupported, offset: start, "tags are not taken")
        case .simple: return try simple(low, at: start)
        }
    }

    private mutating func list(
        _ low: UInt8,
        depth: Int,
        at start: Int
    ) throws(ValueError) -> Value {
        let count = try length(low, each: 1, at: start)
        try check(depth, at: start)
        var list: [Value] = []
        list.reserveCapacity(count)
        for _ in 0..<count { list.append(try value(depth: depth + 1)) }
        return .list(list)
    }

    private mutating func map(
        _ low: UInt8,
        depth: Int,
        at start: Int
    ) throws(ValueError) -> Value {
        let count = try length(low, each: 2, at: start)
        try check(depth, at: start)
        var entries: [ValueMap.Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let keyStart = offset
            guard remaining > 0 else { throw truncated() }
            let first = bytes[offset]
            guard first >> 5 == ValueBytes.Major.text.rawValue else {
                throw ValueError(.unsupported, offset: keyStart, "a key that is not text")
            }
            offset += 1
            let key = try text(first & 0x1F, at: keyStart)
            if let last = entries.last?.key { try check(key, follows: last, at: keyStart) }
            entries.append(ValueMap.Entry(key: key, value: try value(depth: depth + 1)))
        }
        return .map(ValueMap(unsorted: entries))
    }

    private func check(_ depth: Int, at start: Int) throws(ValueError) {
        guard depth < Value.depthLimit else {
            throw ValueError(.tooDeep, offset: start, "more than \(Value.depthLimit) levels")
        }
    }

    private func check(
        _ key: String,
        follows last: String,
        at start: Int
    ) throws(ValueError) {
        let (length, lastLength) = (key.utf8.count, last.utf8.count)
        if length > lastLength { return }
        if length == lastLength {
            switch last.compareBytes(to: key) {
            case .before: return
            case .same:
                throw ValueError(.duplicateKey, offset: start, "the key \(key.quoted) twice")
            case .after: break
            }
        }
        throw ValueError(.notCanonical, offset: start, "the key \(key.quoted) out of order")
    }

    /// The number that follows a head whose low bits are `low`, in its shortest form.
    private mutating func argument(_ low: UInt8, at start: Int) throws(ValueError) -> UInt64 {
        let number: UInt64
        let least: UInt64
        switch low {
        case 0..<24: return UInt64(low)
        case 24: (number, least) = (try word(1), 24)
        case 25: (number, least) = (try word(2), 0x100)
        case 26: (number, least) = (try word(4), 0x1_0000)
        case 27: (number, least) = (try word(8), 0x1_0000_0000)
        case 31: throw ValueError(.unsupported, offset: start, "indefinite lengths are not taken")
        default: throw ValueError(.unsupported, offset: start, "a reserved head")
        }
        guard number >= least else {
            throw ValueError(.notCanonical, offset: start, "\(number) has a shorter form")
        }
        return number
    }

    private mutating func word(_ size: Int) throws(ValueError) -> UInt64 {
        guard remaining >= size else { throw truncated() }
        var word: UInt64 = 0
        for index in offset..<(offset + size) { word = word << 8 | UInt64(bytes[index]) }
        offset += size
        return word
    }

    private func signed(_ number: UInt64, at start: Int) throws(ValueError) -> Int64 {
        guard let signed = Int64(exactly: number) else {
            throw ValueError(.unsupported, offset: start, "an integer of more than 64 bits")
        }
        return signed
    }

    /// A number of items of at least `each` bytes, which the rest of the input can hold.
    private mutating func length(
        _ low: UInt8,
        each: Int,
        at start: Int
    ) throws(ValueError) -> Int {
        let count = try argument(low, at: start)
        guard count <= UInt64(remaining / each) else { throw truncated() }
        return Int(count)
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let part = [UInt8](bytes[offset..<(offset + count)])
        offset += count
        return part
    }

    private mutating func text(_ low: UInt8, at start: Int) throws(ValueError) -> String {
        let end = try length(low, each: 1, at: start) + offset
        let bytes = bytes
        let part = bytes.span.extracting(offset..<end)
        guard let text = try? UTF8Span(validating: part) else {
            throw ValueError(.notText, offset: start, "text that is not UTF-8")
        }
        let string = String(copying: text)
        offset = end
        return string
    }

    private mutating func simple(_ low: UInt8, at start: Int) throws(ValueError) -> Value {
        switch low {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 25:
            let half = Float16(bitPattern: UInt16(try word(2)))
            return .double(try float(Double(half), size: 2, at: start))
        case 26:
            let single = Float(bitPattern: UInt32(try word(4)))
            return .double(try float(Double(single), size: 4, at: start))
        case 27:
            return .double(try float(Double(bitPattern: try word(8)), size: 8, at: start))
        default:
            throw ValueError(.unsupported, offset: start, "a simple value without meaning here")
        }
    }

    /// `number`, if what was read is how it is written.
    private func float(
        _ number: Double,
        size: Int,
        at start: Int
    ) throws(ValueError) -> Double {
        let canonical = ValueBytes.encode(.double(number))
        var isSame = canonical.count == size + 1
        if isSame {
            for index in 0...size where canonical[index] != bytes[start + index] { isSame = false }
        }
        guard isSame else {
            throw ValueError(.notCanonical, offset: start, "\(number) has another form")
        }
        return number
    }

    private func truncated() -> ValueError {
        ValueError(.truncated, offset: bytes.count, "the input ends within a value")
    }
}
