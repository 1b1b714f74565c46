import DeviceCore
import Vocabulary

/// A driver with a port that keeps what it was told.
extension DriverTests {
    /// What a driver did, in order.
    enum Step: Hashable {
        case commit(Int)
        case failed
        case effect(Effect)
        case reply(ReplyToken, Reply)
        case rollback(Int)
    }

    struct Port: DevicePort {
        var steps: [Step] = []
        var events: [Event] = []
        var records: [RecordKey: Record] = [:]
        var durabilities: [Durability] = []
        /// What was foretold of the commits that have not come yet.
        var foretold: [Effect] = []
        /// Launches that were foretold when their commit came, or failed.
        var preparedSpawns: [[LaunchID]] = []
        /// Fails while set.
        var error: CommitError?

        mutating func commit(
            _ changes: [Change],
            _ durability: Durability
        ) throws(CommitError) {
            durabilities.append(durability)
            preparedSpawns.append(
                foretold.compactMap { if case .spawn(let id, _) = $0 { id } else { nil } }
            )
            foretold = []
            if let error {
                steps.append(.failed)
                if error.cause == .gone { records.removeAll() }
                throw error
            }
            steps.append(.commit(changes.count))
            for change in changes {
                switch change {
                case .put(let record): records[record.key] = record
                case .delete(let key): records[key] = nil
                case .append: break
                }
            }
        }
        mutating func commitAnew(
            _ all: [Record],
            with changes: [Change]
        ) throws(CommitError) {
            if let error { throw error }
            steps.append(.commit(changes.count))
            records = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
        }
        mutating func prepare(_ effects: [Effect]) { foretold = effects }
        mutating func perform(_ effect: Effect) {
            if case .reply(let token, let reply) = effect {
                steps.append(.reply(token, reply))
            } else {
                steps.append(.effect(effect))
            }
        }
        mutating func record(_ event: TimedEvent, _ decisions: [Effect]) {
            events.append(event.event)
        }
        mutating func recordRollback(of count: Int) { steps.append(.rollback(count)) }
    }

    struct Setup {
        var driver: Driver<Port>
        var now = Bench().now

        init(_ events: Event...) {
            driver = Driver(device: Device(), port: Port())
            turn(.settings(.calm), .started(Start(bootID: "b", seed: 1)))
            for event in events { turn(event) }
        }

        mutating func pass(_ time: Interval) {
            now.boot = now.boot + time
            now.awake = now.awake + time
            now.wall = now.wall + time
        }

        mutating func turn(_ events: Event...) {
            driver.port.steps.removeAll()
            turn(events.map { .init($0, at: now) })
        }

        mutating func turn(_ events: [TimedEvent], looksAtStore: Bool = false) {
            let effects = driver.turn(events, looksAtStore: looksAtStore)
            for effect in effects { driver.port.perform(effect) }
        }

        var effects: [Effect] {
            driver.port.steps.compactMap {
                if case .effect(let effect) = $0 { effect } else { nil }
            }
        }

        var spawned: [LaunchID] {
            effects.compactMap { if case .spawn(let id, _) = $0 { id } else { nil } }
        }

        var replies: [Reply] {
            driver.port.steps.compactMap {
                if case .reply(_, let reply) = $0 { reply } else { nil }
            }
        }

        mutating func fail(full: Bool = true) {
            driver.port.error = CommitError(
                full ? .full : .failing,
                reason: "no space left on device"
            )
        }
    }
}
