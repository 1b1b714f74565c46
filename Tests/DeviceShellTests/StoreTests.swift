import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

@Suite struct StoreTests {
    private let scratch = ScratchDirectory()
    private var path: String { scratch("offstage.db") }

    private func line(_ app: String, at seconds: Int64) -> HistoryLine {
        HistoryLine(
            at: WallTime(nanoseconds: seconds * 1_000_000_000),
            utcOffset: 0,
            app: AppID(app),
            entry: .note("n\(seconds)")
        )
    }

    @Test func aCommitIsThereAfterReopening() throws {
        do {
            let store = try Store(path: path)
            try store.commit([
                .put(.app("newsboat", 1)), .put(.app("restic", 7)),
                .append(line("newsboat", at: 1)),
            ])
            try store.commit([
                .put(.app("newsboat", 2)), .delete(RecordKey(.app, "restic")),
                .append(line("restic", at: 2)),
            ])
        }
        let store = try Store(path: path)
        #expect(try store.load() == [.app("newsboat", 2)])
        #expect(try store.history(limit: 10).map(\.line.app.name) == ["restic", "newsboat"])
        #expect(try store.history(of: AppID("newsboat"), limit: 10).count == 1)
    }

    /// So many that two threads decode them.
    @Test func manyRecordsAreReadInOrder() throws {
        let text = String(repeating: "x", count: 1000)
        let records = (100..<300).map { Record.app("app\($0)", Int64($0), text: text) }
        let store = try Store(path: path)
        try store.commit(records.map { .put($0) })
        #expect(try store.load() == records)
    }

    /// So much that it is read in several pieces.
    @Test func largeRecordsAreReadInOrder() throws {
        let records = (100..<160).map { number in
            let length = number == 130 ? 1_500_000 : 50_000
            let text = String(repeating: "x", count: length)
            return Record.app("app\(number)", Int64(number), text: text)
        }
        let store = try Store(path: path)
        try store.commit(records.map { .put($0) })
        #expect(try store.load() == records)
    }

    @Test func aFileThatIsNotOursIsRefusedAndLeftAsItIs() throws {
        for content in ["hello", String(repeating: "x", count: 5000)] {
            try scratch.write("offstage.db", content)
            #expect(throws: StoreError.self) { try Store(path: path) }
            #expect(try scratch.read("offstage.db") == content)
            #expect(try Files.list(scratch.path).sorted() == ["offstage.db"])
        }
    }

    @Test func aNewerDatabaseIsRefusedAndLeftAsItIs() throws {
        do { _ = try Store(path: path) }
        var bytes = try Files.read(path)
        bytes[63] = 99
        try Files.replace(path, with: bytes.span, permissions: 0o600)
        #expect(
            throws: StoreError.newer(path: path, version: 99, supported: StoreMigrations.newest)
        ) {
            try Store(path: path)
        }
        #expect(try Files.read(path) == bytes)
    }

    @Test func aDamagedDatabaseIsRefusedAndLeftAsItIs() throws {
        do {
            let store = try Store(path: path)
            for number in 0..<200 {
                try store.commit([.put(.app("app\(number)", Int64(number)))])
            }
        }
        var bytes = try Files.read(path)
        for index in 4096..<min(bytes.count, 12_288) { bytes[index] = 0xA5 }
        try Files.replace(path, with: bytes.span, permissions: 0o600)
        let before = try Files.list(scratch.path).sorted()
        #expect(throws: StoreError.self) { try Store(path: path) }
        #expect(try Files.read(path) == bytes)
        #expect(try Files.list(scratch.path).sorted() == before)
    }

    @Test func whatAKilledDaemonLeftIsStillOurs() throws {
        let store = try Store(path: path)
        try store.commit([.put(.app("a", 1))])
        // The file as it is while the log has not been written back.
        let copy = ScratchDirectory()
        for name in try Files.list(scratch.path) {
            copy.write(try #require(scratch.bytes(of: name)), to: name)
        }
        #expect(try Store(path: copy("offstage.db")).load() == [.app("a", 1)])
        withExtendedLifetime(store) {}
    }

    @Test func historyIsPagedAndPruned() throws {
        do {
            let store = try Store(path: path)
            for number in 1...30 { try store.commit([.append(line("a", at: Int64(number)))]) }
            #expect(try store.history(limit: 100).count == 30)
        }
        // The first line of a daemon prunes, and then each five-hundredth.
        let store = try Store(path: path)
        store.historyLimit = 10
        try store.commit([.append(line("a", at: 31))])
        let all = try store.history(limit: 100)
        #expect(all.count == 10)
        #expect(try store.history(before: all[4].id, limit: 2).map(\.id) == [all[5].id, all[6].id])
    }
}
