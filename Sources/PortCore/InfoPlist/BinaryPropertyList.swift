import Vocabulary

/// The binary form of a property list, as Xcode leaves it in a built app. Every offset and length
/// comes from the file and is checked.
struct BinaryPropertyList {
    static let magic = Array("bplist00".utf8)

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objects: Int
    private let table: Int
    private var count = 0
    private var copied = 0

    static func read(_ bytes: [UInt8]) throws(PropertyList.Mistake) -> Value {
        let trailer = bytes.count - 32
        guard trailer >= magic.count else { throw broken("it has no trailer") }
        func size(_ place: Int) -> Int { Int(bytes[trailer + place]) }
        guard let objects = number(bytes, trailer + 8, 8), let top = number(bytes, trailer + 16, 8),
            let table = number(bytes, trailer + 24, 8), (1...8).contains(size(6)),
            (1...8).contains(size(7)), objects <= PropertyList.countLimit, table <= trailer,
            objects * size(6) <= trailer - table
        else { throw broken("its trailer points outside of it") }
        var list = BinaryPropertyList(
            bytes: bytes,
            offsetSize: size(6),
            referenceSize: size(7),
            objects: objects,
            table: table
        )
        return try list.object(top, depth: 0)
    }

    private init(bytes: [UInt8], offsetSize: Int, referenceSize: Int, objects: Int, table: Int) {
        (self.bytes, self.offsetSize, self.referenceSize) = (bytes, offsetSize, referenceSize)
        (self.objects, self.table) = (objects, table)
    }

    private static func broken(_ reason: String) -> PropertyList.Mistake {
        PropertyList.Mistake(reason: "it is a damaged binary property list: \(reason)")
    }

    /// So many bytes, the most significant first; nil outside of the file, or if no `Int` is that.
    private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int? {
        guard place >= 0, size >= 0, place <= bytes.count - size else { return nil }
        var number: UInt64 = 0
        for byte in bytes[place..<place + size] {
            guard number >> 56 == 0 else { return nil }
            number = number << 8 | UInt64(byte)
        }
        return Int(exactly: number)
    }

    private func number(_ place: Int, _ size: Int) throws(PropertyList.Mistake) -> Int {
        guard let number = Self.number(bytes, place, size) else {
            throw Self.broken("a number is outside of it, or too large")
        }
        return number
    }

    private mutating func object(
        _ index: Int,
        depth: Int
    ) throws(PropertyList.Mistake) -> Value {
        count += 1
        // A list that holds itself is endless.
        guard depth < PropertyList.depthLimit, count <= PropertyList.countLimit else {
            throw Self.broken("it is too deep or too large")
        }
        guard index < objects else { throw Self.broken("there is no object \(index)") }
        let place = try number(table + index * offsetSize, offsetSize)
        guard place < table else { throw Self.broken("an object is outside of it") }
        let (kind, low) = (bytes[place] >> 4, Int(bytes[place] & 0xF))
        switch kind {
        case 0x0: return low == 8 ? .bool(false) : low == 9 ? .bool(true) : .null
        case 0x1: return .integer(try integer(place + 1, 1 << low))
        case 0x2, 0x3: return .null
        case 0x4:
            let (start, size) = try length(place, low)
            return .bytes(try slice(start, size))
        case 0x5:
            let (start, size) = try length(place, low)
            return .string(String(decoding: try slice(start, size), as: UTF8.self))
        case 0x6:
            let (start, size) = try length(place, low)
            return .string(try text(start, size))
        case 0xA, 0xC:
            let (start, size) = try length(place, low)
            return .list(try references(start, size, depth))
        case 0xD:
            let (start, size) = try length(place, low)
            let keys = try references(start, size, depth)
            let values = try references(start + size * referenceSize, size, depth)
            return .map(ValueMap(zip(keys, values).map { ($0.stringValue ?? "", $1) }))
        default: throw Self.broken("there is no object of kind \(kind)")
        }
    }

    private func integer(_ place: Int, _ size: Int) throws(PropertyList.Mistake) -> Int64 {
        // Eight bytes have a sign, and are the longest that means anything.
        guard size == 8 else { return Int64(try number(place, min(size, 16))) }
        guard place <= bytes.count - 8 else { throw Self.broken("a number is outside of it") }
        let bits = bytes[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: bits)
    }

    /// Where the content of an object begins, and how many elements it has.
    private func length(
        _ place: Int,
        _ low: Int
    ) throws(PropertyList.Mistake) -> (start: Int, count: Int) {
        guard low == 0xF else { return (place + 1, low) }
        guard place + 1 < bytes.count, bytes[place + 1] >> 4 == 1 else {
            throw Self.broken("a length is missing")
        }
        let size = 1 << Int(bytes[place + 1] & 0xF)
        let count = try number(place + 2, size)
        guard count <= bytes.count else { throw Self.broken("a length is too large") }
        return (place + 2 + size, count)
    }

    private mutating func slice(
        _ start: Int,
        _ size: Int
    ) throws(PropertyList.Mistake) -> [UInt8] {
        guard size <= table, start <= table - size else {
            throw Self.broken("an object ends outside of it")
        }
        copied += size
        guard copied <= PropertyList.byteLimit else { throw Self.broken("it is too large") }
        return Array(bytes[start..<start + size])
    }

    /// UTF-16, the most significant byte first.
    private mutating func text(_ start: Int, _ count: Int) throws(PropertyList.Mistake) -> String {
        let bytes = try slice(start, count * 2)
        let units = stride(from: 0, to: bytes.count, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    private mutating func references(
        _ start: Int,
        _ count: Int,
        _ depth: Int
    ) throws(PropertyList.Mistake) -> [Value] {
        guard count * referenceSize <= table, start <= table - count * referenceSize else {
            throw Self.broken("an object ends outside of it")
        }
        var values: [Value] = []
        for index in 0..<count {
            let reference = try number(start + index * referenceSize, referenceSize)
            values.append(try object(reference, depth: depth + 1))
        }
        return values
    }
}
