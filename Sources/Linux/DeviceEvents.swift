internal import CLinux
internal import Glibc

/// What the kernel tells of its devices as they come, go and change (uevents). Poll the descriptor
/// for reading.
package final class DeviceEvents: Sendable {
    package let descriptor: FileDescriptor

    package init() throws(LinuxError) {
        descriptor = FileDescriptor(
            owning: try check(clinux_socket_device_events(), "socket", "device events")
        )
    }

    /// Whether there was one of this subsystem among those that wait, or one that may have been:
    /// the kernel drops what finds no room.
    package func happened(in subsystem: String) throws(LinuxError) -> Bool {
        let field = Array("SUBSYSTEM=\(subsystem)".utf8)
        var buffer = [CChar](repeating: 0, count: 8192)
        var happened = false
        while true {
            let length = unsafe clinux_receive_device_event(
                descriptor.number,
                &buffer,
                buffer.count
            )
            if length >= 0 {
                let bytes = buffer[..<length].map { UInt8(bitPattern: $0) }
                happened = happened || bytes.split(separator: 0).contains { $0 == field[...] }
                continue
            }
            switch errno {
            case EAGAIN: return happened
            case EINTR: continue
            case ENOBUFS: happened = true
            default: throw LinuxError("recvfrom", "device events", Errno(errno))
            }
        }
    }
}
