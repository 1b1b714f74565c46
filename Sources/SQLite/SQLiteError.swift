import CSQLite
internal import Glibc

/// What SQLite refused, in its own words.
package struct SQLiteError: Error, Equatable {
    /// SQLite's primary result code. Only those that a caller may want to tell apart have a name.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let error = Code(rawValue: SQLITE_ERROR)
        package static let busy = Code(rawValue: SQLITE_BUSY)
        package static let readOnly = Code(rawValue: SQLITE_READONLY)
        package static let io = Code(rawValue: SQLITE_IOERR)
        package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        package static let full = Code(rawValue: SQLITE_FULL)
        package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
        package static let tooBig = Code(rawValue: SQLITE_TOOBIG)
        package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        package static let mismatch = Code(rawValue: SQLITE_MISMATCH)
        package static let range = Code(rawValue: SQLITE_RANGE)
        package static let notADatabase = Code(rawValue: SQLITE_NOTADB)
    }

    /// What was being done.
    package enum Operation: String, Sendable {
        case open, configure, prepare, bind, step, column
    }

    package let code: Code
    /// The extended result code, such as `SQLITE_IOERR_FSYNC`; the primary one is its low byte.
    package let extendedCode: Int32
    package let operation: Operation
    /// SQLite's own text.
    package let message: String
    /// The statement, or the path when the operation is `open`.
    package let subject: String
    /// The system's error number behind it, 0 when there is none.
    package let systemError: Int32

    package init(
        extendedCode: Int32,
        operation: Operation,
        message: String,
        subject: String,
        systemError: Int32 = 0
    ) {
        code = Code(rawValue: extendedCode & 0xff)
        self.extendedCode = extendedCode
        self.operation = operation
        self.message = message
        self.subject = subject
        self.systemError = systemError
    }

    /// No room on the disk, or in the quota.
    package var isFull: Bool {
        code == .full || code == .io && (systemError == ENOSPC || systemError == EDQUOT)
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        "SQLite \(operation.rawValue): \(message) (\(extendedCode)): \(subject)"
    }
}
