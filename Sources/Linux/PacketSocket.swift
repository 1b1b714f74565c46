internal import CLinux
internal import Glibc

/// One end of a pair of sockets that keep messages apart and can carry descriptors. Never waits.
package struct PacketSocket: ~Copyable, Sendable {
    package let descriptor: FileDescriptor

    package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Sends one message, with an open file if there is one; that stays the caller's. False: the
    /// other end must read first.
    package func send(_ bytes: [UInt8], with file: Int32? = nil) throws(LinuxError) -> Bool {
        do throws(LinuxError) {
            try checkAgain("sendmsg", "") {
                unsafe clinux_send_packet(descriptor.number, bytes, bytes.count, file ?? -1)
            }
            return true
        } catch  where error.errno == .again {
            return false
        }
    }

    package enum Received: ~Copyable {
        case message([UInt8], FileDescriptor?)
        /// Nothing has come.
        case nothing
        /// The other end is closed.
        case end
    }

    /// The next message, of at most `limit` bytes. A longer one is an error.
    package func receive(limit: Int) throws(LinuxError) -> Received {
        var number: Int32 = -1
        var length = -1
        var problem = Int32(0)
        // Most are short: nothing is zeroed for them.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            repeat {
                length = unsafe clinux_receive_packet(
                    descriptor.number,
                    buffer.baseAddress,
                    limit,
                    &number
                )
                problem = errno
            } while length < 0 && problem == EINTR
            count = max(0, length)
        }
        guard length >= 0 else {
            let error = LinuxError("recvmsg", "", Errno(problem))
            if error.errno == .again { return .nothing }
            throw error
        }
        guard length > 0 else { return .end }
        return .message(bytes, number < 0 ? nil : FileDescriptor(owning: number))
    }
}

/// Both ends of a new pair.
package struct PacketPair: ~Copyable {
    package var one: FileDescriptor?
    package var other: FileDescriptor?

    package init() throws(LinuxError) {
        var ends: [Int32] = [-1, -1]
        try check(unsafe clinux_packet_pair(&ends), "socketpair")
        one = FileDescriptor(owning: ends[0])
        other = FileDescriptor(owning: ends[1])
    }
}
