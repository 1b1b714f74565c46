@testable import DeviceCore
import Testing
import Vocabulary

/// Calls that change many transfers at once, and in which order these go on.
struct TransferBatchTests {
    // MARK: Turns

    @Test func `many that are moved begin in the order in which they are named`() throws {
        var (bench, launch) = try waiting(30)
        let ids = bench.sessionTasks
        func move(_ numbers: [Int64], _ place: TransferMove.Place) {
            let named = numbers.map { ids[Int($0) - 1] }
            bench.ask(.transfer(.move(named, TransferMove(place: place))))
            #expect(bench.reply == .done)
        }
        let first: [Int64] = [5, 25, 7]
        let next = (Int64(21)...30).reversed().filter { $0 != 25 }
        let last: [Int64] = [2, 1]
        move((21...30).reversed(), .first)
        move(first, .first)
        move(last, .last)
        let others = (Int64(1)...30).filter { !(first + next + last).contains($0) }
        let wanted = first + next + others + last
        var restarted = bench
        #expect(try begun(&bench) == wanted)
        restarted.killed(launch, signal: 11)
        try restarted.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        #expect(try begun(&restarted) == wanted)
    }

    @Test func `many that get a priority begin by it, and among themselves as they stood`() throws {
        var (bench, launch) = try waiting(30)
        bench.askSession(launch, .prioritize((11...20).reversed(), 500))
        bench.askSession(launch, .prioritize([15, 30, 3], 900))
        bench.askSession(launch, .prioritize([2, 1], -1))
        let high: [Int64] = [3, 15, 30]
        let raised = (Int64(11)...20).filter { $0 != 15 }
        let others = (Int64(4)...29).filter { !(11...20).contains($0) }
        let low: [Int64] = [1, 2]
        let wanted = high + raised + others + low
        #expect(try begun(&bench) == wanted)
    }

    @Test func `many that are suspended and resumed begin once each, as they were asked for`()
        throws
    {
        var (bench, launch) = try waiting(30)
        for _ in 0..<3 {
            bench.askSession(launch, .suspend((1...30).reversed()))
            bench.askSession(launch, .resume((1...30).reversed()))
        }
        #expect(try begun(&bench) == Array(Int64(1)...30))
    }

