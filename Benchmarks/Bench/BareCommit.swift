import SQLite

/// What the disk costs alone: one row of 300 bytes, as durable as a request.
struct BareCommit: ~Copyable {
    private let insert: Statement

    init(path: String) throws {
        let database = try Database(path: path, mode: .create)
        try database.setJournalMode(.wal)
        try database.setSynchronous(.full)
        try database.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, b BLOB)")
        // It keeps the database.
        insert = try database.prepare("INSERT INTO t (b) VALUES (?1)")
    }

    func run() throws {
        try insert.bind([UInt8](repeating: 7, count: 300), at: 1)
        try insert.run()
        insert.reset()
    }
}
