import CSystemd
internal import Glibc
import Linux
package import Vocabulary

extension Bus {
    /// Connects, peer to peer, to whoever listens at a path. Returns within `timeout`, ready.
    ///
    /// Throws `notListening` when nobody does, `timedOut` when one does and does not answer,
    /// `disconnected` when the peer wants none of us or goes away.
    package static func connect(
        toSocket path: String,
        timeout: Interval = .seconds(5)
    ) throws(BusError) -> Bus {
        let socket = FileDescriptor(owning: try connectedSocket(path, timeout: timeout))
        let listener = listener(of: socket)
        var made: OpaquePointer?
        let code = unsafe sd_bus_new(&made)
        guard code >= 0, let handle = unsafe made else {
            throw BusError(code, "sd_bus_new", path)
        }
        let bus = unsafe Bus(owning: handle)
        try check(unsafe sd_bus_set_fd(handle, socket.number, socket.number), "sd_bus_set_fd", path)
        _ = socket.release()
        do throws(BusError) {
            try check(unsafe sd_bus_start(handle), "connect", path)
            if try bus.work(for: timeout, until: { bus.isReady }) { return bus }
        } catch {
            throw BusError(error.reason, "connect", path, error.message, listener: listener)
        }
        throw BusError(
            .timedOut,
            "connect",
            path,
            "no answer within \(timeout)",
            listener: listener
        )
    }

    private static func listener(of socket: borrowing FileDescriptor) -> UInt32? {
        do throws(LinuxError) {
            return try Peer(of: socket).user
        } catch {
            return nil
        }
    }

    private static func connectedSocket(
        _ path: String,
        timeout: Interval
    ) throws(BusError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            throw BusError(-ENAMETOOLONG, "connect", path)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw BusError(-errno, "socket", path) }
        // Bounds the wait for a listener whose queue is full.
        let whole = timeout.wholeSeconds
        let rest = (timeout.nanoseconds - whole * 1_000_000_000) / 1000
        var time = timeval(tv_sec: Int(whole), tv_usec: Int(rest))
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let number = errno == EAGAIN || errno == EINPROGRESS ? ETIMEDOUT : errno
            Glibc.close(descriptor)
            throw BusError(-number, "connect", path)
        }
        return descriptor
    }
}
