import GatewayCore
import Vocabulary

/// Kills in the middle of an event: the driver has handled it, some of its actions are performed,
/// and the others never are. Or a link is cut there, and the others find it gone.
extension GatewayWorld {
    /// What comes next when the gateway is killed, or a link is cut.
    enum ActionKind: String, CaseIterable {
        case ask, write, storeChanged, unknown, identified, send, broadcast, registered, refused
        case unregistered, follows, end, answer, done, subscribed, tell, forgetLog

        init(_ action: GatewayAction) {
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

        /// Under which kills and cuts are counted.
        var killed: String { "killed before \(rawValue)" }
        var cut: String { "cut before \(rawValue)" }
    }

    /// Until something happens: before this action, when it has come so often.
    struct Countdown {
        let kind: ActionKind
        var left: Int
    }

    mutating func planKill() { nextKill = countdown() }

    mutating func planCut() { nextCut = countdown() }

    private mutating func countdown() -> Countdown {
        let kind = ActionKind.allCases[pick(ActionKind.allCases.count)]
        return Countdown(kind: kind, left: 1 + pick(kind.isRare ? 3 : 40))
    }

    /// Whether the gateway is killed before this action.
    mutating func isKilled(before action: GatewayAction) -> Bool {
        guard !isKilled, let next = nextKill, ActionKind(action) == next.kind else {
            return isKilled
        }
        nextKill?.left -= 1
        guard next.left == 1 else { return false }
        count(next.kind.killed)
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

    // MARK: Links

    /// The link that the action is for ends right before it.
    mutating func cutLink(before action: GatewayAction) {
        guard let next = nextCut, ActionKind(action) == next.kind else { return }
        guard next.left <= 1 else {
            nextCut?.left -= 1
            return
        }
        // There may be none: then before the next one.
        guard let link = linkToCut(before: action), cut(link) else { return }
        count(next.kind.cut)
        planCut()
    }

    /// The one that the action is for; any if it is for none.
    private mutating func linkToCut(before action: GatewayAction) -> LinkID? {
        switch action {
        case .send(let link, _), .broadcast(let link, _), .registered(let link, _, _),
            .subscribed(let link, _, _, _), .refused(let link, _, _), .unregistered(let link, _),
            .follows(let link, _, _), .end(let link, _):
            link
        // Nobody is welcome there yet.
        case .unknown(let operation, _), .identified(let operation, _): doors.arriving[operation]
        case .ask(.record(let device)): link(of: device) ?? anyLink()
        case .ask(.push(let slot)): link(of: slot.device) ?? anyLink()
        case .answer(let call, _): calls[call].flatMap { devices[$0.device].link } ?? anyLink()
        case .ask, .write, .storeChanged, .done, .tell, .forgetLog: anyLink()
        }
    }

    private func link(of device: DeviceID) -> LinkID? {
        devices.first { store.keys[$0.key] == device }?.link
    }

    private mutating func anyLink() -> LinkID? {
        let links = devices.compactMap(\.link)
        return links.isEmpty ? nil : links[pick(links.count)]
    }

    /// False: it is gone already.
    private mutating func cut(_ link: LinkID) -> Bool {
        guard let stage = doors.stages[link] else { return false }
        if let index = devices.firstIndex(where: { $0.link == link }) {
            disconnect(index)
        } else {
            leave(link, .closed)
            // The gateway knows a link from the moment at which its device is welcome.
            if stage == .proved { feed(.link(link, .disconnected)) }
        }
        return true
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
