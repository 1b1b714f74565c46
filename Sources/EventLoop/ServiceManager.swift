internal import CSystemd
internal import Glibc
package import Linux

/// The protocol of service managers: readiness and sockets handed over (sd-daemon).
package enum ServiceManager {
    /// Says that the service is ready, to whoever `NOTIFY_SOCKET` names. False without one.
    @discardableResult
    package static func ready(_ status: String = "") throws(LinuxError) -> Bool {
        try notify(status.isEmpty ? "READY=1" : "READY=1\nSTATUS=\(status)")
    }

    @discardableResult
    package static func stopping() throws(LinuxError) -> Bool { try notify("STOPPING=1") }

    private static func notify(_ state: String) throws(LinuxError) -> Bool {
        try check(unsafe sd_notify(0, state), "sd_notify") > 0
    }

    /// How many sockets were handed over; forgets the environment that said so, so that children
    /// do not take them for theirs.
    package static func takeSocketCount() throws(LinuxError) -> Int {
        Int(try check(sd_listen_fds(1), "sd_listen_fds"))
    }

    /// The same, by the name of each (`FileDescriptorName=`): `unknown` where nobody gave one.
    package static func takeSocketNames() throws(LinuxError) -> [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = try check(
            unsafe sd_listen_fds_with_names(1, &list),
            "sd_listen_fds_with_names"
        )
        guard let list = unsafe list else { return [] }
        defer { unsafe free(list) }
        return (0..<Int(count)).map { index in
            guard let text = unsafe list[index] else { return "" }
            defer { unsafe free(text) }
            return unsafe String(cString: text)
        }
    }

    /// One of the sockets handed over, close-on-exec; to be taken once.
    package static func takeSocket(_ index: Int) -> FileDescriptor {
        FileDescriptor(owning: Int32(SD_LISTEN_FDS_START) + Int32(index))
    }
}
