internal import Glibc

/// The fields of a message in the order in which they came, in two pieces of memory.
package struct HeaderBlock: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [End] = []

    /// Where a name and its value end.
    struct End: Sendable {
        var name: Int32
        var value: Int32
    }

    /// Fields whose values are not seen twice, by index: the peer's table is spared them.
    private var unlisted: UInt64 = 0

    package init() {}

    /// With room for so many bytes and fields.
    package init(capacity: Int, fields: Int) {
        bytes.reserveCapacity(capacity)
        ends.reserveCapacity(fields)
    }

    package init(_ fields: [(name: String, value: String)]) {
        for field in fields { append(field.name, field.value) }
    }

    package mutating func append(_ name: String, _ value: String) {
        append(name) { $0.append(contentsOf: value.utf8) }
    }

    /// A value that is never the same twice, which `write` appends.
    package mutating func append(unique name: String, _ write: (inout [UInt8]) -> Void) {
        if count < UInt64.bitWidth { unlisted |= 1 << UInt64(count) }
        append(name, write)
    }

    private mutating func append(_ name: String, _ write: (inout [UInt8]) -> Void) {
        bytes.append(contentsOf: name.utf8)
        let middle = Int32(bytes.count)
        write(&bytes)
        ends.append(End(name: middle, value: Int32(bytes.count)))
    }

    /// Lends the bytes, to write over the value at `index`, which keeps its length.
    package mutating func change(at index: Int, _ write: (inout [UInt8], Range<Int>) -> Void) {
        write(&bytes, valueRange(index))
    }

    /// False, and nothing is appended, when the list would be larger than `limit`.
    mutating func append(
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>,
        upTo limit: Int
    ) -> Bool {
        let start = bytes.count
        let (middle, end) = (start + name.count, start + name.count + value.count)
        guard end + 32 * (count + 1) <= limit else { return false }
        unsafe bytes.append(contentsOf: name)
        unsafe bytes.append(contentsOf: value)
        ends.append(End(name: Int32(middle), value: Int32(end)))
        return true
    }

    mutating func append(contentsOf other: HeaderBlock) {
        let start = Int32(bytes.count)
        bytes += other.bytes
        ends += other.ends.map { End(name: start + $0.name, value: start + $0.value) }
    }

    /// Keeps its memory, unless that is much.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        ends.removeAll(keepingCapacity: ends.capacity <= 128)
        unlisted = 0
    }

    func isUnlisted(_ index: Int) -> Bool { index < 64 && unlisted >> UInt64(index) & 1 == 1 }

    package var count: Int { ends.count }
    /// As RFC 9113 counts a header list: 32 more for each field.
    package var size: Int { bytes.count + 32 * count }

    private func nameRange(_ index: Int) -> Range<Int> {
        (index == 0 ? 0 : Int(ends[index - 1].value))..<Int(ends[index].name)
    }

    private func valueRange(_ index: Int) -> Range<Int> {
        Int(ends[index].name)..<Int(ends[index].value)
    }

    package func name(at index: Int) -> ArraySlice<UInt8> { bytes[nameRange(index)] }

    package func value(at index: Int) -> ArraySlice<UInt8> { bytes[valueRange(index)] }

    package func nameCount(at index: Int) -> Int { nameRange(index).count }

    /// One character of a name; 0 where it is shorter.
    package func nameByte(at index: Int, _ offset: Int) -> UInt8 {
        let range = nameRange(index)
        return offset < range.count ? bytes[range.lowerBound + offset] : 0
    }

    package func isName(at index: Int, _ text: StaticString) -> Bool {
        let range = nameRange(index)
        guard range.count == text.utf8CodeUnitCount else { return false }
        return unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe memcmp(start + range.lowerBound, text.utf8Start, range.count) == 0
        }
    }

    /// The value of the first field of this name.
    package subscript(name: String) -> ArraySlice<UInt8>? {
        for index in 0..<count where self.name(at: index).elementsEqual(name.utf8) {
            return value(at: index)
        }
        return nil
    }

    /// The same as text, ill-formed bytes replaced.
    package func text(_ name: String) -> String? {
        self[name].map { String(decoding: $0, as: UTF8.self) }
    }

    package var fields: [(name: String, value: String)] {
        (0..<count).map {
            (
                String(decoding: name(at: $0), as: UTF8.self),
                String(decoding: value(at: $0), as: UTF8.self)
            )
        }
    }

    /// Calls `body` with the bytes of all fields, which it does not change, and where each name and
    /// value ends; valid for the length of the call.
    func withFields<Answer>(
        _ body: (UnsafeMutablePointer<UInt8>, [End]) -> Answer
    ) -> Answer {
        var none: UInt8 = 0
        return unsafe withUnsafeMutablePointer(to: &none) { none in
            unsafe bytes.withUnsafeBufferPointer { buffer in
                // An empty buffer may have no address.
                guard let start = buffer.baseAddress else { return unsafe body(none, ends) }
                return unsafe body(UnsafeMutablePointer(mutating: start), ends)
            }
        }
    }
}
