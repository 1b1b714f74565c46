import GatewayCore
import GatewayShell
import Testing
import Vocabulary

struct LogBatchTests {
    func push(_ number: UInt64) -> Push {
        Push(
            number: PushNumber(number),
            device: DeviceID(1),
            app: AppNumber(1),
            type: .alert,
            priority: .immediate,
            expiration: .once,
            isSilent: false,
            payload: [1, 2, 3]
        )
    }

    @Test
    func `the lines of a push are together, in their order, with its head if it has one here`() {
        let acceptance = Acceptance(apnsID: PushUUID(high: 1, low: 2), provider: "key")
        var batch = LogBatch()
        #expect(batch.isEmpty)
        let first = WallTime(nanoseconds: 1)
        for number in [5, 7] as [UInt64] {
            batch.accepted(push(number), acceptance)
            batch.add(PushNumber(number), .accepted, at: first)
        }
        // 3 was accepted in an earlier batch, 9 as well.
        batch.add(PushNumber(9), .delivered, at: first)
        batch.add(PushNumber(3), .replaced(by: PushNumber(5)), at: first)
        batch.add(PushNumber(5), .stored(.away), at: first)
        batch.add(PushNumber(5), .delivered, at: first)
        var rows: [(UInt64, Int?, [LogEvent])] = []
        batch.forEachPush { number, head, lines in
            rows.append((number.number, head?.size, lines.map(\.entry.event)))
        }
        #expect(rows.map(\.0) == [3, 5, 7, 9])
        #expect(rows.map(\.1) == [nil, 3, 3, nil])
        #expect(rows[1].2 == [.accepted, .stored(.away), .delivered])
        #expect(rows[0].2 == [.replaced(by: PushNumber(5))] && rows[3].2 == [.delivered])
    }
}
