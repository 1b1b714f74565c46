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
}