    /// Only its user knows better than the server.
    @Test func `an app that suspends and resumes a task does not try again sooner`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .enqueue([order(1)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        bench.askSession(launch, .suspend([1]))
        bench.askSession(launch, .resume([1]))
        #expect(bench.transfer(id)?.isUnderWay == false)
        bench.ask(.transfer(.resume([id])))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test func `priorities that are changed again and again take no room`() throws {
        var (bench, launch) = try waiting(30)
        for priority: Int64 in 0..<200 {
            bench.askSession(launch, .prioritize(Array(1...30), priority % 2 == 0 ? 500 : -500))
        }
        let table = bench.device.transfers
        #expect(table.lanes.reduce(0) { $0 + $1.queue.count } < 2000)
        #expect(try begun(&bench) == Array(Int64(1)...30))
    }

    @Test func `a session of which nothing is left makes room for another`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.set(.network, 0)
        bench.askSession(launch, .enqueue([order(1)], token: nil))
        for number in 0..<300 {
            bench.askSession(launch, .join(sendsLaunchEvents: true), of: "\(number)")
            guard case .tasks? = bench.reply else { throw NotEnqueued() }
            bench.askSession(launch, .leave, of: "\(number)")
        }
        let sessions = try #require(bench.app("app")?.record.sessions)
        #expect(sessions.count == 100)
        #expect(sessions.contains { $0.identifier == "photos" })
    }

    // MARK: Notices

    /// Those that were cancelled, and what is forgotten by then, keep nobody waiting.
    @Test func `the end of many is told once, by the last of them that ends`() throws {
        var bench = Bench()
        bench.set(.network, 0)
        let ids = try downloads(&bench, 8)
        for id in ids[4...].reversed() { bench.ask(.transfer(.cancel([id]))) }
        bench.ask(.transfer(.forget([ids[6], ids[7]])))
        // It is counted anew by a daemon that starts, and by a copy that was written down.
        try bench.restart()
        let copy = try ValueDecoder().decode(
            Device.self,
            from: try ValueEncoder().encode(bench.device)
        )
        #expect(copy == bench.device)
        bench.device = copy
        for id in [ids[3], ids[0], ids[2]] {
            finish(&bench, id)
            #expect(notices(bench).isEmpty)
        }
        finish(&bench, ids[1])
        #expect(notices(bench).map(\.title) == ["4 downloads finished"])
    }

    @Test func `the end of many that one call cancels is not told`() throws {
        var bench = Bench()
        bench.set(.network, 0)
        let (ids, others) = (try downloads(&bench, 8), try downloads(&bench, 2))
        bench.ask(.transfer(.cancel(ids.reversed())))
        #expect(notices(bench).isEmpty)
        // They have nothing to do with each other.
        bench.set(.network, 2)
        for id in others { finish(&bench, id) }
        #expect(notices(bench).map(\.title) == ["2 downloads finished"])
    }

    // MARK: Ends

    @Test func `ends are told in their order, without those that the user has forgotten`() throws {
        var (bench, launch) = try waiting(12)
        let ids = bench.sessionTasks
        for number: Int64 in [3, 12, 8, 1, 5, 10] {
            bench.askSession(launch, .cancel([number]))
        }
        bench.ask(.transfer(.forget([ids[4], ids[11], ids[7]])))
        var restarted = bench
        restarted.killed(launch, signal: 11)
        try restarted.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        let again = try restarted.openApp("app")
        restarted.askSession(again, .join(sendsLaunchEvents: true))
        for number: Int64 in [3, 1, 10] {
            #expect(restarted.ends(again).map(\.task.task) == [number])
            restarted.say(again, .acknowledged(ids[Int(number) - 1]))
        }
        #expect(restarted.ends(again).isEmpty)
        // Here it has heard of the first already.
        bench.say(launch, .acknowledged(ids[2]))
        #expect(bench.ends(launch).map(\.task.task) == [1])
        #expect(bench.ends(launch).map(\.remaining) == [1])
    }

    @Test func `tasks of a queue stay in the order of their numbers, whoever leaves it`() {
        var random = SeededRandom(seed: 1)
        var queue = TaskQueue()
        var plain: [TaskQueue.Entry] = []
        for _ in 0..<4000 {
            // The first leaves more often than any other.
            let isFirst = random.below(3) == 0
            let number = UInt64(random.below(64))
            let drawn = TaskQueue.Entry(id: TransferID(number % 7), number: number)
            let entry = isFirst ? plain.first ?? drawn : drawn
            if let index = plain.firstIndex(of: entry) {
                plain.remove(at: index)
                queue.change(entry.id, from: entry.number, to: nil)
            } else {
                plain.append(entry)
                plain.sort()
                queue.change(entry.id, from: nil, to: entry.number)
            }
            // One that is not there takes nobody with it.
            queue.change(TransferID(99), from: number, to: nil)
            #expect(Array(queue.all) == plain)
            #expect(queue.first == plain.first && queue.last == plain.last)
            #expect(queue.count == plain.count && queue.isEmpty == plain.isEmpty)
        }
    }

    // MARK: Resume data

    @Test func `many new tasks go on each with what has come of its own`() throws {
        var (bench, launch, old) = try kept(5)
        let tokens = old.compactMap { bench.stored($0)?.kept?.token }
        try #require(tokens.count == 5)
        let new = tokens.reversed().enumerated().map {
            order(Int64(11 + $0.offset), resume: $0.element)
        }
        bench.askSession(launch, .enqueue(new, token: nil))
        #expect(bench.reply == .done)
        let parts = bench.sessionTasks.compactMap { bench.stored($0)?.partOf }
        #expect(parts == Array(old.reversed()))
        #expect(old.allSatisfy { bench.stored($0)?.kept == nil })
    }

    @Test func `nothing is gone on with by a token that nobody was given`() throws {
        var (bench, launch, old) = try kept(1)
        let token = try #require(bench.stored(old[0])?.kept?.token)
        let wrong = ["", "-", "x-1", "\(old[0])", "\(old[0])-", "\(token)0", "+\(token)"]
        let orders = wrong.enumerated().map {
            order(Int64(11 + $0.offset), resume: $0.element)
        }
        bench.askSession(launch, .enqueue(orders, token: nil))
        #expect(bench.reply == .done && bench.sessionTasks.isEmpty)
        #expect(bench.stored(old[0])?.kept?.token == token)
    }

    // MARK: Helpers

    /// So many of the user, who is told when all have ended.
    private func downloads(_ bench: inout Bench, _ count: Int) throws -> [TransferID] {
        let orders = (0..<count).map { number in
            var order = TransferOrder(url: "http://example.org/\(number)", directory: "/home/user")
            order.notifies = true
            return order
        }
        bench.ask(.transfer(.enqueue(orders, token: nil)))
        guard case .transfers(let ids)? = bench.reply else { throw NotEnqueued() }
        return ids
    }

    private struct NotEnqueued: Error {}

    private func finish(_ bench: inout Bench, _ id: TransferID) {
        bench.report(id, .ended(.complete(size: 1), durable: 1))
        bench.report(id, .placed(name: bench.transfer(id)?.name ?? ""))
    }

    private func notices(_ bench: Bench) -> [TransferNotice] {
        bench.effects.compactMap {
            if case .transfer(_, .notify(let notice)) = $0 { notice } else { nil }
        }
    }

    /// An app that has cancelled so many tasks, of each of which it may go on with five bytes.
    private func kept(_ count: Int64) throws -> (Bench, LaunchID, [TransferID]) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.askSession(launch, .enqueue((1...count).map { order($0) }, token: nil))
        let ids = bench.sessionTasks
        let answer = ExchangeAnswer(
            status: 200,
            url: "http://example.org/1",
            total: 9,
            validator: .entityTag("\"1\"")
        )
        for id in ids {
            bench.report(id, .answered(answer))
            bench.report(id, .progress(received: 6, durable: 5))
        }
        bench.askSession(launch, .keep(Array(1...count)))
        for id in ids { bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 5)) }
        return (bench, launch, ids)
    }

    private func order(_ number: Int64, resume: String? = nil) -> SessionOrder {
        SessionOrder(
            task: SessionTask(session: "photos", number: number),
            order: TransferOrder(
                url: "http://example.org/\(number)",
                directory: "/spool",
                overwrites: true,
                errors: .deliver
            ),
            resume: resume
        )
    }

    /// An app with so many tasks, which wait for the network; one runs at a time.
    private func waiting(_ count: Int64) throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.configure { $0.transferSlots = 1 }
        bench.set(.network, 0)
        bench.askSession(launch, .enqueue((1...count).map { order($0) }, token: nil))
        return (bench, launch)
    }

    /// The numbers of the tasks, as they begin.
    private func begun(_ bench: inout Bench) throws -> [Int64] {
        bench.set(.network, 2)
        bench.advance(.seconds(10))
        var begun: [Int64] = []
        while let running = bench.device.transfers.all().first(where: \.isRunning) {
            begun.append(running.task?.number ?? 0)
            bench.report(running.id, .ended(.complete(size: 1), durable: 1))
            bench.report(running.id, .placed(name: "\(running.id).download"))
        }
        return begun
    }
}
