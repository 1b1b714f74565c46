import DeviceCore
import Vocabulary

/// No transfer begins or goes on against what holds it, nor begins beside more than there may be.
final class TransfersHeld: EffectInvariant, ProcessInvariant {
    let name = "transfers run when they may"
    private var running: [(id: TransferID, host: String, connections: Int64)] = []
    /// Of the last answer.
    private var totals: [TransferID: Int64] = [:]
    /// Since when: no network; a metered one; low-data mode; low-power mode.
    private var offline: Spell?
    private var metered: Spell?
    private var lowData: BootTime?
    private var saving: BootTime?
    /// A device does not believe at once that its network is gone (`Device.networkGrace`).
    private static let patience = Interval.minutes(1)
    private var orders: [TransferID: TransferOrder] = [:]

    /// A time without a sleep. After each, the device waits a while before it believes in a loss.
    private struct Spell {
        let since: BootTime
        private let slept: Interval

        init(at now: Moment) { (since, slept) = (now.boot, Self.slept(at: now)) }

        func lasts(at now: Moment) -> Bool { Self.slept(at: now) - slept < .seconds(1) }

        private static func slept(at now: Moment) -> Interval {
            Interval(nanoseconds: now.boot.nanoseconds - now.awake.nanoseconds)
        }
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .transfer(let id, let action) = effect, let url = action.url else { return nil }
        let host = url.split(separator: "/").dropFirst().first.map(String.init) ?? ""
        running.removeAll { $0.id == id }
        totals[id] = nil
        running.append((id, host, action.connections))
        // What is begun ahead waits for a connection of its host, and uses none.
        var all: Int64 = 0
        for (index, first) in running.enumerated()
        where !running[..<index].contains(where: { $0.host == first.host }) {
            all += min(connections { $0 == first.host }, world.settings.transfersPerHost)
        }
        guard all <= world.settings.transferSlots else { return "\(all) run side by side" }
        let ahead = Int64(TransferPaces.mostAhead)
        let sameHost = connections { $0 == host }
        guard sameHost <= world.settings.transfersPerHost + ahead else {
            return "\(sameHost) run from \(host)"
        }
        guard let order = orders[id] else { return "transfer \(id) is not on record" }
        guard action.connections <= 1 + order.moreConnections else {
            return "transfer \(id) has more connections than it was to have"
        }
        if let earliest = order.earliest, now.wall < earliest {
            return "transfer \(id) begins \(earliest - now.wall) too early"
        }
        if isLong(offline, now), isOffline(world) {
            return "transfer \(id) begins without a network"
        }
        return hold(on: order, now, world).map { "transfer \(id) begins \($0)" }
    }

    /// What ends one that runs as well. Of a network that is gone it hears by itself.
    private func hold(on order: TransferOrder, _ now: Moment, _ world: World) -> String? {
        let spares = order.isDiscretionary || order.needs.unmetered
        if spares, isLong(metered, now), isMetered(world) { return "on a metered network" }
        if spares, isLong(lowData, now), isLowData(world) { return "in low-data mode" }
        if order.isDiscretionary, isLong(saving, now), isSaving(world) {
            return "in low-power mode"
        }
        return nil
    }

    func heard(_ event: Event) {
        guard case .transfer(let id, let said) = event else { return }
        if case .ended = said { running.removeAll { $0.id == id } }
        var received: Int64?
        if case .answered(let answer) = said {
            totals[id] = answer.total
            received = answer.isWhole ? answer.total : answer.offset
            for index in running.indices where running[index].id == id {
                let said = 1 + answer.moreConnections
                running[index].connections = min(running[index].connections, said)
            }
        }
        if case .progress(let bytes, _) = said { received = bytes }
        // What has all its bytes takes no connection.
        if let received, received == totals[id] { running.removeAll { $0.id == id } }
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        let now = world.now.boot
        // What is said of the network while it prepares for a sleep counts later as well.
        if turn.isOfSleep { (offline, metered) = (nil, nil) }
        offline = isOffline(world) ? goOn(offline, world.now) : nil
        metered = isMetered(world) ? goOn(metered, world.now) : nil
        lowData = isLowData(world) ? lowData ?? now : nil
        saving = isSaving(world) ? saving ?? now : nil
        return goesOn(turn, world)
    }

    /// A daemon that cannot store anything stops nothing.
    private func goesOn(_ turn: Turn, _ world: World) -> String? {
        guard !running.isEmpty, world.isSettled, !turn.wasRolledBack else { return nil }
        for (id, _, _) in running where world.network.runs(id) {
            guard let order = orders[id], let why = hold(on: order, world.now, world) else {
                continue
            }
            return "transfer \(id) goes on \(why)"
        }
        return nil
    }

    func restored(_ world: World) -> String? {
        running.removeAll()
        return nil
    }

    func rebooted() { (offline, metered, lowData, saving) = (nil, nil, nil, nil) }

    private func connections(to isMeant: (String) -> Bool) -> Int64 {
        running.reduce(0) { $0 + (isMeant($1.host) ? $1.connections : 0) }
    }

    private func goOn(_ spell: Spell?, _ now: Moment) -> Spell {
        if let spell, spell.lasts(at: now) { return spell }
        return Spell(at: now)
    }

    private func isLong(_ spell: Spell?, _ now: Moment) -> Bool {
        spell.map { $0.lasts(at: now) && isLong($0.since, now) } ?? false
    }

    private func isLong(_ since: BootTime?, _ now: Moment) -> Bool {
        since.map { now.boot - $0 > Self.patience } ?? false
    }

    private func isOffline(_ world: World) -> Bool {
        world.sensing(.network) == .known && world.value(.network) != 2
    }
    private func isMetered(_ world: World) -> Bool {
        world.sensing(.metered) == .known && world.value(.metered) == 1
    }
    private func isLowData(_ world: World) -> Bool {
        world.sensing(.lowData) == .known && world.value(.lowData) == 1
    }
    private func isSaving(_ world: World) -> Bool {
        world.sensing(.lowPower) == .known && world.value(.lowPower) == 1
    }
}

extension Turn {
    fileprivate var isOfSleep: Bool {
        entries.contains { if case .sleep = $0.event { true } else { false } }
    }
}

extension TransferAction {
    /// Of what it begins, at the most.
    fileprivate var connections: Int64 {
        guard case .begin(let order, _) = self else { return 1 }
        return 1 + order.moreConnections
    }

    /// Of what it begins.
    fileprivate var url: String? {
        switch self {
        case .begin(let order, _): order.url
        case .upload(let order, _): order.url
        case .proceed, .stop, .place, .discard, .remove, .look, .notify, .forget: nil
        }
    }
}

extension TransfersHeld: CommitInvariant {
    func committed(_ changes: [Change]) -> String? {
        for case .put(.transfer(let record)) in changes {
            orders[record.transfer.id] = record.transfer.order
        }
        return nil
    }
}
