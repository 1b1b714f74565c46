import CZlib

/// Why zlib did not go on.
package struct ZlibError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The bytes are none of a gzip file, or damaged.
        case corrupt
        /// The file ends too soon.
        case truncated
        /// More than the limit comes out.
        case tooLarge
        case noMemory
    }

    package let kind: Kind
    /// zlib's own code.
    package let code: Int32
}

/// Files as gzip writes them, whole.
package enum Gzip {
    /// Whether this begins as such a file does.
    package static func isCompressed(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// All members of the file; at most `limit` bytes.
    package static func decompress(_ bytes: [UInt8], limit: Int) throws(ZlibError) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        repeat {
            rest = rest.dropFirst(try member(Array(rest), limit: limit, into: &result))
            // What follows the last member is padding.
        } while isCompressed(Array(rest.prefix(2)))
        return result
    }

    /// Appends one member; how many bytes of the input it had.
    private static func member(
        _ input: [UInt8],
        limit: Int,
        into result: inout [UInt8]
    ) throws(ZlibError) -> Int {
        var stream = unsafe z_stream()
        try check(unsafe czlib_inflate_gzip(&stream))
        defer { unsafe inflateEnd(&stream) }
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var used = 0
        while true {
            let (code, taken, made) = unsafe step(&stream, input, used, &piece)
            used += taken
            result.append(contentsOf: piece.prefix(made))
            guard result.count <= limit else { throw ZlibError(kind: .tooLarge, code: code) }
            if code == Z_STREAM_END { return used }
            if code == Z_BUF_ERROR || code == Z_OK && used == input.count && made < piece.count {
                throw ZlibError(kind: .truncated, code: code)
            }
            try check(code)
        }
    }

    /// One call: its code, how many bytes it took and how many it made.
    private static func step(
        _ stream: inout z_stream,
        _ input: [UInt8],
        _ used: Int,
        _ output: inout [UInt8]
    ) -> (code: Int32, taken: Int, made: Int) {
        // A call takes so much at once, and its counters hold it.
        let ahead = min(input.count - used, 1 << 30)
        let room = output.count
        return unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                // Only read from, whatever the type says.
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                    .map { unsafe $0 + used }
                unsafe stream.avail_in = UInt32(ahead)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(room)
                let code = unsafe inflate(&stream, Z_NO_FLUSH)
                return unsafe (code, ahead - Int(stream.avail_in), room - Int(stream.avail_out))
            }
        }
    }

    private static func check(_ code: Int32) throws(ZlibError) {
        switch code {
        case Z_OK, Z_STREAM_END: return
        case Z_MEM_ERROR: throw ZlibError(kind: .noMemory, code: code)
        default: throw ZlibError(kind: .corrupt, code: code)
        }
    }
}
