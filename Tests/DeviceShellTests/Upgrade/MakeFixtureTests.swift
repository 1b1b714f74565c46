import DeviceCore
@testable import DeviceShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// How a fixture is made (`Tests/Fixtures/state/README.md`): before a record changes, by the code
/// that writes it as it was.
struct MakeFixtureTests {
    private static let isWanted = CurrentProcess.environment("OFFSTAGE_MAKE_STATE") == "1"

    @Test(.enabled(if: isWanted, "OFFSTAGE_MAKE_STATE=1 asks for it"))
    func `the present version leaves its directories, once`() throws {
        for name in StateFixture.names {
            let fixture = StateFixture(version: StoreMigrations.newest, name: name)
            try #require(!Files.exists(fixture.directory), "what was written once stays as it is")
            _ = try fixture.make(in: fixture.directory)
            let path = fixture.directory + "/offstage.db"
            try Database(path: path, mode: .readWrite).execute("VACUUM")
        }
    }

    @Test func `the life that a fixture is made of leaves something of every kind`() throws {
        let scratch = ScratchDirectory()
        do { #expect(try StateFixture.lived.make(in: scratch("lived")).refusals == []) }
        let store = try Store(path: scratch("lived/offstage.db"))
        let lines = try store.history(limit: 1000).map(\.line.entry)
        var kinds: Set<String> = []
        for line in lines {
            switch line {
            case .wake(let run): kinds.insert(run.result.word)
            case .ended: kinds.insert("ended")
            case .dropped: kinds.insert("dropped")
            case .note: kinds.insert("note")
            case .use(let kind): kinds.insert(kind.rawValue)
            case .transferred: kinds.insert("transfer")
            }
        }
        #expect(
            kinds.sorted() == [
                "closed", "completed", "crashed", "dropped", "ended", "expired", "failed",
                "interrupted", "left", "new-data", "no-data", "not-started", "note", "opened",
                "retry", "seen", "transfer", "unknown",
            ]
        )
        let sections = Set(try store.load().map(\.key.section))
        #expect(sections == Set(RecordKey.Section.allCases))
    }
}
