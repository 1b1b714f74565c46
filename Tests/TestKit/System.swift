import CTestKit
import Glibc
package import Linux

/// A terminal that a test plays: what is written to `master` is typed, what is read from it was
/// printed.
package struct PseudoTerminal: ~Copyable {
    package let master: FileDescriptor
    /// The terminal's own side: start a session with it as input and `controlsTerminal`, then set
    /// it to nil, so that the end of the session is an end of `master`.
    package var terminal: FileDescriptor?
    package let path: String

    package init(rows: UInt16 = 24, columns: UInt16 = 80) throws {
        var name = [CChar](repeating: 0, count: 64)
        let number = testkit_pseudo_terminal(rows, columns, &name, name.count)
        let master = try opened(number, "posix_openpt")
        let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        let terminal = try FileDescriptor(opening: path, .both)
        self.master = master
        self.terminal = consume terminal
        self.path = path
    }
}

extension UnixSocket {
    /// A socket at `path` that takes datagrams, as `NOTIFY_SOCKET` wants it.
    package static func datagrams(at path: String) throws -> FileDescriptor {
        try opened(testkit_datagram_socket(path), "bind", path)
    }
}

extension Files {
    package static func setOwner(_ path: String, user: UInt32, group: UInt32) throws(LinuxError) {
        guard lchown(path, user, group) == 0 else {
            throw LinuxError("chown", path, Errno(errno))
        }
    }
}

private func opened(
    _ number: Int32,
    _ operation: String,
    _ subject: String = ""
) throws(LinuxError) -> FileDescriptor {
    guard number >= 0 else { throw LinuxError(operation, subject, Errno(errno)) }
    return FileDescriptor(owning: number)
}
