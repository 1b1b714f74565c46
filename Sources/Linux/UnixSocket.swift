internal import CLinux
internal import Glibc

/// A listening stream socket at a path that only its user can reach.
package struct UnixListener: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    package let path: String

    /// What fits into an address besides the ending zero.
    package static let longestPath = 107

    /// Listens at `path` with mode 0600, in a directory made with mode 0700 if need be. Replaces
    /// a socket that is there, but not one at which somebody listens.
    package init(_ path: String) throws(LinuxError) {
        guard path.utf8.count <= Self.longestPath else {
            throw LinuxError("bind", path, .nameTooLong)
        }
        let directory = Files.directory(of: path)
        if !(try Files.makeDirectory(directory, permissions: 0o700, parents: true)) {
            try Self.checkPrivate(directory)
        }
        if Files.status(path, followLinks: false)?.kind == .socket {
            guard (try? UnixSocket.connect(to: path)) == nil else {
                throw LinuxError("bind", path, .addressInUse)
            }
            try Files.remove(path)
        }
        let socket = FileDescriptor(owning: try check(clinux_socket_unix(1), "socket", path))
        // The mode of the socket itself decides that of its file: no moment with another one.
        try check(fchmod(socket.number, 0o600), "fchmod", path)
        try check(unsafe clinux_bind_unix(socket.number, path), "bind", path)
        try check(listen(socket.number, 128), "listen", path)
        descriptor = socket
        self.path = path
    }

    /// Takes over a socket that already listens (socket activation).
    package init(listening descriptor: consuming FileDescriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// The next connection, non-blocking; nil when nobody waits.
    package func accept() throws(LinuxError) -> FileDescriptor? {
        do throws(LinuxError) {
            return FileDescriptor(
                owning: try checkAgain("accept4", path) { clinux_accept(descriptor.number) }
            )
        } catch  where error.errno == .again || error.errno == Errno(ECONNABORTED) {
            return nil
        }
    }

    private static func checkPrivate(_ directory: String) throws(LinuxError) {
        guard let status = Files.status(directory) else {
            throw LinuxError("stat", directory, .noEntry)
        }
        // A directory of ours that others can enter is closed; one of others, or for all, is
        // refused.
        guard status.user == CurrentProcess.user, status.permissions & 0o1000 == 0 else {
            throw LinuxError("bind", directory, .permission)
        }
        if status.permissions & 0o077 != 0 {
            try Files.setPermissions(directory, status.permissions & 0o700)
        }
    }
}

/// Connections between processes of one machine.
package enum UnixSocket {
    /// Connects to a listening stream socket, blocking.
    package static func connect(to path: String) throws(LinuxError) -> FileDescriptor {
        guard path.utf8.count <= UnixListener.longestPath else {
            throw LinuxError("connect", path, .nameTooLong)
        }
        let descriptor = FileDescriptor(owning: try check(clinux_socket_unix(0), "socket", path))
        try checkAgain("connect", path) {
            unsafe clinux_connect_unix(descriptor.number, path)
        }
        return descriptor
    }
}

/// Who is at the other end of a connected socket.
package struct Peer: ~Copyable, Sendable {
    package let pid: Int32
    package let user: UInt32
    package let group: UInt32
    /// nil when the process has been reaped. `take()` gives it away.
    package var process: PidFD?

    /// The process that connected, held by descriptor: from the socket itself, before Linux 6.5
    /// by number (then `identity` is to be compared with what is known of it).
    package init(of socket: borrowing FileDescriptor) throws(LinuxError) {
        var pid: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
        try check(
            unsafe clinux_peer_credentials(socket.number, &pid, &user, &group),
            "getsockopt",
            "SO_PEERCRED"
        )
        (self.pid, self.user, self.group) = (pid, user, group)
        let pidfd = clinux_peer_pidfd(socket.number)
        if pidfd >= 0 {
            process = PidFD(owning: FileDescriptor(owning: pidfd), pid: pid)
        } else {
            process = try? PidFD(of: pid)
        }
    }

    /// Whether the kernel gives a descriptor of who connected (Linux 6.5), so that their number
    /// need not be trusted.
    package static let isHeldByKernel: Bool = {
        var ends: [Int32] = [-1, -1]
        guard unsafe clinux_socket_pair(&ends) == 0 else { return false }
        let one = FileDescriptor(owning: ends[0])
        _ = FileDescriptor(owning: ends[1])
        let process = clinux_peer_pidfd(one.number)
        guard process >= 0 else { return false }
        _ = FileDescriptor(owning: process)
        return true
    }()

    /// Whether it has ended, so that its number may be another's by now.
    package var hasEnded: Bool {
        switch process {
        case .some(let process): process.hasExited
        case .none: true
        }
    }

    /// The number and start time; nil when it is gone.
    package var identity: ProcessIdentity? { ProcessIdentity(of: pid) }
}
