import GatewayCore
import Vocabulary

/// Kills in the middle of an event: the driver has handled it, some of its actions are performed,
/// and the others never are.
extension GatewayWorld {
    /// What is not performed any more when the gateway is killed.
    enum KillPoint: String, CaseIterable {
        case ask, write, storeChanged, unknown, identified, send, broadcast, registered, refused
        case unregistered, follows, end, answer, done, subscribed, tell, forgetLog

        init(before action: GatewayAction) {
            switch action {
            case .ask: self = .ask
            case .write: self = .write
            case .storeChanged: self = .storeChanged
            case .unknown: self = .unknown
            case .identified: self = .identified
            case .send: self = .send
            case .broadcast: self = .broadcast
            case .registered: self = .registered
            case .refused: self = .refused
            case .unregistered: self = .unregistered
            case .follows: self = .follows
            case .end: self = .end
            case .answer: self = .answer
            case .done: self = .done
            case .subscribed: self = .subscribed
            case .tell: self = .tell
            case .forgetLog: self = .forgetLog
            }
        }

        var isRare: Bool {
            switch self {
            case .unknown, .broadcast, .follows, .done, .unregistered, .subscribed, .tell,
                .forgetLog:
                true
            case .ask, .write, .storeChanged, .identified, .send, .registered, .refused, .end,
                .answer:
                false
            }
        }

        /// Under which it is counted.
        var name: String { "killed before \(rawValue)" }
    }

    /// The next kill: before this action, when it has come so often.
    struct NextKill {
        let point: KillPoint
        var left: Int
    }

    mutating func planKill() {
        let point = KillPoint.allCases[pick(KillPoint.allCases.count)]
        nextKill = NextKill(point: point, left: 1 + pick(point.isRare ? 3 : 40))
    }

    /// Whether the gateway is killed before this action.
    mutating func isKilled(before action: GatewayAction) -> Bool {
        guard !isKilled, let next = nextKill, KillPoint(before: action) == next.point else {
            return isKilled
        }
        nextKill?.left -= 1
        guard next.left == 1 else { return false }
        count(next.point.name)
        isKilled = true
        return true
    }

    /// Killed at this moment: what was on its way is on the disk all the same, or a part of it if
    /// the store has no transactions.
    mutating func crash() {
        count("crashes")
        let changes = store.batch?.changes.count ?? 0
        if random.below(2) == 0 {
            store.crash(after: nil)
        } else {
            store.crash(after: store.isTransactional ? 0 : pick(changes + 1))
        }
        problems += store.takeProblems()
        (calls, wakes, sentPushes) = ([:], [:], [:])
        (operations, broadcastCalls, lookups) = ([:], [:], [:])
        (figures, quotaUses, lostUses) = (WorldFigures(), [], 0)
        for index in devices.indices {
            devices[index].forgetLink()
            devices[index].identifying = []
            devices[index].shown = [:]
        }
        move(.seconds(1))
        // Connections of providers end as well.
        senders = senders.map { _ in WorldSender() }
        doors = WorldDoors(devices: devices.count)
        driver = GatewayDriver(driverLimits, store.gateway)
        driver.useApps(allowed: allowed, named: named)
        isKilled = false
        planKill()
    }

    /// A link ends when some of what one event brings is done, and some is not.
    mutating func cutLink() {
        guard random.below(100) == 0 else { return }
        let index = pick(devices.count)
        guard devices[index].link != nil else { return }
        count("cut in a turn")
        disconnect(index)
    }
}
