import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A store whose file is not where it was, and what it gets afterwards.
struct StoreAnewTests {
    private let scratch = ScratchDirectory()
    private let disk = FaultyDisk()
    private var path: String { scratch("offstage.db") }
    private var loss: StateLoss { StateLoss(kind: .moved, path: path) }

    private static func line(_ text: String) -> Change {
        .append(
            HistoryLine(
                at: WallTime(nanoseconds: 1),
                utcOffset: 0,
                app: AppID("app"),
                entry: .note(text)
            )
        )
    }

    private func lines(_ store: Store) throws -> [HistoryLine.Entry] {
        try store.history(limit: 100).reversed().map(\.line.entry)
    }

    private func open() throws -> Store {
        let store = try Store(path: path, fileSystem: disk.name)
        try store.commit([.put(.app("a", 1)), Self.line("first")])
        return store
    }

    @Test func `nothing is written into a file that is not in its place`() throws {
        let store = try open()
        store.loss = { loss }
        #expect(throws: StoreError.gone(loss)) {
            try store.commit([.put(.app("b", 2)), Self.line("refused")])
        }
        store.loss = { nil }
        #expect(try store.load() == [.app("a", 1)])
        #expect(try lines(store) == [.note("first")])
    }

    @Test func `what was refused because the file went meanwhile does not come back with it`()
        throws
    {
        let store = try open()
        var looks = 0
        store.loss = {
            looks += 1
            return looks == 1 ? nil : loss
        }
        #expect(throws: StoreError.gone(loss)) {
            try store.commit([.put(.app("b", 2)), Self.line("refused")])
        }
        store.loss = { nil }
        try store.commitAnew([.app("a", 1), .app("c", 3)], with: [Self.line("second")])
        #expect(try store.load() == [.app("a", 1), .app("c", 3)])
        #expect(try lines(store) == [.note("first"), .note("second")])
        try store.commit([Self.line("third")])
        #expect(try lines(store).count == 3)
    }

    @Test func `a new file has all records, the old history, and a log of its own`() throws {
        var store = try open()
        for name in ["offstage.db", "offstage.db-wal"] { try Files.remove(scratch(name)) }
        try store.make([.app("a", 1), .app("c", 3)], with: [Self.line("second")])
        #expect(Files.status(path)?.permissions == 0o600)
        try store.commit([.put(.app("d", 4)), Self.line("third")], .kill)
        // The old file was closed, and a kill leaves this one and its log.
        for end in ["", "-wal"] {
            scratch.write(try #require(scratch.bytes(of: "offstage.db" + end)), to: "copy.db" + end)
        }
        #expect(try lines(store).count == 3)
        store = try Store(path: scratch("copy.db"))
        #expect(try store.load() == [.app("a", 1), .app("c", 3), .app("d", 4)])
        #expect(try lines(store) == [.note("first"), .note("second"), .note("third")])
    }

    @Test func `a new file that cannot be made can be made later, whatever failed`() throws {
        var failures = 0
        for nth in 1... as PartialRangeFrom<UInt64> {
            let store = try open()
            for name in try Files.list(scratch("")) { try Files.remove(scratch(name)) }
            disk.fail(nth: nth, with: .full, forever: true)
            let isMade = (try? store.make([.app("c", 3)], with: [])) != nil
            disk.heal()
            if !isMade {
                failures += 1
                #expect(!Files.exists(path), "\(nth)")
                try store.make([.app("c", 3)], with: [])
            }
            #expect(try store.load() == [.app("c", 3)])
            #expect(try lines(store) == [.note("first")])
            if isMade { break }
            for name in try Files.list(scratch("")) { try Files.remove(scratch(name)) }
        }
        #expect(failures > 10)
    }
}
