import GatewayCore
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

struct LogRowsTests {
    private static let wall = WallTime(nanoseconds: 1_700_000_000_000_000_000)

    private func push(_ number: UInt64) -> Push {
        Push(
            number: PushNumber(number),
            device: DeviceID(number + 100),
            app: AppNumber(3),
            type: .voip,
            priority: .considerate,
            expiration: .once,
            isSilent: false,
            payload: [UInt8](repeating: 0, count: Int(number))
        )
    }

    private func acceptance(_ number: UInt64) -> Acceptance {
        Acceptance(
            apnsID: PushUUID(high: number << 32 | 1, low: .max - number),
            provider: "key \(number)",
            isAssumedBackground: number % 2 == 0
        )
    }

    /// One write, waited for.
    private func write(_ batch: StoreBatch, to storage: SQLiteStorage) throws {
        storage.write(batch)
        try Wait.until(readable: storage.descriptor, "the write")
        #expect(storage.completions().map(\.error) == [nil])
    }

    @Test func `however much of the log is forgotten, no number is given twice`() throws {
        let scratch = ScratchDirectory()
        let storage = try SQLiteStorage(scratch("store"))
        var batch = StoreBatch()
        for number in 1...3 as ClosedRange<UInt64> {
            batch.log.accepted(push(number), acceptance(number))
            batch.log.add(PushNumber(number), .accepted, at: Self.wall)
        }
        try write(batch, to: storage)
        storage.sweep(oldestLog: PushNumber(1000))
        let reader = try StoreReader(scratch("store"))
        try Wait.until("the log is forgotten") { try reader.log(of: PushNumber(2)) == nil }
        #expect(try reader.log(of: PushNumber(1)) == nil)
        #expect(try reader.largestNumbers().push == 3)
    }

    @Test(arguments: [1, 15, 16, 17, 50] as [UInt64])
    func `each push of a batch has its row, however many are written at once`(
        count: UInt64
    ) throws {
        let scratch = ScratchDirectory()
        let storage = try SQLiteStorage(scratch("store"))
        var (first, second) = (StoreBatch(), StoreBatch())
        for number in 1...count {
            // Every third was taken in the first batch; the second has a line more about it.
            let isEarly = number % 3 == 0
            if isEarly {
                first.log.accepted(push(number), acceptance(number))
                first.log.add(PushNumber(number), .accepted, at: Self.wall)
                second.log.add(PushNumber(number), .delivered, at: Self.wall)
            } else {
                second.log.accepted(push(number), acceptance(number))
                second.log.add(PushNumber(number), .accepted, at: Self.wall)
            }
        }
        try write(first, to: storage)
        try write(second, to: storage)
        for number in 1...count {
            let row = try #require(try storage.log(of: PushNumber(number)), "\(number)")
            let target = LogRow.Target.device(DeviceID(number + 100), acceptance(number))
            #expect(row.head.target == target)
            #expect(row.head.app == AppNumber(3) && row.head.size == Int(number))
            #expect(row.head.type == .voip && row.head.priority == .considerate)
            let events: [LogEvent] = number % 3 == 0 ? [.accepted, .delivered] : [.accepted]
            #expect(row.events.map(\.event) == events)
            #expect(row.events.allSatisfy { $0.at == Self.wall })
        }
        #expect(try storage.log(of: PushNumber(count + 1)) == nil)
    }

