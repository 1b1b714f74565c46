internal import CLinux
internal import Glibc

/// One end of a pair of sockets that keep messages apart and can carry descriptors. Never waits.
@safe
package struct PacketSocket: ~Copyable {
    package let descriptor: FileDescriptor
    /// For a message as it comes. Made once: of a heap that grows and shrinks by as much with each
    /// message, the kernel would clear the pages each time.
    private let room: UnsafeMutableRawBufferPointer

    /// `limit`: so many bytes a message has at most that comes.
    package init(_ descriptor: consuming FileDescriptor, limit: Int) {
        self.descriptor = descriptor
        unsafe room = .allocate(byteCount: limit, alignment: 16)
    }

    deinit { unsafe room.deallocate() }

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

    /// Nothing more is sent: the other end hears of that when it has read all.
    package func endSending() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }

    package enum Received: ~Copyable {
        case message([UInt8], FileDescriptor?)
        /// Nothing has come.
        case nothing
        /// The other end is closed.
        case end
    }

    /// The next message. One that is too long is an error.
    package func receive() throws(LinuxError) -> Received {
        var number: Int32 = -1
        var length: Int
        repeat {
            length = unsafe clinux_receive_packet(
                descriptor.number,
                room.baseAddress,
                room.count,
                &number
            )
            // Of a peer that has gone without reading all, this is said once, before what it said.
        } while length < 0 && (errno == EINTR || errno == ECONNRESET)
        guard length >= 0 else {
            let error = LinuxError("recvmsg", "", Errno(errno))
            if error.errno == .again { return .nothing }
            throw error
        }
        guard length > 0 else { return .end }
        let bytes = unsafe [UInt8](room[..<length])
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
