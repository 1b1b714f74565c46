/// A kind of frames, those of one direction.
package protocol LinkFrame: Sendable {
    /// The most bytes that the fields of one may have.
    static var longest: Int { get }
    var kind: UInt8 { get }
    func appendFields(to bytes: inout [UInt8])
    init(kind: UInt8, fields: ArraySlice<UInt8>) throws(LinkError)
}

extension LinkFrame {
    /// Appends the frame: its kind, the length of its fields, its fields.
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(kind)
        // Nearly all lengths take one byte; the others move the fields by one.
        let start = bytes.count
        bytes.append(0)
        appendFields(to: &bytes)
        let count = bytes.count - start - 1
        if count < 1 << 6 {
            bytes[start] = UInt8(count)
        } else {
            bytes[start] = 0x40 | UInt8(truncatingIfNeeded: count >> 8)
            bytes.insert(UInt8(truncatingIfNeeded: count), at: start + 1)
        }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return bytes
    }
}

/// Cuts what comes over a link into frames. Holds at most one unfinished frame.
package struct FrameReader<Frame: LinkFrame>: Sendable {
    private var unfinished: [UInt8] = []

    package init() {}

    /// Bytes that wait for the rest of their frame.
    package var pendingCount: Int { unfinished.count }

    /// Takes what was read and hands each whole frame to `body`. After an error of either there is
    /// nothing more to be read.
    package mutating func read(
        _ bytes: ArraySlice<UInt8>,
        _ body: (Frame) throws(LinkError) -> Void
    ) throws(LinkError) {
        try readAll(bytes, body)
    }

    private mutating func readAll(
        _ bytes: ArraySlice<UInt8>,
        _ body: (Frame) throws(LinkError) -> Void
    ) throws(LinkError) {
        var rest = bytes
        if !unfinished.isEmpty {
            unfinished += bytes
            rest = unfinished[...]
            unfinished = []
        }
        while let (frame, end) = try Self.first(of: rest) {
            rest = rest[end...]
            try body(frame)
        }
        if !rest.isEmpty { unfinished = Array(rest) }
    }

    private static func first(
        of bytes: ArraySlice<UInt8>
    ) throws(LinkError) -> (frame: Frame, end: Int)? {
        let start = bytes.startIndex
        guard bytes.count >= 2 else { return nil }
        var head = 2
        var count = Int(bytes[start + 1])
        switch count >> 6 {
        case 0: break
        case 1:
            guard bytes.count >= 3 else { return nil }
            head = 3
            count = (count & 0x3F) << 8 | Int(bytes[start + 2])
            guard count >= 1 << 6 else { throw .notCanonical }
        default: throw .tooLong
        }
        guard count <= Frame.longest else { throw .tooLong }
        guard bytes.count >= head + count else { return nil }
        let fields = bytes[start + head..<start + head + count]
        return (try Frame(kind: bytes[start], fields: fields), start + head + count)
    }
}

// The same for each direction, known to the compiler: other modules cannot make it so.

extension FrameReader where Frame == DeviceFrame {
    package mutating func read(
        _ bytes: ArraySlice<UInt8>,
        _ body: (Frame) throws(LinkError) -> Void
    ) throws(LinkError) {
        try readAll(bytes, body)
    }
}

extension FrameReader where Frame == GatewayFrame {
    package mutating func read(
        _ bytes: ArraySlice<UInt8>,
        _ body: (Frame) throws(LinkError) -> Void
    ) throws(LinkError) {
        try readAll(bytes, body)
    }
}
