@testable import DeviceCore
import Testing
import Vocabulary

/// What a change of the device does to transfers: which of those that run are stopped, and which of
/// those that wait begin.
struct TransferGateTests {
    private var bench = Bench()
    private static let stopped = TransferEvent.ended(.interrupted(.init(.stopped)), durable: 0)

    private enum Kind: String, CaseIterable {
        case plain, discretionary, fromBackground, unmetered, power, unlocked
    }

    /// On a charging device that nobody uses, with a network that costs nothing.
    init() {
        let good = [
            (Condition.network, 2), (.metered, 0), (.lowData, 0), (.power, 1), (.idle, 1),
            (.battery, 90), (.locked, 0), (.lowPower, 0), (.thermal, 0), (.memory, 0),
        ]
        for (condition, value) in good { bench.set(condition, value) }
        bench.advance(.minutes(5))
    }

    /// One of each kind, from a host of its own.
    private mutating func enqueue() throws -> [Kind: TransferID] {
        var ids: [Kind: TransferID] = [:]
        for kind in Kind.allCases {
            var order = TransferOrder(url: "http://\(kind).example/a", directory: "/home/user")
            switch kind {
            case .plain, .fromBackground: break
            case .discretionary: order.isDiscretionary = true
            case .unmetered: order.needs.unmetered = true
            case .power: order.needs.power = true
            case .unlocked: order.needs.unlocked = true
            }
            guard kind == .fromBackground else {
                bench.ask(.transfer(.enqueue([order], token: nil)))
                guard case .transfers(let enqueued)? = bench.reply else { throw DidNotEnqueue() }
                ids[kind] = enqueued.first
                continue
            }
            bench.install(.linked("app", identifiers: []))
            let launch = try bench.suspendApp("app")
            let task = SessionTask(session: "photos", number: 1)
            bench.askSession(launch, .enqueue([SessionOrder(task: task, order: order)], token: nil))
            ids[kind] = bench.sessionTasks.first
        }
        return ids
    }

    private struct DidNotEnqueue: Error {}

    /// That nobody reads the condition says nothing of since when.
    @Test func `since when a transfer is held does not move with the clock`() throws {
        var bench = Bench(isSensed: false)
        var order = TransferOrder(url: "http://example.org/a", directory: "/home/user")
        order.needs.power = true
        let asked = bench.now.wall
        bench.ask(.transfer(.enqueue([order], token: nil)))
        for _ in 0..<3 {
            let explained = bench.device.explain(Device.downloads, at: bench.now)
            let hold = explained.first?.holds.first { $0.gate == "external-power" }
            #expect(try #require(hold).since == asked)
            bench.advance(.minutes(10))
        }
    }

    /// A change, and which of those that run may not go on then.
    private struct Change: Sendable, CustomTestStringConvertible {
        let condition: Condition
        let value: Int
        let stops: [Kind]
        /// That holds them from then on.
        var gate = ""
        var testDescription: String { "\(condition) \(value)" }
    }

    private static let discretionary: [Kind] = [.discretionary, .fromBackground]
    private static let changes = [
        Change(condition: .metered, value: 1, stops: discretionary + [.unmetered], gate: "metered"),
        Change(condition: .lowData, value: 1, stops: discretionary + [.unmetered], gate: "metered"),
        Change(condition: .lowPower, value: 1, stops: discretionary, gate: "low-power"),
        Change(condition: .power, value: 0, stops: [.power], gate: "external-power"),
        Change(condition: .thermal, value: 2, stops: discretionary, gate: "thermal"),
        Change(condition: .thermal, value: 3, stops: Kind.allCases, gate: "thermal"),
        Change(condition: .locked, value: 1, stops: [.unlocked], gate: "data-protection"),
        // It is preferred that nobody uses the device, and no more than that.
        Change(condition: .idle, value: 0, stops: []),
        // If it is gone, the exchange notices by itself.
        Change(condition: .network, value: 0, stops: []),
        Change(condition: .memory, value: 2, stops: []),
        Change(condition: .battery, value: 3, stops: []),
    ]

    @Test(arguments: changes.indices)
    mutating func `a change stops what may not go on, and nothing else`(_ index: Int) throws {
        let change = Self.changes[index]
        let ids = try enqueue()
        #expect(ids.count == Kind.allCases.count)
        for (kind, id) in ids { #expect(bench.transfer(id)?.isUnderWay == true, "\(kind)") }
        bench.set(change.condition, change.value)
        for kind in Kind.allCases {
            let id = try #require(ids[kind])
            let isStopped = bench.contains(.transfer(id, .stop))
            #expect(isStopped == change.stops.contains(kind), "\(kind): \(isStopped)")
        }
        for kind in change.stops {
            let id = try #require(ids[kind])
            bench.report(id, Self.stopped)
            #expect(bench.transferGates(id).contains(change.gate), "\(kind)")
        }
    }

    @Test mutating func `a battery that is nearly empty stops what can wait, if it is not charged`()
        throws
    {
        let ids = try enqueue()
        bench.set(.power, 0)
        try bench.report(#require(ids[.power]), Self.stopped)
        bench.set(.battery, 3)
        for kind in Kind.allCases where kind != .power {
            let id = try #require(ids[kind])
            let isStopped = bench.contains(.transfer(id, .stop))
            #expect(isStopped == Self.discretionary.contains(kind), "\(kind): \(isStopped)")
        }
    }

    /// What runs has begun in a better moment.
    @Test mutating func `a user who comes back holds what has not begun, and only that`() throws {
        let ids = try enqueue()
        let running = try #require(ids[.discretionary])
        bench.set(.idle, 0)
        #expect(bench.transfer(running)?.isUnderWay == true)
        bench.report(running, .ended(.interrupted(.init(.connection)), durable: 0))
        bench.advance(.minutes(1))
        #expect(bench.transferGates(running) == ["better-moment"])
        bench.set(.idle, 1)
        #expect(bench.transfer(running)?.isUnderWay == true)
    }

    @Test mutating func `a charger lets begin what waits for one`() throws {
        bench.set(.power, 0)
        let order = TransferOrder(
            url: "http://a.example/a",
            directory: "/home/user",
            isDiscretionary: true
        )
        bench.ask(.transfer(.enqueue([order], token: nil)))
        guard case .transfers(let ids)? = bench.reply else { throw DidNotEnqueue() }
        #expect(bench.transferGates(ids[0]) == ["better-moment"])
        bench.set(.power, 1)
        #expect(bench.transfer(ids[0])?.isUnderWay == true)
    }

    /// Else what waits for a gate would not be looked at when that opens.
    @Test func `each gate that a transfer may wait for by a condition is one of that condition`()
        throws
    {
        let readers: [(Condition, [Gate])] = [
            (.power, [.externalPower, .battery, .betterMoment, .settling]),
            (.idle, [.betterMoment]), (.network, [.network, .settling]),
            (.metered, [.metered, .settling]), (.lowData, [.metered]), (.battery, [.battery]),
            (.lowPower, [.lowPower]), (.thermal, [.thermal]), (.locked, [.dataProtection]),
            (.storage, [.storage]),
        ]
        for (condition, gates) in readers {
            for gate in gates { #expect(condition.gates.contains(gate), "\(condition) \(gate)") }
        }
    }
}
