import CSQLite

/// One connection to a database file, confined to the thread that opened it.
///
/// It closes when the last reference to it goes, statements included. The file is opened
/// close-on-exec; nothing in it may run code or change its schema behind the caller's back.
@safe
package final class Database {
    package enum Mode: Sendable {
        /// The file must exist; nothing is written, but a reader of a write-ahead log
        /// may create files beside it.
        case readOnly
        /// As a file that nobody changes: neither locks nor a log are looked at or made.
        case immutable
        case readWrite
        /// As `readWrite`, and an absent file is made.
        case create
    }

    /// No string, blob or row is larger than this many bytes.
    package static let largestValue: Int32 = 16 << 20

    let handle: OpaquePointer

    /// Opens the file at `path`, never read as an URI, through the SQLite VFS of the name
    /// `fileSystem` (nil: the ordinary one), waiting `busyTimeout` milliseconds for others' locks.
    package init(
        path: String,
        mode: Mode,
        fileSystem: String? = nil,
        busyTimeout: Int32 = 0
    ) throws(SQLiteError) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var name = path
        switch mode {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = Self.immutableURI(path)
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        if mode != .immutable { name = Self.plainName(path) }

        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(name, &opened, flags, fileSystem)
        guard code == SQLITE_OK, let connection = unsafe opened else {
            let message = unsafe opened.map { unsafe Self.message($0) }
            unsafe sqlite3_close_v2(opened)
            throw SQLiteError(
                extendedCode: code,
                operation: .open,
                message: message ?? Self.text(of: code),
                subject: path
            )
        }
        unsafe handle = connection
        unsafe sqlite3_busy_timeout(handle, busyTimeout)
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.largestValue)
        try set(SQLITE_DBCONFIG_DEFENSIVE, true)
        try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// Runs statements that answer nothing of interest, separated by `;`.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(.step, code, sql) }
    }

    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(sql, on: self)
    }

    /// The first column of the first row that `sql` answers; nil when there is no row.
    package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? try statement.integer(at: 0) : nil
    }

    /// The first column of each row that `sql` answers.
    package func texts(_ sql: String) throws(SQLiteError) -> [String] {
        let statement = try prepare(sql)
        var answer: [String] = []
        while try statement.step() { answer.append(try statement.text(at: 0)) }
        return answer
    }

    /// Rows changed by the last statement.
    package var changes: Int { unsafe Int(sqlite3_changes64(handle)) }

    /// The number of the row that was inserted last into a table that numbers its rows.
    package var lastInserted: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Gives up the pages that are only kept to be read again.
    package func releaseCache() { unsafe sqlite3_db_release_memory(handle) }

    /// Whether no transaction is open.
    package var isIdle: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }

    /// Makes `body` one transaction, taken for writing from the start; whatever it throws, and a
    /// commit that fails, leaves the database as it was and the connection idle.
    package func transaction<Answer: ~Copyable>(
        _ body: () throws(SQLiteError) -> Answer
    ) throws(SQLiteError) -> Answer {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let answer = try body()
            try execute("COMMIT")
            return answer
        } catch {
            // SQLite has rolled back by itself after some errors. If even this fails, the
            // transaction is over all the same: its journal or log is never completed.
            if !isIdle { unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    /// Writes all that is there at this moment into a file of its own, which must be absent or
    /// empty. Others may read and write meanwhile: a write-ahead log grows until it is done. The
    /// copy keeps nothing of what was deleted. It is not synchronized.
    package func copy(to path: String) throws(SQLiteError) {
        let statement = try prepare("VACUUM INTO ?")
        try statement.bind(Self.plainName(path), at: 1)
        try statement.run()
    }

    func set(_ flag: Int32, _ on: Bool) throws(SQLiteError) {
        let code = unsafe csqlite_set_flag(handle, flag, on ? 1 : 0)
        guard code == SQLITE_OK else { throw failure(.configure, code, "db_config \(flag)") }
    }

    func failure(
        _ operation: SQLiteError.Operation,
        _ code: Int32,
        _ subject: String
    ) -> SQLiteError {
        SQLiteError(
            extendedCode: code,
            operation: operation,
            message: unsafe Self.message(handle),
            subject: subject,
            systemError: code & 0xff == SQLITE_IOERR ? unsafe sqlite3_system_errno(handle) : 0
        )
    }

    private static func message(_ handle: OpaquePointer) -> String {
        unsafe String(cString: sqlite3_errmsg(handle))
    }

    static func text(of code: Int32) -> String { unsafe String(cString: sqlite3_errstr(code)) }

    /// A plain name that begins with `file:` would be read as an URI where that is compiled in.
    private static func plainName(_ path: String) -> String {
        path.hasPrefix("file:") ? "./" + path : path
    }

    private static func immutableURI(_ path: String) -> String {
        var uri = path.hasPrefix("/") ? "file://" : "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16)
                uri += hex.count == 1 ? "%0" + hex : "%" + hex
            }
        }
        return uri + "?immutable=1"
    }
}
