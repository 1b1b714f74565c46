import DeviceCore
@testable import DeviceShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// What a starting daemon may find where its database should be.
struct StoreOpeningTests {
    private let scratch = ScratchDirectory()
    private var path: String { scratch("offstage.db") }

    /// The files as they are, by name.
    private func files(in directory: ScratchDirectory? = nil) -> [String: [UInt8]] {
        let directory = directory ?? scratch
        return Dictionary(
            uniqueKeysWithValues: directory.entries.map { ($0, directory.bytes(of: $0) ?? []) }
        )
    }

    private func refusal() -> StoreError? {
        do throws(StoreError) {
            _ = try Store(path: path)
            return nil
        } catch {
            return error
        }
    }

    /// A store with records whose log has not been written back, as a killed daemon leaves it.
    private func leftByAKilledDaemon() throws {
        let other = ScratchDirectory()
        let store = try Store(path: other("offstage.db"))
        for number in 0..<50 as Range<Int64> {
            try store.commit([.put(.app("app\(number)", number))])
        }
        for name in other.entries { scratch.write(try #require(other.bytes(of: name)), to: name) }
        withExtendedLifetime(store) {}
    }

    @Test func aNewDatabaseIsForItsUserAlone() throws {
        do { _ = try Store(path: path) }
        #expect(scratch.entries == ["offstage.db"])
        #expect(Files.status(path)?.permissions == 0o600)
    }

    @Test func noOtherProcessReadsItWhileItIsOpen() throws {
        let store = try Store(path: path)
        let other = try Database(path: path, mode: .readWrite)
        #expect(throws: SQLiteError.self) { try other.integer("SELECT count(*) FROM records") }
        withExtendedLifetime(store) {}
    }

    @Test func whatAKilledDaemonLeftIsReadWithItsLog() throws {
        try leftByAKilledDaemon()
        #expect(scratch.entries == ["offstage.db", "offstage.db-wal"])
        #expect(try Store(path: path).load().count == 50)
        #expect(scratch.entries == ["offstage.db"])
        #expect(try Store(path: path).load().count == 50)
    }

    @Test func damageUnderALogIsRefusedAndBothAreLeftAsTheyAre() throws {
        do {
            let store = try Store(path: path)
            for number in 0..<300 as Range<Int64> {
                try store.commit([.put(.app("app\(number)", number))])
            }
        }
        var bytes = try #require(scratch.bytes(of: "offstage.db"))
        for index in 8192..<16_384 { bytes[index] = 0xA5 }
        let other = ScratchDirectory()
        other.write(bytes, to: "offstage.db")
        // A log of another, sound page above it.
        do {
            let database = try Database(path: other("offstage.db"), mode: .readWrite)
            try database.keepLogOnClose()
            try database.execute("PRAGMA user_version = 1; CREATE TABLE extra(v)")
        }
        for name in ["offstage.db", "offstage.db-wal"] {
            scratch.write(try #require(other.bytes(of: name)), to: name)
        }
        let before = files()
        #expect((before["offstage.db-wal"]?.count ?? 0) > 4096)
        guard case .corrupt(path, _) = refusal() else {
            Issue.record("not refused")
            return
        }
        #expect(files() == before)
    }

    @Test func aLogWithoutItsDatabaseIsRefused() throws {
        try leftByAKilledDaemon()
        try Files.remove(path)
        let before = files()
        let error = try #require(refusal())
        #expect("\(error)".contains("it is gone, but its log \(path)-wal is there"))
        #expect(files() == before)
    }

    @Test func anEmptyFileOrADirectoryIsNotOurs() throws {
        scratch.write("", to: "offstage.db")
        #expect(refusal() == .notOurs(path: path, found: "it is not an SQLite database"))
        #expect(files() == ["offstage.db": []])
        try Files.remove(path)
        try Files.makeDirectory(path)
        #expect(refusal() == .notOurs(path: path, found: "it is not a file"))
    }

    @Test func theDatabaseOfAnotherProgramIsNotOurs() throws {
        try Database(path: path, mode: .create).execute(
            "CREATE TABLE records(section, key, body); PRAGMA application_id = 7"
        )
        let before = files()
        #expect(refusal() == .notOurs(path: path, found: "it belongs to another program"))
        #expect(files() == before)
    }

    @Test func ourNumberWithoutOurTablesIsDamage() throws {
        do {
            let database = try Database(path: path, mode: .create)
            try database.setApplicationID(0x4F66_6673)
            try database.setUserVersion(1)
        }
        let before = files()
        #expect(refusal() == .corrupt(path: path, found: "no such table: records"))
        #expect(files() == before)
    }

    @Test func aRecordThatCannotBeReadIsDamage() throws {
        do { _ = try Store(path: path) }
        for body in ["x'ff'", "'text'", "x'1801'"] {
            do {
                let database = try Database(path: path, mode: .readWrite)
                try database.execute(
                    "INSERT OR REPLACE INTO records VALUES ('app', 'a', \(body))"
                )
            }
            #expect(throws: StoreError.self) { try Store(path: path).load() }
        }
        do {
            let database = try Database(path: path, mode: .readWrite)
            try database.execute("DELETE FROM records")
            try database.execute("INSERT INTO records VALUES ('other', 'a', x'f6')")
        }
        let store = try Store(path: path)
        #expect(
            throws: StoreError.corrupt(path: path, found: "a record of the unknown kind other")
        ) { try store.load() }
    }

    @Test func anOlderDatabaseIsBroughtUpToDate() throws {
        do {
            let database = try Database(path: path, mode: .create)
            try database.setApplicationID(0x4F66_6673)
            try database.setJournalMode(.wal)
        }
        try Store(path: path).commit([.put(.app("a", 1))])
        #expect(try Store(path: path).load() == [.app("a", 1)])
        let version = try Database(path: path, mode: .immutable).userVersion()
        #expect(Int64(version) == StoreMigrations.newest)
    }

    @Test func aRecordOfAnotherVersionIsNamedAndLeftAsItIs() throws {
        do { try Store(path: path).commit([.put(.app("a", 1))]) }
        do {
            let database = try Database(path: path, mode: .readWrite)
            try database.execute("UPDATE records SET body = x'01'")
        }
        let before = try #require(scratch.bytes(of: "offstage.db"))
        do throws(StoreError) {
            _ = try Store(path: path).load()
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains("app a"))
            #expect("\(error)".contains("Install the version that wrote it"))
        }
        #expect(scratch.bytes(of: "offstage.db") == before)
    }

    @Test func theDraftOfADaemonThatDiedIsThrownAway() throws {
        for suffix in ["", "-wal", "-journal"] {
            scratch.write("x", to: "offstage.db.new" + suffix)
        }
        do { _ = try Store(path: path) }
        #expect(scratch.entries == ["offstage.db"])
    }

    @Test func aDirectoryThatIsNotThereIsNamed() {
        let nowhere = scratch("none/offstage.db")
        do {
            _ = try Store(path: nowhere)
            Issue.record("not refused")
        } catch {
            #expect(
                "\(error)".hasPrefix("\(nowhere) cannot be used: open \(nowhere).new: No such file")
            )
        }
    }
}
