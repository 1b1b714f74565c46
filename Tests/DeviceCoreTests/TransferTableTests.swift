import TestKit
import Testing
import Vocabulary

@testable import DeviceCore

/// What is found by app and by task is what a look at all transfers finds.
struct TransferTableTests {
    @Test(arguments: Array(UInt64(1)...6) + FreshSeeds.seeds(1))
    func `transfers are found by app and by task`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var table = TransferTable()
        var list: [(app: Int, transfer: Transfer)] = []
        let sessions = ["photos", "music"]
        for number in 1...600 as ClosedRange<UInt64> {
            let place: Int? = list.isEmpty ? nil : random.below(list.count)
            if random.chance(1, in: 2) {
                let task = SessionTask(
                    session: sessions[random.below(2)],
                    number: random.below(20)
                )
                let app: Int = random.below(4)
                let open = table.openTasks(among: [task.number], in: task.session, of: app)
                guard open.isEmpty else { continue }
                let transfer = Self.transfer(TransferID(number), task)
                list.append((app, transfer))
                table.insert(transfer, app: app)
            } else if let place, random.chance(1, in: 2) {
                table.remove(list.remove(at: place).transfer.id)
            } else if let place {
                let rank: Int64 = -random.below(1000)
                let isOver = list[place].transfer.isEnded || random.chance(1, in: 2)
                let state: Transfer.State =
                    isOver ? .ended(.cancelled, at: WallTime(nanoseconds: 0)) : .paused
                list[place].transfer.rank = rank
                list[place].transfer.state = state
                table.change(list[place].transfer.id) { ($0.rank, $0.state) = (rank, state) }
            }
            try check(table, list, sessions)
        }
    }

    private func check(
        _ table: TransferTable,
        _ list: [(app: Int, transfer: Transfer)],
        _ sessions: [String]
    ) throws {
        #expect(table.leastPlace <= list.map { $0.transfer.rank ?? 0 }.min() ?? 0)
        for app in 0..<4 {
            let mine = list.filter { $0.app == app }.map(\.transfer)
            #expect(table.contains(app: app) == !mine.isEmpty)
            #expect(table.all(of: app) == mine.sorted { $0.id < $1.id })
            for session in sessions {
                let open = mine.filter { $0.task?.session == session && !$0.isEnded }
                let numbers = Array(0..<20 as Range<Int64>)
                let found = table.openTasks(among: numbers, in: session, of: app)
                #expect(found == open.map(\.id).sorted())
                let number = table.openNumber(among: numbers, in: session, of: app)
                #expect(number == open.compactMap { $0.task?.number }.min())
            }
        }
        let copy = try ValueDecoder().decode(
            TransferTable.self,
            from: ValueEncoder().encode(table)
        )
        #expect(copy == table)
    }

    private static func transfer(_ id: TransferID, _ task: SessionTask) -> Transfer {
        let order = TransferOrder(url: "https://host.example/file", directory: "/spool")
        return Transfer(id: id, order: order, submittedAt: WallTime(nanoseconds: 0), task: task)
    }
}