    /// Pushes and broadcasts of a minute, with all that may have become of them.
    private static func batch(_ random: inout SeededRandom) -> (StoreBatch, [LogRow]) {
        var batch = StoreBatch()
        var rows: [LogRow] = []
        let events: [LogEvent] = [
            .delivered, .stored(.away), .stored(.lowBattery), .expired,
            .replaced(by: PushNumber(1)), .dropped(.refused),
        ]
        for second in 0..<60 as Range<UInt64> {
            let number = PushNumber(UInt64(wall.nanoseconds / 1000) + second * 1_000_000)
            let app = AppNumber(1 + UInt32(random.below(2)))
            let head: LogRow.Head
            if random.below(4) == 0 {
                let channel = ChannelID(high: 1, low: random.below(3))
                head = LogRow.Head(
                    target: .channel(channel, provider: "K"),
                    app: app,
                    type: .liveactivity,
                    priority: .immediate,
                    size: 2
                )
                let broadcast = Broadcast(
                    number: number,
                    channel: channel,
                    priority: .immediate,
                    expiration: .once,
                    payload: Array("{}".utf8)
                )
                batch.log.accepted(broadcast, of: app, from: "K")
            } else {
                let id = PushUUID(high: 1, low: random.below(3))
                let acceptance = Acceptance(apnsID: id, provider: "K")
                let push = Push(
                    number: number,
                    device: DeviceID(1 + random.below(3)),
                    app: app,
                    type: .alert,
                    priority: .immediate,
                    expiration: .once,
                    isSilent: false,
                    payload: Array("{}".utf8)
                )
                head = LogRow.Head(
                    target: .device(push.device, acceptance),
                    app: app,
                    type: .alert,
                    priority: .immediate,
                    size: 2
                )
                batch.log.accepted(push, acceptance)
            }
            var entries = [LogRow.Entry(event: .accepted, at: wall)]
            if random.below(4) > 0 {
                let event = events[Int(random.below(UInt64(events.count)))]
                entries.append(LogRow.Entry(event: event, at: wall))
            }
            for entry in entries { batch.log.add(number, entry.event, at: entry.at) }
            rows.append(LogRow(number: number, head: head, events: entries))
        }
        return (batch, rows)
    }

    private static func filter(_ random: inout SeededRandom) -> LogFilter {
        var filter = LogFilter()
        func time(_ random: inout SeededRandom) -> WallTime? {
            random.below(2) == 0 ? nil : wall + .seconds(Int64(random.below(60)))
        }
        (filter.since, filter.until) = (time(&random), time(&random))
        if random.below(3) == 0 { filter.device = DeviceID(1 + random.below(4)) }
        if random.below(3) == 0 { filter.app = AppNumber(1 + UInt32(random.below(3))) }
        if random.below(4) == 0 { filter.apnsID = PushUUID(high: 1, low: random.below(4)) }
        let states = LogState.allCases
        if random.below(3) == 0 { filter.state = states[Int(random.below(UInt64(states.count)))] }
        return filter
    }

    /// Said once more, in other words than the code's.
    private static func isAskedFor(_ row: LogRow, _ filter: LogFilter) -> Bool {
        let accepted = Int64(row.number.number) * 1000
        if let since = filter.since, accepted < since.nanoseconds { return false }
        if let until = filter.until, accepted > until.nanoseconds { return false }
        if let app = filter.app, app != row.head.app { return false }
        if let state = filter.state {
            switch (state, row.events.last?.event) {
            case (.accepted, .accepted), (.accepted, nil), (.attempted, .attempted),
                (.delivered, .delivered), (.replaced, .replaced), (.expired, .expired),
                (.dropped, .dropped), (.sent, .sent):
                break
            case (.throttled, .stored(let reason)): if !reason.isThrottling { return false }
            case (.stored, .stored(let reason)): if reason.isThrottling { return false }
            default: return false
            }
        }
        guard case .device(let device, let acceptance) = row.head.target else {
            return filter.device == nil && filter.apnsID == nil
        }
        if let wanted = filter.device, wanted != device { return false }
        if let wanted = filter.apnsID, wanted != acceptance.apnsID { return false }
        return true
    }

    @Test func `a store finds the newest pushes that fit a filter`() throws {
        let scratch = ScratchDirectory()
        let storage = try SQLiteStorage(scratch("store"))
        let store: any OperatorStore = storage.reader
        var random = SeededRandom(seed: 1)
        let (batch, rows) = Self.batch(&random)
        try write(batch, to: storage)
        var found = 0
        for _ in 0..<500 {
            let (filter, limit) = (Self.filter(&random), 1 + Int(random.below(10)))
            let wanted = rows.reversed().filter { Self.isAskedFor($0, filter) }.prefix(limit)
            let list = try store.log(matching: filter, limit: limit)
            #expect(list == Array(wanted), "\(filter)")
            found += list.count
        }
        #expect(found > 300)
    }
}
