import CSystemd
internal import Glibc
package import Vocabulary

extension Bus {
    /// Connects, peer to peer, to whoever listens at a path. Returns within `timeout`, ready.
    ///
    /// Throws `notListening` when nobody does, `timedOut` when one does and does not answer,
    /// `disconnected` when the peer wants none of us.
    package static func connect(
        toSocket path: String,
        timeout: Interval = .seconds(5)
    ) throws(BusError) -> Bus {
        let descriptor = try connectedSocket(path, timeout: timeout)
        var made: OpaquePointer?
        let code = unsafe sd_bus_new(&made)
        guard code >= 0, let handle = unsafe made else {
            Glibc.close(descriptor)
            throw BusError(code, "sd_bus_new", path)
        }
        let bus = unsafe Bus(owning: handle)
        let given = unsafe sd_bus_set_fd(handle, descriptor, descriptor)
        guard given >= 0 else {
            Glibc.close(descriptor)
            throw BusError(given, "sd_bus_set_fd", path)
        }
        try check(unsafe sd_bus_start(handle), "connect", path)
        guard try bus.workUntilReady(path, timeout) else {
            throw BusError(.timedOut, "connect", path, "no answer within \(timeout)")
        }
        return bus
    }

    private func workUntilReady(_ path: String, _ timeout: Interval) throws(BusError) -> Bool {
        do throws(BusError) {
            return try work(for: timeout) { isReady }
        } catch {
            throw BusError(error.reason, "connect", path, error.message)
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
