import Glibc
import SQLite
import TestKit
import Testing

struct DatabaseTests {
    let scratch = ScratchDirectory()

    @Test func whatWasWrittenIsThereAfterReopening() throws {
        try Database(path: scratch("db"), mode: .create).execute(
            "CREATE TABLE t(v); INSERT INTO t VALUES ('kept')"
        )
        let reopened = try Database(path: scratch("db"), mode: .readWrite)
        #expect(try reopened.texts("SELECT v FROM t") == ["kept"])
        #expect(try reopened.integer("SELECT 1 FROM t WHERE v = 'absent'") == nil)
    }

    @Test func aCopyIsOfOneMomentAndWhole() throws {
        let writer = try Database(path: scratch("db"), mode: .create)
        try writer.setJournalMode(.wal)
        try writer.execute("PRAGMA application_id = 7; PRAGMA user_version = 3")
        try writer.execute("CREATE TABLE t(v); INSERT INTO t VALUES ('gone'), ('kept')")
        try writer.execute("DELETE FROM t WHERE v = 'gone'")
        // It is another's, in the middle of something, and not in the file itself.
        try writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES ('later')")
        let name = "file:x?mode=memory"
        try Database(path: scratch("db"), mode: .readOnly).copy(to: scratch(name))
        try writer.execute("COMMIT")
        let copy = try Database(path: scratch(name), mode: .immutable)
        #expect(try copy.texts("SELECT v FROM t") == ["kept"])
        #expect(try copy.applicationID() == 7)
        #expect(try copy.userVersion() == 3)
        let bytes = try #require(scratch.bytes(of: name))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("gone"))
    }

    @Test func aCopyReplacesNothing() throws {
        let database = try Database(path: scratch("db"), mode: .create)
        try database.execute("CREATE TABLE t(v)")
        scratch.write("mine", to: "other")
        #expect(code { try database.copy(to: scratch("other")) } == .notADatabase)
        #expect(try scratch.read("other") == "mine")
        #expect(code { try database.copy(to: scratch("no/copy")) } == .cannotOpen)
    }

    @Test func anAbsentFileIsMadeOnlyWhenAskedFor() throws {
        for mode in [Database.Mode.readOnly, .immutable, .readWrite] {
            let error = try #require(failure { _ = try Database(path: scratch("db"), mode: mode) })
            #expect(error.code == .cannotOpen)
            #expect(error.operation == .open)
            #expect(error.message == "unable to open database file")
            #expect(error.subject == scratch("db"))
        }
        #expect(scratch.entries.isEmpty)
    }

    @Test(arguments: [Database.Mode.readOnly, .immutable])
    func aReaderCannotWrite(mode: Database.Mode) throws {
        try Database(path: scratch("db"), mode: .create).execute("CREATE TABLE t(v)")
        let reader = try Database(path: scratch("db"), mode: mode)
        #expect(code { try reader.execute("INSERT INTO t VALUES (1)") } == .readOnly)
    }

    @Test func aNameIsNeverReadAsAnURI() throws {
        for name in ["a b?mode=memory#x%20ü", "file:x?mode=memory"] {
            let path = scratch(name)
            try Database(path: path, mode: .create).execute("PRAGMA user_version = 3")
            #expect(try Database(path: path, mode: .immutable).userVersion() == 3)
        }
        #expect(scratch.entries == ["a b?mode=memory#x%20ü", "file:x?mode=memory"])
    }

    @Test func anImmutableReaderLeavesNothingBesideTheFile() throws {
        do {
            let writer = try Database(path: scratch("db"), mode: .create)
            try writer.setJournalMode(.wal)
            try writer.execute("CREATE TABLE t(v)")
        }
        let before = scratch.bytes(of: "db")
        let reader = try Database(path: scratch("db"), mode: .immutable)
        #expect(try reader.integer("SELECT count(*) FROM t") == 0)
        #expect(scratch.entries == ["db"])
        #expect(scratch.bytes(of: "db") == before)
    }

    @Test func aChildDoesNotInheritTheFile() throws {
        let database = try Database(path: scratch("db"), mode: .create)
        try database.setJournalMode(.wal)
        try database.execute("CREATE TABLE t(v)")
        var seen: [String] = []
        for descriptor in 0..<1024 as Range<Int32> {
            var target = [UInt8](repeating: 0, count: 256)
            let count = target.withUnsafeMutableBytes {
                readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count)
            }
            guard count > 0 else { continue }
            let path = String(decoding: target[..<count], as: UTF8.self)
            guard path.hasPrefix(scratch.path) else { continue }
            seen.append(String(path.dropFirst(scratch.path.count + 1)))
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
        #expect(Set(seen) == ["db", "db-wal", "db-shm"])
    }

