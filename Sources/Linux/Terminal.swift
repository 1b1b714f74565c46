internal import CLinux
internal import Glibc

/// What a descriptor tells of its terminal.
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
