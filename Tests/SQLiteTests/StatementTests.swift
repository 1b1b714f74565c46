import SQLite
import TestKit
import Testing

struct StatementTests {
    let scratch = ScratchDirectory()
    let database: Database

    init() throws {
        database = try Database(path: scratch("db"), mode: .create)
        try database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    }

    @Test func integersComeBackAsTheyWere() throws {
        for value in [0, -1, .max, .min] as [Int64] {
            let answer = try database.prepare("SELECT ?1")
            try answer.bind(value, at: 1)
            #expect(try answer.step())
            #expect(try answer.integer(at: 0) == value)
        }
    }

    @Test func realNumbersComeBackAsTheyWere() throws {
        for value in [0, -0.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Double] {
            let answer = try database.prepare("SELECT ?1")
            try answer.bind(value, at: 1)
            #expect(try answer.step())
            #expect(try answer.double(at: 0) == value)
        }
    }

    @Test func textsComeBackAsTheyWere() throws {
        for value in ["", "a", "grün 🌱", "with\0zero", String(repeating: "x", count: 100_000)] {
            let answer = try database.prepare("SELECT ?1")
            try answer.bind(value, at: 1)
            #expect(try answer.step())
            #expect(try answer.text(at: 0) == value)
        }
    }

    @Test func bytesComeBackAsTheyWere() throws {
        for value in [[], [0], Array(0...255), Array(repeating: 7, count: 100_000)] as [[UInt8]] {
            let answer = try database.prepare("SELECT ?1")
            try answer.bind(value, at: 1)
            #expect(try answer.step())
            #expect(try answer.bytes(at: 0) == value)
        }
    }

    @Test func nullIsNeitherAnEmptyTextNorAnEmptyBlob() throws {
        let answer = try database.prepare("SELECT ?1, ?2, ?3")
        try answer.bindNull(at: 1)
        try answer.bind("", at: 2)
        try answer.bind([] as [UInt8], at: 3)
        #expect(try answer.step())
        #expect(try answer.isNull(at: 0))
        #expect(try !answer.isNull(at: 1))
        #expect(try !answer.isNull(at: 2))
    }

    @Test func aStatementRunsAgainWithOtherValues() throws {
        let insert = try database.prepare("INSERT INTO t(v) VALUES (?1)")
        for value in 1...3 as ClosedRange<Int64> {
            try insert.bind(value, at: 1)
            try insert.run()
            #expect(database.changes == 1)
        }
        #expect(try database.integer("SELECT sum(v) FROM t") == 6)
    }

    @Test func resetForgetsWhatWasBoundAndTheRowsNotRead() throws {
        try database.execute("INSERT INTO t(v) VALUES (1), (2)")
        let answer = try database.prepare("SELECT v, ?1 FROM t ORDER BY v")
        try answer.bind(9 as Int64, at: 1)
        #expect(try answer.step())
        answer.reset()
        #expect(try answer.step())
        #expect(try answer.integer(at: 0) == 1)
        #expect(try answer.isNull(at: 1))
    }

    @Test func aStatementKeepsItsConnectionOpen() throws {
        func prepared() throws -> Statement {
            try Database(path: scratch("other"), mode: .create).prepare("SELECT 42")
        }
        let answer = try prepared()
        #expect(try answer.step())
        #expect(try answer.integer(at: 0) == 42)
    }

    @Test func aColumnOfAnotherTypeIsNotConverted() throws {
        let answer = try database.prepare("SELECT '12', 12, 1.5, x'12', NULL")
        #expect(try answer.step())
        #expect(code { _ = try answer.integer(at: 0) } == .mismatch)
        #expect(code { _ = try answer.text(at: 1) } == .mismatch)
        #expect(code { _ = try answer.bytes(at: 2) } == .mismatch)
        #expect(code { _ = try answer.double(at: 3) } == .mismatch)
        #expect(code { _ = try answer.integer(at: 4) } == .mismatch)
    }

    @Test func aTextThatIsNotUTF8IsRefused() throws {
        let answer = try database.prepare("SELECT CAST(x'ff61' AS TEXT)")
        #expect(try answer.step())
        #expect(code { _ = try answer.text(at: 0) } == .mismatch)
    }

    @Test func aColumnThatIsNotThereIsRefused() throws {
        let answer = try database.prepare("SELECT 1")
        #expect(try answer.step())
        #expect(code { _ = try answer.integer(at: 1) } == .range)
        #expect(code { _ = try answer.isNull(at: -1) } == .range)
    }

    @Test func aParameterThatIsNotThereIsRefused() throws {
        let answer = try database.prepare("SELECT ?1")
        for bind in [
            { try answer.bind(1 as Int64, at: 2) },
            { try answer.bind(1.5, at: 2) },
            { try answer.bind("a", at: 0) },
            { try answer.bind([1], at: 2) },
            { try answer.bindNull(at: 2) },
        ] {
            #expect(code(bind) == .range)
        }
    }

    @Test func aValueAboveTheLimitIsRefused() throws {
        let insert = try database.prepare("INSERT INTO t(v) VALUES (?1)")
        let large = [UInt8](repeating: 0, count: Int(Database.largestValue) + 1)
        #expect(code { try insert.bind(large, at: 1) } == .tooBig)
        try insert.bind([1], at: 1)
        try insert.run()
    }

    @Test func aKeyThatExistsIsRefusedAndTheStatementGoesOn() throws {
        let insert = try database.prepare("INSERT INTO t(id) VALUES (?1)")
        try insert.bind(1 as Int64, at: 1)
        try insert.run()
        try insert.bind(1 as Int64, at: 1)
        let error = try #require(failure { try insert.run() })
        #expect(error.code == .constraint)
        #expect(error.extendedCode == 1555)
        #expect(error.operation == .step)
        #expect(error.message == "UNIQUE constraint failed: t.id")
        #expect(error.subject == "INSERT INTO t(id) VALUES (?1)")
        try insert.bind(2 as Int64, at: 1)
        try insert.run()
    }

    @Test(arguments: ["SELEC 1", "SELECT 1; SELECT 2", "", " -- nothing", "SELECT missing"])
    func whatIsNotOneStatementIsRefused(sql: String) {
        #expect(code { _ = try database.prepare(sql) } == .error)
    }

    @Test func anErrorNamesOperationStatementAndSQLitesText() throws {
        let error = try #require(failure { _ = try database.prepare("SELECT missing") })
        #expect(
            "\(error)" == "SQLite prepare: no such column: missing (1): SELECT missing"
        )
    }
}

/// The error of SQLite that `body` threw, if it did.
func failure(_ body: () throws -> Void) -> SQLiteError? {
    do {
        try body()
        return nil
    } catch let error as SQLiteError {
        return error
    } catch {
        Issue.record(error)
        return nil
    }
}

func code(_ body: () throws -> Void) -> SQLiteError.Code? { failure(body)?.code }
