import SQLite
import TestKit
import Testing

/// What the disk does to a transaction: each call of it fails once, the power goes at each.
struct FaultTests {
    let scratch = ScratchDirectory()
    let disk = FaultyDisk()

    func open() throws(SQLiteError) -> Database {
        let database = try Database(
            path: scratch("db"),
            mode: .create,
            fileSystem: disk.name
        )
        try database.lockExclusively()
        try database.setJournalMode(.wal)
        try database.setSynchronous(.full)
        return database
    }

    /// A transaction that fills several pages.
    func insert(_ number: Int64, into database: Database) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            let statement = try database.prepare("INSERT INTO t VALUES (?1, ?2)")
            for part in 0..<3 as Range<Int64> {
                try statement.bind(number * 10 + part, at: 1)
                try statement.bind([UInt8](repeating: UInt8(number & 0xff), count: 3000), at: 2)
                try statement.run()
            }
        }
    }

    func numbers(_ database: Database) throws -> [String] {
        try database.texts("SELECT group_concat(id) FROM (SELECT id FROM t ORDER BY id)")
    }

    @Test(arguments: [FaultyDisk.Failure.full, .ioWrite, .ioSync])
    func aFailedCallFailsTheTransactionAndNothingElse(failure kind: FaultyDisk.Failure) throws {
        let database = try open()
        try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)")
        try insert(1, into: database)
        var failures = 0
        for nth in 1... {
            disk.fail(nth: UInt64(nth), with: kind)
            let error = failure { try insert(2, into: database) }
            disk.heal()
            #expect(database.isIdle)
            guard let error else { break }
            failures += 1
            #expect(error.extendedCode == kind.rawValue)
            #expect(try numbers(database) == ["10,11,12"])
        }
        #expect(failures >= 4, "log header, frames, sync")
        #expect(try numbers(database) == ["10,11,12,20,21,22"])
        #expect(try database.findings(limit: 1) == [])
    }

    @Test func aReadErrorIsReported() throws {
        do {
            let database = try open()
            try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)")
            try insert(1, into: database)
        }
        let database = try open()
        disk.fail(.read, nth: 1, with: .ioRead, forever: true)
        let error = try #require(failure { _ = try database.texts("SELECT id FROM t") })
        #expect(error.code == .io)
        #expect(error.extendedCode == 266)
        #expect(error.message == "disk I/O error")
    }

    @Test func anOpenThatFailsIsReported() throws {
        disk.fail(.open, nth: 1, with: .cannotOpen)
        #expect(code { _ = try open() } == .cannotOpen)
    }

    @Test func whatTheBodyThrowsRollsBack() throws {
        let database = try open()
        try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)")
        let thrown = SQLiteError(extendedCode: 1, operation: .step, message: "no", subject: "s")
        let error = failure {
            try database.transaction { () throws(SQLiteError) in
                try database.execute("INSERT INTO t VALUES (1, NULL)")
                throw thrown
            }
        }
        #expect(error == thrown)
        #expect(database.isIdle)
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
    }

    @Test(arguments: 0..<32 as Range<UInt64>)
    func whatWasCommittedSurvivesALossOfPowerAtEveryCall(seed: UInt64) throws {
        var committed: Int64 = 0
        do {
            let database = try open()
            try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)")
        }
        // Each round dies one call later than the one before; with 13 a checkpoint is near.
        for round in 1...40 as ClosedRange<UInt64> {
            do {
                let database = try open()
                try database.execute("PRAGMA wal_autocheckpoint = 13")
                disk.fail(nth: round, with: .ioWrite, forever: true)
                while failure({ try insert(committed + 1, into: database) }) == nil {
                    committed += 1
                }
            }
            disk.heal()
            disk.losePower(seed: seed * 1000 + (seed == 0 ? 0 : round))
            let database = try open()
            let count = try #require(try database.integer("SELECT count(*) FROM t"))
            // The one that failed may stand as well: it was never acknowledged.
            #expect(count == committed * 3 || count == committed * 3 + 3, "round \(round)")
            committed = count / 3
            #expect(try database.findings(limit: 1) == [], "round \(round)")
        }
        #expect(committed > 20)
    }
}
