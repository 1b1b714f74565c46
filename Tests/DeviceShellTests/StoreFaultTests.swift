import DeviceCore
import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A store on a disk that fails, fills up and loses power, and under a daemon that is killed.
struct StoreFaultTests {
    private let scratch = ScratchDirectory()
    private let disk = FaultyDisk()
    private var path: String { scratch("offstage.db") }

    private func open() throws(StoreError) -> Store {
        try Store(path: path, fileSystem: disk.name)
    }

    /// The app whose record has the number of the last commit.
    private static let last = "last"

    /// What a turn may save: a record that grows, one that comes and goes, a line.
    private static func changes(_ number: Int64) -> [Change] {
        let coming = Record.app("coming\(number % 7)", number)
        return [
            .put(.app(last, number)),
            .put(.app("app\(number % 5)", number, text: String(repeating: "x", count: 2000))),
            number % 3 == 0 ? .delete(coming.key) : .put(coming),
            .append(
                HistoryLine(
                    at: WallTime(nanoseconds: number * 1_000_000_000),
                    utcOffset: 0,
                    app: AppID("app\(number % 5)"),
                    entry: .note("\(number)")
                )
            ),
        ]
    }

    /// All that a store holds, to be compared.
    private struct Content: Equatable {
        var records: [RecordKey: Record] = [:]
        var lines: [String] = []

        init() {}

        init(_ store: Store) throws {
            for record in try store.load() { records[record.key] = record }
            lines = try store.history(limit: 10_000).reversed().map { "\($0.line.entry)" }
        }

        mutating func apply(_ changes: [Change]) {
            for change in changes {
                switch change {
                case .put(let record): records[record.key] = record
                case .delete(let key): records[key] = nil
                case .append(let line): lines.append("\(line.entry)")
                }
            }
        }
    }

    @Test(arguments: [FaultyDisk.Failure.full, .ioWrite, .ioSync])
    func eachFailedCallFailsOneCommitAndNothingElse(kind: FaultyDisk.Failure) throws {
        let store = try open()
        var content = Content()
        var number: Int64 = 0
        var failures = 0
        // Each commit fails at a later call than the one before, until none of its calls is left.
        for nth in 1... as PartialRangeFrom<UInt64> {
            number += 1
            disk.fail(nth: nth, with: kind)
            var error: StoreError?
            do throws(StoreError) {
                try store.commit(Self.changes(number))
            } catch let failure {
                error = failure
            }
            disk.heal()
            guard let error else {
                content.apply(Self.changes(number))
                break
            }
            failures += 1
            #expect(error.isFull == (kind == .full), "\(error)")
            #expect(try Content(store) == content)
            try store.commit(Self.changes(number))
            content.apply(Self.changes(number))
            #expect(try Content(store) == content)
        }
        #expect(failures >= 4)
        #expect(try Content(store) == content)
    }

    @Test func aStoreThatTakesNoWritesSaysSoWhenAsked() throws {
        let store = try open()
        try store.commit([])
        disk.fail(nth: 1, with: .full, forever: true)
        #expect(throws: StoreError.self) { try store.commit([]) }
        disk.heal()
        try store.commit([])
    }

    @Test func aFailureWhileItIsMadeLeavesNothingHalfMade() throws {
        var failures = 0
        for nth in 1... as PartialRangeFrom<UInt64> {
            let path = scratch("\(nth).db")
            disk.fail(nth: nth, with: .ioWrite, forever: true)
            let isMade = (try? Store(path: path, fileSystem: disk.name)) != nil
            disk.heal()
            disk.losePower(seed: nth)
            #expect(try Content(Store(path: path, fileSystem: disk.name)) == Content(), "\(nth)")
            if isMade { break }
            failures += 1
        }
        #expect(failures > 10)
    }

