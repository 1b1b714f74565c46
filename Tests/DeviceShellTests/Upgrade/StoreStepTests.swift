import DeviceCore
@testable import DeviceShell
import SQLite
import TestKit
import Testing
import Vocabulary

/// Steps from one version of the store to the next, on what an older version has left.
struct StoreStepTests {
    private let scratch = ScratchDirectory()
    private var path: String { scratch("state/offstage.db") }

    /// A program that knows these steps beyond the present ones opens it.
    private func open(_ steps: StoreStep...) throws(StoreError) {
        let migrations = StoreMigrations(steps: StoreMigrations.current.steps + steps)
        _ = try StoreFile(path: path, fileSystem: nil, migrations: migrations).open()
    }

    private func bodies(_ sql: String) throws -> [Value] {
        let database = try Database(path: path, mode: .immutable)
        let statement = try database.prepare(sql)
        var bodies: [Value] = []
        while try statement.step() { bodies.append(try ValueBytes.decode(statement.bytes(at: 0))) }
        return bodies
    }

    private let device = "SELECT body FROM records WHERE section = 'device'"
    private let apps = "SELECT body FROM records WHERE section = 'app'"
    private let lines = "SELECT body FROM history ORDER BY id"

    @Test func `each body of a kind gets its new form, and nothing else changes`() throws {
        try StateFixture.lived.copy(to: scratch("state"))
        try open()
        let (device, apps, lines) = (try bodies(device), try bodies(apps), try bodies(lines))
        // What the present code can still read: a field more does not disturb it.
        try open(
            StoreStep(bodies: [.add("more", ["seen": "by a step"], in: .device)]),
            StoreStep(
                tables: "CREATE TABLE later (id INTEGER PRIMARY KEY)",
                bodies: [
                    .rename("seen", to: "told", in: .device, at: "more"),
                    .add("more", 1, in: .line, at: "entry.wake._0"),
                ]
            )
        )
        var found = try #require(try bodies(self.device).first?.mapValue)
        #expect(found["more"] == ["told": "by a step"])
        found["more"] = nil
        #expect([.map(found)] == device)
        #expect(try bodies(self.apps) == apps)
        let new = try bodies(self.lines)
        try #require(new.count == lines.count)
        var changed = 0
        for (new, old) in zip(new, lines) {
            if let run = new["entry"]?["wake"]?["_0"] {
                #expect(run["more"] == 1 && old["entry"]?["wake"]?["_0"]?["more"] == nil)
                changed += 1
            } else {
                #expect(new == old)
            }
        }
        #expect(changed > 100)
        let present = StoreMigrations.newest
        #expect(
            throws: StoreError.newer(path: path, version: present + 2, supported: present)
        ) { try open() }
    }

    @Test func `where a step fails, or its result cannot be read, not a byte is changed`() throws {
        try StateFixture.lived.copy(to: scratch("state"))
        try open()
        let before = scratch.bytes(of: "state/offstage.db")
        let good = StoreStep(bodies: [.add("more", 1, in: .device)])
        let bad = [
            StoreStep(bodies: [BodyEdit(in: .device) { (body) in body = .null }]),
            StoreStep(bodies: [BodyEdit(in: .line) { (line) in line = [] }]),
            StoreStep(bodies: [
                .add("most", 1, in: .device), .rename("more", to: "most", in: .device),
            ]),
            StoreStep(tables: "DROP TABLE history"),
            StoreStep(tables: "DROP TABLE other"),
        ]
        for step in bad {
            #expect(throws: StoreError.self) { try open(good, step) }
            #expect(scratch.bytes(of: "state/offstage.db") == before)
        }
        #expect(scratch.entries == ["state"])
        try open(good)
        #expect(try bodies(device).first?["more"] == 1)
    }
}
