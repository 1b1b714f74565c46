import DeviceCore
import TestKit
import Testing
import Vocabulary

/// The beginnings of the lists of a status, for who sees no more of them.
struct OverviewTests {
    private static func bench(apps: Int) -> Bench {
        var bench = Bench()
        bench.set(.power, 0)
        for number in 0..<apps {
            bench.install(.processing("app\(number)") { $0.processingNeeds = Needs(power: true) })
        }
        return bench
    }

    @Test(arguments: [0, 1, 29, 30, 31]) func `what is left out is counted`(rows: Int) {
        let bench = Self.bench(apps: 30)
        let all = bench.device.status(at: bench.now)
        let some = bench.device.status(at: bench.now, rows: rows)
        #expect(all.waiting.count == 30 && all.moreWaiting == nil)
        #expect(some.waiting == Array(all.waiting.prefix(rows)))
        #expect(some.moreWaiting == (rows < 30 ? Int64(30 - rows) : nil))
        #expect(some.requests == all.requests && some.apps == all.apps)
    }

    @Test func `transfers that have not ended are counted as they are listed`() throws {
        var bench = Self.bench(apps: 0)
        #expect(bench.device.status(at: bench.now).transfers == nil)
        let orders = (0..<9).map {
            TransferOrder(url: "http://example.org/\($0)", directory: "/home/user")
        }
        guard case .transfers(let ids) = bench.ask(.transfer(.enqueue(orders, token: nil))) else {
            throw DidNotHappen(description: "nothing is enqueued")
        }
        func check(_ bench: Bench) {
            let states = bench.device.transferList(at: bench.now).map(\.state)
            func count(_ state: TransferStanding) -> Int64 { Int64(states.count { $0 == state }) }
            let counts = bench.device.status(at: bench.now, rows: 1).transfers
            #expect(counts?.running == count(.running) && counts?.waiting == count(.waiting))
            #expect(counts?.paused == count(.paused), "\(states)")
        }
        check(bench)
        bench.ask(.transfer(.pause([ids[0], ids[8]])))
        check(bench)
        #expect(bench.device.status(at: bench.now).transfers?.paused == 2)
        bench.report(ids[0], .ended(.interrupted(.init(.stopped)), durable: 0))
        bench.ask(.transfer(.cancel([ids[1], ids[7]])))
        check(bench)
        let before = bench.device.status(at: bench.now).transfers
        try bench.restart()
        check(bench)
        #expect(bench.device.status(at: bench.now).transfers?.paused == before?.paused)
        bench.ask(.transfer(.cancel(ids)))
        for id in ids { bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0)) }
        #expect(bench.device.status(at: bench.now).transfers == nil)
    }

    /// Its last run has failed.
    private static func fail(_ name: String, in bench: inout Bench) throws {
        let launch = try #require(bench.spawn(of: name))
        bench.started(launch)
        bench.exited(launch, status: 1)
    }

    @Test(arguments: [0, 3, 100])
    func `of what fails it is said whether it is tried again, whatever is left out`(
        rows: Int
    ) throws {
        var bench = Self.bench(apps: 16)
        bench.set(.idle, 0)
        bench.set(.power, 1)
        for name in ["zz", "busy"] {
            bench.install(
                .processing(name) {
                    $0.processingNeeds = Needs(power: true)
                    $0.processingInterval = .hours(1)
                }
            )
            bench.ask(.run(AppID(name), identifier: nil))
            try Self.fail(name, in: &bench)
        }
        bench.ask(.submit(Submission(identifier: "once", kind: .processing, command: ["once"])))
        bench.ask(.run(AppID("command.once"), identifier: nil))
        try Self.fail("command.once", in: &bench)
        bench.ask(.run(AppID("busy"), identifier: nil))
        bench.started(try #require(bench.spawn(of: "busy")))
        bench.set(.power, 0)
        let status = bench.device.status(at: bench.now, rows: rows)
        #expect(status.failing.count == min(rows, 3))
        for app in status.failing {
            let all: [String: FailureRetry] = ["zz": .waiting, "busy": .running]
            let again = all[app.app.name]
            #expect(app.again?.known == again, "\(app)")
        }
        #expect(status.failing.first?.next == nil)
        #expect((status.moreFailing ?? 0) == Int64(max(0, 3 - rows)))
    }

    @Test func `what is due next stands first, what is due in a hundred years last`() throws {
        var bench = Bench()
        bench.set(.power, 0)
        func submit(_ name: String, after wait: Interval?, power: Bool = false) {
            let date = wait.map { bench.now.wall + $0 }
            bench.ask(
                .submit(
                    Submission(
                        identifier: name,
                        kind: .processing,
                        earliest: date,
                        needs: Needs(power: power),
                        command: ["true"]
                    )
                )
            )
        }
        submit("far", after: .days(36_500))
        submit("power-far", after: .days(36_400), power: true)
        submit("power", after: nil, power: true)
        submit("tonight", after: .hours(9))
        submit("soon", after: .hours(1))
        let all = bench.device.status(at: bench.now).waiting.map(\.task)
        #expect(all == ["soon", "tonight", "power", "power-far", "far"])
        let some = bench.device.status(at: bench.now, rows: 2)
        #expect(some.waiting.map(\.task) == ["soon", "tonight"] && some.moreWaiting == 3)
    }

    @Test(.enabled(if: AllocationCounter.isAvailable, "a sanitizer has its own allocator"))
    func `what is not shown is not explained`() throws {
        var bench = Self.bench(apps: 0)
        bench.set(.power, 1)
        for number in 0..<200 {
            bench.install(
                .processing("app\(number)") { $0.processingNeeds = Needs(power: true) }
            )
            try Self.fail("app\(number)", in: &bench)
        }
        bench.set(.power, 0)
        let (device, now) = (bench.device, bench.now)
        var told = 0
        let all = AllocationCounter.count { told = device.status(at: now).failing.count }
        #expect(told == 200)
        let few = AllocationCounter.count {
            told = device.status(at: now, rows: 3).failing.count
        }
        #expect(told == 3)
        #expect(few < all / 10, "\(few) of \(all)")
    }
}