    @Test(arguments: 0..<16 as Range<UInt64>)
    func aLossOfPowerTakesOnlyWhatNeedNotSurviveIt(seed: UInt64) throws {
        var content = Content()
        var lost = Content()
        do {
            let store = try open()
            try store.commit(Self.changes(1), .kill)
            try store.commit(Self.changes(2))
            for number in 1...2 as ClosedRange<Int64> { content.apply(Self.changes(number)) }
            lost = content
            try store.commit(Self.changes(3), .kill)
            lost.apply(Self.changes(3))
            disk.fail(nth: 1, with: .ioWrite, forever: true)
        }
        disk.heal()
        disk.losePower(seed: seed)
        let found = try Content(try open())
        #expect(found == content || found == lost)
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7] as [UInt64])
    func whatWasCommittedSurvivesALossOfPowerAtEveryCall(seed: UInt64) throws {
        do { _ = try open() }
        var content = Content()
        var number: Int64 = 0
        for round in 1...60 as ClosedRange<UInt64> {
            var attempted = content
            do {
                let store = try open()
                // The later the round, the later the power goes: also while a log of many
                // commits is written back.
                disk.fail(nth: round * round / 12 + 1, with: .ioWrite, forever: true)
                while true {
                    number += 1
                    attempted.apply(Self.changes(number))
                    do {
                        try store.commit(Self.changes(number))
                    } catch {
                        break
                    }
                    content = attempted
                }
            }
            disk.heal()
            disk.losePower(seed: seed * 1000 + (seed == 0 ? 0 : round))
            let found = try Content(try open())
            // The commit that failed may stand as well: it was never acknowledged.
            #expect(found == content || found == attempted, "round \(round)")
            content = found
        }
        #expect(content.lines.count > 20)
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func whatWasAcknowledgedSurvivesKill(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var acknowledged = 0
        var committed = 0
        for round in 0..<8 {
            let delay = 1 + random.below(30_000)
            let killed = try Command(
                Products.path(of: "ProcessPeer"),
                "commits",
                path,
                scratch("acknowledged"),
                "\(delay)"
            ).run()
            #expect(killed == .init(status: .signalled(Signal.kill), output: "", errors: ""))
            let last = try? scratch.read("acknowledged").split(separator: "\n").last
            acknowledged = last.flatMap { Int($0) } ?? acknowledged
            let store = try Store(path: path)
            let before = committed
            let lines = try store.history(limit: 10_000).map { "\($0.line.entry)" }
            committed = lines.count
            #expect(committed >= max(before, acknowledged), "seed \(seed), round \(round)")
            #expect(committed <= max(before, acknowledged) + 1, "seed \(seed), round \(round)")
            // Each commit is there whole: its line, and its record.
            #expect(try store.load().compactMap(\.number).max() ?? 0 == Int64(committed))
        }
        #expect(acknowledged > 0)
    }

    /// A file system of its own, which root may mount, says "no space" for real.
    @Test(.enabled(if: Command.runsAsRoot, "only root can mount a small file system"))
    func aFullDiskIsSurvived() throws {
        let mounted = try Command("mount", "-t", "tmpfs", "-o", "size=256k", "t", scratch.path)
            .run()
        try #require(mounted.succeeded, "\(mounted.errors)")
        defer { _ = try? Command("umount", scratch.path).run() }
        do {
            let store = try Store(path: path)
            var content = Content()
            var number: Int64 = 0
            var error: StoreError?
            while error == nil {
                number += 1
                let text = String(repeating: "x", count: 3000)
                let large = Change.put(.app("large\(number)", number, text: text))
                do throws(StoreError) {
                    try store.commit([large])
                    content.apply([large])
                } catch let failure {
                    error = failure
                }
                try #require(number < 1000)
            }
            #expect(error?.isFull == true, "\(String(describing: error))")
            #expect(try Content(store) == content)
            // With room again it goes on.
            _ = try Command("mount", "-o", "remount,size=1m", scratch.path).run()
            try store.commit([.put(.app("after", 1))])
            content.apply([.put(.app("after", 1))])
            #expect(try Content(store) == content)
        }
        #expect(try Store(path: path).load().contains { $0.key.key == "after" })
    }
}
