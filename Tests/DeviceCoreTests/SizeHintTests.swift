@testable import DeviceCore
import Testing
import Vocabulary

/// What the sizes that an app expects do for the turns of its tasks.
struct SizeHintTests {
    private static let large: Int64 = 5 << 20

    private func order(
        _ number: Int64,
        sends: Int64? = nil,
        receives: Int64? = nil,
        isDiscretionary: Bool = true
    ) -> SessionOrder {
        SessionOrder(
            task: SessionTask(
                session: "photos",
                number: number,
                expectsToSend: sends,
                expectsToReceive: receives
            ),
            order: TransferOrder(
                url: "http://example.org/\(number)",
                directory: "/spool",
                overwrites: true,
                isDiscretionary: isDiscretionary,
                errors: .deliver
            )
        )
    }

    /// All wait for the network, and one runs at a time.
    private func waiting(_ orders: [SessionOrder]) throws -> Bench { try waitingApp(orders).0 }

    private func waitingApp(_ orders: [SessionOrder]) throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.configure { $0.transferSlots = 1 }
        bench.send(.condition(.network, .kernel, .value(0)))
        bench.askSession(launch, .enqueue(orders, token: nil))
        return (bench, launch)
    }

    /// The numbers of the tasks, as they begin.
    private func begun(_ bench: inout Bench) throws -> [Int64] {
        bench.send(.condition(.network, .kernel, .value(2)))
        // A network that has just come is let settle first.
        bench.advance(.seconds(10))
        var begun: [Int64] = []
        while !bench.sessionTasks.isEmpty {
            let running = bench.device.transfers.all().first(where: \.isRunning)
            let id = try #require(running?.id)
            begun.append(running?.task?.number ?? 0)
            bench.report(id, .ended(.complete(size: 1), durable: 1))
            bench.report(id, .placed(name: "\(id).download"))
        }
        return begun
    }

    @Test func `of discretionary tasks those that are expected to be small go first`() throws {
        var bench = try waiting([
            order(1), order(2, receives: Self.large), order(3, receives: 4_096),
            order(4, sends: Self.large, receives: 1), order(5, receives: 1 << 20),
            // A download that sends little may be of any size.
            order(6, sends: 100),
        ])
        #expect(try begun(&bench) == [3, 5, 1, 2, 4, 6])
    }

    @Test func `others go as they were asked for`() throws {
        var bench = try waiting([
            order(1, receives: Self.large, isDiscretionary: false),
            order(2, receives: 1, isDiscretionary: false),
        ])
        #expect(try begun(&bench) == [1, 2])
    }

    @Test func `small ones do not overtake those that are not discretionary`() throws {
        var bench = try waiting([order(1, isDiscretionary: false), order(2, receives: 1)])
        #expect(try begun(&bench) == [1, 2])
        bench = try waiting([order(1, receives: 1), order(2, isDiscretionary: false)])
        #expect(try begun(&bench) == [1, 2])
        bench = try waiting([order(1), order(2, isDiscretionary: false), order(3, receives: 1)])
        #expect(try begun(&bench) == [2, 3, 1])
    }

    @Test func `small ones do not overtake those that have waited their time`() throws {
        for hasWaited in [false, true] {
            var (bench, launch) = try waitingApp([order(1, receives: Self.large)])
            bench.configure { $0.discretionaryWait = .hours(hasWaited ? 1 : 48) }
            bench.advance(.hours(2))
            bench.askSession(launch, .enqueue([order(2, receives: 1)], token: nil))
            #expect(try begun(&bench) == (hasWaited ? [1, 2] : [2, 1]))
        }
    }

    @Test func `what its user moves to the front goes before small ones, and to the end after all`()
        throws
    {
        var bench = try waiting([order(1, receives: 1), order(2, receives: 1), order(3), order(4)])
        let ids = bench.sessionTasks
        bench.ask(.transfer(.move([ids[3]], TransferMove(place: .first))))
        bench.ask(.transfer(.move([ids[0]], TransferMove(place: .last))))
        #expect(try begun(&bench) == [4, 2, 3, 1])
    }
}
