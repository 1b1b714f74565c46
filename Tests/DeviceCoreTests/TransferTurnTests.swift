@testable import DeviceCore
import Testing
import Vocabulary

/// Whose turn it is, among hosts, apps, priorities and sizes.
struct TransferTurnTests {
    private static let slots = 5
    private static let perHost = 2

    /// Compared with who is found by a look at all that wait, each time.
    @Test(arguments: UInt64(1)...8)
    func `who begins comes before all others that have room`(_ seed: UInt64) throws {
        let isForeground = seed % 2 == 0
        var (bench, launch) = try busyApp()
        try enqueue(&bench, launch, seed: seed)
        if !isForeground {
            bench.ask(.leave(AppID("app")))
            bench.say(launch, .enteredBackground)
        }
        let all = bench.device.transfers.all()
        var running = all.filter(\.isRunning)
        try #require(running.count == Self.slots)
        var waiting = all.filter { !$0.isRunning && !$0.order.needs.unlocked }
        var begun: [TransferID] = []
        var wanted: [TransferID] = []
        while !running.isEmpty {
            let ended = running.removeFirst()
            // Else some would be begun ahead.
            bench.advance(.seconds(1))
            bench.report(ended.id, .ended(.complete(size: 1), durable: 1))
            begun += bench.effects.compactMap {
                if case .transfer(let id, .begin) = $0 { id } else { nil }
            }
            while let next = expected(of: waiting, beside: running, isForeground) {
                wanted.append(next.id)
                running.append(next)
                waiting.removeAll { $0.id == next.id }
            }
        }
        #expect(begun == wanted)
        #expect(waiting.isEmpty && wanted.count > 40)
    }

    // MARK: What is expected

    private func expected(
        of waiting: [Transfer],
        beside running: [Transfer],
        _ isForeground: Bool
    ) -> Transfer? {
        guard running.count < Self.slots else { return nil }
        let withRoom = waiting.filter { one in
            running.filter { $0.host == one.host }.count < Self.perHost
        }
        func rank(_ transfer: Transfer) -> (Int, Int, Int64) {
            let isTask = transfer.task != nil
            let mine = running.filter { ($0.task != nil) == isTask }
            return (isTask && isForeground ? 0 : 1, mine.count, transfer.place)
        }
        let tasks = first(of: withRoom.filter { $0.task != nil })
        let downloads = first(of: withRoom.filter { $0.task == nil })
        return [tasks, downloads].compactMap(\.self).min { rank($0) < rank($1) }
    }

    /// Of one app. Only among those that wait for a better moment small ones go first.
    private func first(of transfers: [Transfer]) -> Transfer? {
        let patient = transfers.filter { $0.trigger == .discretionaryTransfer }
            .min { $0.turn < $1.turn }
        let others = transfers.filter { $0.trigger == .transfer }
            .min { $0.turn.plain < $1.turn.plain }
        return [patient, others].compactMap(\.self).min { $0.turn.plain < $1.turn.plain }
    }

    // MARK: What waits

    /// An app on a device whose gates are open but for what needs it unlocked, and whose slots are
    /// taken by the user's downloads.
    private func busyApp() throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        let good = [
            (Condition.network, 2), (.metered, 0), (.lowData, 0), (.power, 1), (.idle, 1),
            (.battery, 90), (.locked, 0), (.lowPower, 0), (.thermal, 0), (.memory, 0),
        ]
        for (condition, value) in good { bench.set(condition, value) }
        bench.configure {
            ($0.transferSlots, $0.transfersPerHost) = (Int64(Self.slots), Int64(Self.perHost))
        }
        bench.advance(.minutes(5))
        bench.set(.locked, 1)
        let orders = (0..<Self.slots).map {
            TransferOrder(url: "http://slot\($0).example/a", directory: "/home/user")
        }
        bench.ask(.transfer(.enqueue(orders, token: nil)))
        return (bench, launch)
    }

    private func enqueue(_ bench: inout Bench, _ launch: LaunchID, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func made(_ name: String) -> TransferOrder {
            let url = "http://h\(random.below(9)).example/\(name)"
            var order = TransferOrder(url: url, directory: "/home/user", overwrites: true)
            order.isDiscretionary = random.below(3) == 0
            order.needs.unlocked = random.below(6) == 0
            return order
        }
        let sizes: [Int64?] = [nil, 100, 5 << 20]
        let priorities: [Int64] = [0, 0, 500, -500]
        for number: Int64 in 1...40 {
            let order = made("task\(number)")
            let priority = priorities[random.below(4)]
            let task = SessionTask(
                session: "photos",
                number: number,
                expectsToReceive: order.needs.unlocked ? nil : sizes[random.below(3)],
                // One that is held would stand for its app among apps.
                priority: order.needs.unlocked ? -500 : priority
            )
            let wanted = SessionOrder(task: task, order: order)
            bench.askSession(launch, .enqueue([wanted], token: nil))
            try #require(bench.reply == .done)
            bench.ask(.transfer(.enqueue([made("\(number)")], token: nil)))
        }
        let ids = bench.device.transfers.all().filter { !$0.isRunning }.map(\.id)
        for _ in 0..<6 {
            let move = TransferMove(place: random.below(2) == 0 ? .first : .last)
            bench.ask(.transfer(.move([ids[random.below(ids.count)]], move)))
            try #require(bench.reply == .done)
        }
    }
}
