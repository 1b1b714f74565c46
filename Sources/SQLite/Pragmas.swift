import CSQLite

extension Database {
    package enum JournalMode: String, Sendable { case delete, wal }
    package enum Synchronous: Int64, Sendable { case off = 0, normal, full, extra }

    /// Says whose file format this is; stands in the header, where `file` finds it.
    package func applicationID() throws(SQLiteError) -> Int32 {
        Int32(truncatingIfNeeded: try integer("PRAGMA application_id") ?? 0)
    }

    package func setApplicationID(_ id: Int32) throws(SQLiteError) {
        try execute("PRAGMA application_id = \(id)")
    }

    /// The version of the schema, as its owner counts; part of the transaction it is set in.
    package func userVersion() throws(SQLiteError) -> Int32 {
        Int32(truncatingIfNeeded: try integer("PRAGMA user_version") ?? 0)
    }

    package func setUserVersion(_ version: Int32) throws(SQLiteError) {
        try execute("PRAGMA user_version = \(version)")
    }

    /// SQLite answers the mode in force, which is the old one when it cannot change.
    package func setJournalMode(_ mode: JournalMode) throws(SQLiteError) {
        let sql = "PRAGMA journal_mode = \(mode.rawValue)"
        let answer = try texts(sql)
        guard answer == [mode.rawValue] else {
            throw SQLiteError(
                extendedCode: SQLITE_ERROR,
                operation: .configure,
                message: "the journal mode stays \(answer.joined())",
                subject: sql
            )
        }
    }

    package func setSynchronous(_ level: Synchronous) throws(SQLiteError) {
        try execute("PRAGMA synchronous = \(level.rawValue)")
    }

    /// Keeps the file locked from the first access on, and the index of the write-ahead log
    /// in memory instead of in a file beside it. To be called before the first access.
    package func lockExclusively() throws(SQLiteError) {
        try execute("PRAGMA locking_mode = EXCLUSIVE")
    }

    /// Whether the write-ahead log is left as it is when this connection closes.
    package func keepLogOnClose(_ keep: Bool = true) throws(SQLiteError) {
        try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep)
    }

    /// A write-ahead log of this many pages is written back with the commit that makes it so long.
    package func setPagesBetweenCheckpoints(_ count: Int) throws(SQLiteError) {
        try execute("PRAGMA wal_autocheckpoint = \(count)")
    }

    /// What SQLite finds wrong with the file, at most `limit` lines; empty when it is sound.
    package func findings(limit: Int) throws(SQLiteError) -> [String] {
        let lines = try texts("PRAGMA quick_check(\(limit))")
        return lines == ["ok"] ? [] : lines
    }
}
