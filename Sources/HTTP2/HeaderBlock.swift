/// The fields of a message in the order in which they came, in two pieces of memory.
package struct HeaderBlock: Sendable {
    private var bytes: [UInt8] = []
    /// Where each name and each value ends.
    private var ends: [Int32] = []

    package init() {}

    package init(_ fields: [(name: String, value: String)]) {
        for field in fields { append(field.name, field.value) }
    }

    package mutating func append(_ name: String, _ value: String) {
        bytes.append(contentsOf: name.utf8)
        ends.append(Int32(bytes.count))
        bytes.append(contentsOf: value.utf8)
        ends.append(Int32(bytes.count))
    }

    package mutating func append(_ name: String, _ value: [UInt8]) {
        bytes.append(contentsOf: name.utf8)
        ends.append(Int32(bytes.count))
        bytes.append(contentsOf: value)
        ends.append(Int32(bytes.count))
    }

    mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        unsafe bytes.append(contentsOf: name)
        ends.append(Int32(bytes.count))
        unsafe bytes.append(contentsOf: value)
        ends.append(Int32(bytes.count))
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    package var count: Int { ends.count / 2 }
    /// As RFC 9113 counts a header list: 32 more for each field.
    package var size: Int { bytes.count + 32 * count }

    package func name(at index: Int) -> ArraySlice<UInt8> {
        bytes[(index == 0 ? 0 : Int(ends[2 * index - 1]))..<Int(ends[2 * index])]
    }

    package func value(at index: Int) -> ArraySlice<UInt8> {
        bytes[Int(ends[2 * index])..<Int(ends[2 * index + 1])]
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

    /// Calls `body` with the fields as the library wants them, valid for the length of the call.
    func withFields<Answer>(
        _ body: (UnsafeMutablePointer<UInt8>, [Int32]) -> Answer
    ) -> Answer {
        var copy = bytes
        // An empty buffer may have no address.
        if copy.isEmpty { copy.append(0) }
        return unsafe copy.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { fatalError("a buffer without an address") }
            return unsafe body(start, ends)
        }
    }
}
