internal import CLinux
internal import Glibc

/// Terminals, real and made.
package enum Terminal {
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Rows and columns; nil when it is no terminal or does not know.
    package static func size(_ descriptor: Int32) -> (rows: Int, columns: Int)? {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        guard unsafe clinux_terminal_size(descriptor, &rows, &columns) == 0, columns > 0 else {
            return nil
        }
        return (Int(rows), Int(columns))
    }
}

/// A terminal that a program plays: what is written to `master` is typed, what is read from it
/// was printed.
package struct PseudoTerminal: ~Copyable {
    package let master: FileDescriptor
    /// The terminal's own side: start a session with it as input and `controlsTerminal`, then set
    /// it to nil, so that the end of the session is an end of `master`.
    package var terminal: FileDescriptor?
    package let path: String

    package init(rows: UInt16 = 24, columns: UInt16 = 80) throws(LinuxError) {
        var name = [CChar](repeating: 0, count: 64)
        let number = try check(
            unsafe clinux_open_pseudo_terminal(&name, name.count),
            "posix_openpt"
        )
        let master = FileDescriptor(owning: number)
        let path = String(nullTerminated: name)
        let terminal = try FileDescriptor(opening: path, .both)
        try check(clinux_set_terminal_size(master.number, rows, columns), "TIOCSWINSZ", path)
        self.master = master
        self.terminal = consume terminal
        self.path = path
    }
}
