@testable import DeviceCore
import DeviceShell
import SQLite
import TestKit
import Testing
import Vocabulary

/// An upgrade: the present code on a state directory that an older version has left.
struct UpgradeTests {
    private let scratch = ScratchDirectory()

    private func open(_ fixture: StateFixture) throws -> Store {
        try fixture.copy(to: scratch(fixture.name))
        return try Store(path: scratch(fixture.name + "/offstage.db"))
    }

    @Test func `a transfer that was moved is looked for where it was`() throws {
        let fixture = StateFixture(version: 13, name: "lived")
        try fixture.copy(to: scratch("lived"))
        let path = scratch("lived/offstage.db")
        var key: String?
        do {
            let database = try Database(path: path, mode: .readWrite)
            let all = try database.prepare(
                "SELECT key, body FROM records WHERE section = 'transfer' ORDER BY key LIMIT 1"
            )
            #expect(try all.step())
            key = try all.text(at: 0)
            var body = try #require(try ValueBytes.decode(all.bytes(at: 1)).mapValue)
            var transfer = try #require(body["transfer"]?.mapValue)
            transfer["former"] = "/media"
            body["transfer"] = .map(transfer)
            all.reset()
            let update = try database.prepare("UPDATE records SET body = ?1 WHERE key = ?2")
            try update.bind(ValueBytes.encode(.map(body)), at: 1)
            try update.bind(#require(key), at: 2)
            try update.run()
        }
        let places = try Store(path: path).load().compactMap { (record) -> [String]? in
            guard case .transfer(let moved) = record, record.key.key == key else { return nil }
            return moved.transfer.file.formers
        }
        #expect(places == [["/media"]])
    }

    /// Names each place at which the two differ.
    private func expect(_ found: Value, _ known: Value, at path: String) {
        guard case .map(let mine) = found, case .map(let theirs) = known else {
            #expect(found == known, "\(path)")
            return
        }
        for key in Set(mine.keys + theirs.keys).sorted() {
            expect(mine[key] ?? .null, theirs[key] ?? .null, at: path + "." + key)
        }
    }

    @Test(arguments: StateFixture.all)
    func `a directory that an older version left is known as it was`(_ fixture: StateFixture) throws
    {
        let store = try open(fixture)
        let known = try fixture.known()
        let records = try store.load()
        var remembered = known
        if case .map(var map) = known {
            map["history"] = nil
            remembered = .map(map)
        }
        expect(KnownWords.of(records), remembered, at: "stored")
        expect(KnownWords.of(Device(restoring: records).records), remembered, at: "remembered")
        let lines = try KnownWords.of(store.history(limit: Store.largestAnswer))
        let knownLines = try #require(known["history"]?.listValue)
        try #require(lines.count == knownLines.count)
        for (mine, theirs) in zip(lines, knownLines) { expect(mine, theirs, at: "history") }
    }

    /// Older versions have no uploads.
    @Test(arguments: StateFixture.lives.filter { $0.version >= 8 })
    func `an upload goes on where its server was, as no version before 11 summed up what it sent`(
        _ fixture: StateFixture
    ) throws {
        let device = Device(restoring: try open(fixture).load())
        let uploads = device.records.compactMap { record -> UploadProgress? in
            if case .transfer(let record) = record { record.transfer.upload } else { nil }
        }
        #expect(uploads.map(\.resource?.url) == ["https://example.org/in/made"])
        #expect(uploads.map(\.resource?.offset) == [512])
        #expect(uploads.allSatisfy { ($0.sent == nil) == (fixture.version < 11) })
    }

    // MARK: Going on

    /// The device of a fixture, started again after another boot.
    private func start(
        _ fixture: StateFixture,
        in store: Store,
        after pause: Interval
    ) throws -> VirtualWorld {
        let last = try #require(store.history(limit: 1).first?.line)
        let moment = Moment(
            boot: BootTime(nanoseconds: 0) + .seconds(30),
            awake: AwakeTime(nanoseconds: 0) + .seconds(30),
            wall: last.at + pause,
            utcOffset: last.utcOffset
        )
        var world = VirtualWorld(store, restoring: try store.load(), at: moment)
        world.linked = ExampleLife.linked
        world.feed(.started(ExampleLife.start("boot-3", try fixture.manifests())))
        return world
    }

    private func app(_ name: String, _ world: VirtualWorld) throws -> AppState {
        let index = try #require(world.device.apps.index(of: AppID(name)))
        return world.device.apps[index]
    }

    /// The newest line of an app.
    private func line(_ name: String, _ store: Store) throws -> HistoryLine.Entry? {
        try store.history(of: AppID(name), limit: 1).first?.line.entry
    }

    @Test(arguments: StateFixture.lives)
    func `what ran when the device went down is told as unknown, or waits again`(
        _ fixture: StateFixture
    ) throws {
        let store = try open(fixture)
        let known = try fixture.known()
        let world = try start(fixture, in: store, after: .minutes(20))
        #expect(world.device.launchIDs.isEmpty)
        let reason = "the device was restarted"
        #expect(try line("radio", store) == .ended(.unknown, reason: reason))
        for (name, isTest) in [("mail", true), ("command.sync", false)] {
            guard case .wake(let run) = try line(name, store) else {
                Issue.record("\(name) ran, and has no line of that")
                continue
            }
            #expect(run.result == .unknown && run.reason == reason)
            #expect(run.simulated == isTest)
        }
        // All that was asked for still is, but for a test, and nothing runs yet.
        let all = try #require(known["requests"]?.mapValue)
        let requests = all.filter { $0.value["mode"] != "simulated" }
        #expect((all.count, requests.count) == (15, 14))
        for (number, request) in requests.map({ ($0.key, $0.value) }) {
            let app = try app(request["app"]?.stringValue ?? "", world)
            let mine = app.requests.first { $0.id.description == number }
            #expect(mine?.state == .pending, "\(request)")
            #expect(mine?.identifier == request["task"]?.stringValue)
            #expect(mine?.earliest?.nanoseconds == request["earliest"]?.integerValue)
        }
    }

    @Test(arguments: StateFixture.lives)
    func `what was learned decides the refreshes of the next days`(_ fixture: StateFixture) throws {
        do {
            let store = try open(fixture)
            let spent = try #require(fixture.known()["device"]?["refreshesSpent"]?[1]?.integerValue)
            var world = try start(fixture, in: store, after: .minutes(20))
            #expect(spent > 0 && world.device.refreshPolicy.budget.spent == spent)
            #expect(world.device.conditions.metered, "set by hand")
            #expect(try app("photos", world).record.closedAt != nil)
            world.live(for: .days(2))
            let evening = try #require(world.begun.first { $0.app == AppID("newsboat") })
            #expect(evening.arguments == ["/opt/example/newsboat", "-x", "reload"])
            // Of its user it is known that it is opened at 20:30 or so, and at 7:10.
            let local = LocalTime(evening.at, utcOffset: world.now.utcOffset).timeOfDay
            #expect(local > .hours(19) && local < .hours(21), "\(local)")
            let runs = try store.history(of: AppID("newsboat"), limit: 1000).compactMap {
                if case .wake(let run) = $0.line.entry, $0.line.at >= evening.at {
                    run
                } else {
                    nil
                }
            }
            #expect(!runs.isEmpty && runs.contains { $0.decision != nil })
            #expect(world.begun.contains { $0.app == AppID("mail") })
            #expect(!world.begun.contains { $0.app == AppID("photos") }, "it was closed")
            let device = withoutMoments(KnownWords.of(world.device.records))
            expect(withoutMoments(KnownWords.of(try store.load())), device, at: "saved")
        }
        // What was saved is opened by the next one.
        let store = try Store(path: scratch("lived/offstage.db"))
        let records = try store.load()
        let again = withoutMoments(KnownWords.of(Device(restoring: records).records))
        expect(again, withoutMoments(KnownWords.of(records)), at: "reopened")
    }

    /// What was seen of the current day is saved with the next thing that must be.
    private func withoutMoments(_ words: Value) -> Value {
        guard case .map(var map) = words else { return words }
        map["moments"] = nil
        for entry in map.entries { map[entry.key] = withoutMoments(entry.value) }
        return .map(map)
    }

    @Test(arguments: StateFixture.pauses)
    func `a pause goes on after the upgrade, and ends when it was to end`(
        _ fixture: StateFixture
    ) throws {
        let store = try open(fixture)
        var world = try start(fixture, in: store, after: .minutes(20))
        #expect(world.device.pausedAt != nil && world.device.pause != .none)
        world.live(for: .hours(2))
        #expect(world.begun.isEmpty)
        world.live(for: .hours(1))
        #expect(world.device.pause == .none)
        #expect(world.begun.contains { $0.app == AppID("newsboat") })
    }
}
