import CSQLite

/// A prepared statement: bind from index 1, step through the rows, read columns from index 0.
@safe
package struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let database: Database
    package let sql: String

    /// Prepares exactly one statement; text after it, other than space, is refused.
    init(_ sql: String, on database: Database) throws(SQLiteError) {
        var prepared: OpaquePointer?
        var code = SQLITE_OK
        var rest = ""
        unsafe sql.withCString { text in
            var tail: UnsafePointer<CChar>?
            code = unsafe sqlite3_prepare_v3(
                database.handle,
                text,
                -1,
                UInt32(SQLITE_PREPARE_PERSISTENT),
                &prepared,
                &tail
            )
            if let tail = unsafe tail { rest = unsafe String(cString: tail) }
        }
        guard code == SQLITE_OK else { throw database.failure(.prepare, code, sql) }
        guard let prepared = unsafe prepared, rest.allSatisfy(\.isWhitespace) else {
            unsafe sqlite3_finalize(prepared)
            throw SQLiteError(
                extendedCode: SQLITE_ERROR,
                operation: .prepare,
                message: "expected one statement",
                subject: sql
            )
        }
        unsafe handle = prepared
        self.database = database
        self.sql = sql
    }

    deinit { unsafe sqlite3_finalize(handle) }

    package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
        try check(.bind, unsafe sqlite3_bind_int64(handle, index, value))
    }

    package func bind(_ value: Double, at index: Int32) throws(SQLiteError) {
        try check(.bind, unsafe sqlite3_bind_double(handle, index, value))
    }

    package func bindNull(at index: Int32) throws(SQLiteError) {
        try check(.bind, unsafe sqlite3_bind_null(handle, index))
    }

    package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
        var value = value
        let code = value.withUTF8 { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                unsafe csqlite_bind_text(handle, index, text.baseAddress, UInt64(text.count))
            }
        }
        try check(.bind, code)
    }

    package func bind(_ value: [UInt8], at index: Int32) throws(SQLiteError) {
        let code = unsafe value.withUnsafeBytes { bytes in
            unsafe csqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
        }
        try check(.bind, code)
    }

    /// Goes to the next row; false when there is none, and the statement may be bound anew.
    package func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            unsafe sqlite3_reset(handle)
            return false
        default:
            let error = database.failure(.step, code, sql)
            unsafe sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that answers no row of interest.
    package func run() throws(SQLiteError) { while try step() {} }

    /// Gives up the rows that were not read, and forgets what was bound.
    package func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    package var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

    package func isNull(at column: Int32) throws(SQLiteError) -> Bool {
        try type(at: column) == SQLITE_NULL
    }

    package func integer(at column: Int32) throws(SQLiteError) -> Int64 {
        try expect(SQLITE_INTEGER, "an integer", at: column)
        return unsafe sqlite3_column_int64(handle, column)
    }

    package func double(at column: Int32) throws(SQLiteError) -> Double {
        try expect(SQLITE_FLOAT, "a real number", at: column)
        return unsafe sqlite3_column_double(handle, column)
    }

    package func text(at column: Int32) throws(SQLiteError) -> String {
        try expect(SQLITE_TEXT, "text", at: column)
        let start = unsafe sqlite3_column_text(handle, column)
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw mismatch("UTF-8", at: column)
        }
        return text
    }

    package func bytes(at column: Int32) throws(SQLiteError) -> [UInt8] {
        try expect(SQLITE_BLOB, "a blob", at: column)
        let start = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private func type(at column: Int32) throws(SQLiteError) -> Int32 {
        guard (0..<columnCount).contains(column) else {
            throw SQLiteError(
                extendedCode: SQLITE_RANGE,
                operation: .column,
                message: "no column \(column)",
                subject: sql
            )
        }
        return unsafe sqlite3_column_type(handle, column)
    }

    /// Values are never converted: a column of another type is a file that is not ours.
    private func expect(
        _ type: Int32,
        _ name: String,
        at column: Int32
    ) throws(SQLiteError) {
        guard try self.type(at: column) == type else { throw mismatch(name, at: column) }
    }

    private func mismatch(_ expected: String, at column: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_MISMATCH,
            operation: .column,
            message: "column \(column) does not hold \(expected)",
            subject: sql
        )
    }

    private func check(
        _ operation: SQLiteError.Operation,
        _ code: Int32
    ) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw database.failure(operation, code, sql) }
    }
}