    @Test func anotherWritersLockIsBusy() throws {
        let first = try Database(path: scratch("db"), mode: .create)
        try first.execute("CREATE TABLE t(v); BEGIN IMMEDIATE")
        let second = try Database(path: scratch("db"), mode: .readWrite, busyTimeout: 1)
        let error = try #require(failure { try second.execute("INSERT INTO t VALUES (1)") })
        #expect(error.code == .busy)
        #expect(error.message == "database is locked")
    }

    @Test func anExclusiveOwnerShutsOthersOutAndNeedsNoSharedMemory() throws {
        let owner = try Database(path: scratch("db"), mode: .create)
        try owner.lockExclusively()
        try owner.setJournalMode(.wal)
        try owner.execute("CREATE TABLE t(v)")
        #expect(scratch.entries == ["db", "db-wal"])
        let other = try Database(path: scratch("db"), mode: .readWrite)
        #expect(code { _ = try other.integer("SELECT count(*) FROM t") } == .busy)
    }

    @Test func theLogStaysWhenAskedFor() throws {
        do {
            let owner = try Database(path: scratch("db"), mode: .create)
            try owner.lockExclusively()
            try owner.setJournalMode(.wal)
            try owner.keepLogOnClose()
            try owner.execute("CREATE TABLE t(v)")
        }
        #expect(scratch.entries == ["db", "db-wal"])
        do {
            let next = try Database(path: scratch("db"), mode: .readWrite)
            #expect(try next.integer("SELECT count(*) FROM t") == 0)
        }
        #expect(scratch.entries == ["db"])
    }

    @Test func aFileOfAnotherKindIsNotADatabase() throws {
        scratch.write(String(repeating: "not a database\n", count: 100), to: "db")
        let database = try Database(path: scratch("db"), mode: .readWrite)
        let error = try #require(failure { _ = try database.userVersion() })
        #expect(error.code == .notADatabase)
        #expect(error.message == "file is not a database")
    }

    @Test func aDamagedPageIsFound() throws {
        do {
            let database = try Database(path: scratch("db"), mode: .create)
            try database.execute("CREATE TABLE t(v)")
            let insert = try database.prepare("INSERT INTO t VALUES (?1)")
            for number in 0..<2000 as Range<Int64> {
                try insert.bind("row \(number)", at: 1)
                try insert.run()
            }
            #expect(try database.findings(limit: 3) == [])
        }
        var bytes = try #require(scratch.bytes(of: "db"))
        for index in 4096..<8192 { bytes[index] = 0xa5 }
        scratch.write(bytes, to: "db")
        let damaged = try Database(path: scratch("db"), mode: .readWrite)
        #expect(code { _ = try damaged.integer("SELECT count(*) FROM t") } == .corrupt)
        let findings = try damaged.findings(limit: 3)
        #expect(findings.count >= 1 && findings.count <= 3)
    }

    @Test func identityAndVersionAreKept() throws {
        do {
            let database = try Database(path: scratch("db"), mode: .create)
            try database.setApplicationID(0x4f46_4653)
            try database.setUserVersion(7)
        }
        let database = try Database(path: scratch("db"), mode: .readOnly)
        #expect(try database.applicationID() == 0x4f46_4653)
        #expect(try database.userVersion() == 7)
    }

    @Test func aJournalModeThatCannotBeSetIsAnError() throws {
        let database = try Database(path: ":memory:", mode: .create)
        let error = try #require(failure { try database.setJournalMode(.wal) })
        #expect(error.operation == .configure)
        #expect(error.message == "the journal mode stays memory")
    }

    @Test func synchronousIsSet() throws {
        let database = try Database(path: scratch("db"), mode: .create)
        for level in [Database.Synchronous.off, .normal, .full, .extra] {
            try database.setSynchronous(level)
            #expect(try database.integer("PRAGMA synchronous") == level.rawValue)
        }
    }

    @Test func aFileSystemThatDoesNotExistIsRefused() throws {
        let error = try #require(
            failure { _ = try Database(path: "x", mode: .create, fileSystem: "none") }
        )
        #expect(error.message == "no such vfs: none")
    }
}
