import Glibc
package import Linux

/// What a program that was killed leaves behind at `path`: a socket at which nobody listens.
package func leaveSocket(at path: String) throws(LinuxError) {
    let listener = try UnixListener(path)
    // Closing it is not enough: a child that another test starts just now holds it until its exec.
    shutdown(listener.descriptor.number, Int32(SHUT_RDWR))
}
