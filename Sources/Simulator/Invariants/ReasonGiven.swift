import DeviceCore
import Vocabulary

/// Whatever waits is held by a named gate, and what the gate names is so; what nothing holds is not
/// left waiting.
final class ReasonGiven: AnswerInvariant, CallInvariant, EffectInvariant, ProcessInvariant {
    let name = "what does not run has a reason"
    private var idled = 0
    private var next = 0
    /// Deliveries that are on record, and were not offered.
    private var waiting: [LaunchID: Set<DeliveryID>] = [:]
    private var calls: [ReplyToken: UserRequest] = [:]
    /// Closed, or nobody knows.
    private var mayBeClosed: Set<AppID> = []
    private var mayBePaused = false
    private let grounds = Grounds()

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        grounds.asked(event, at: now)
        guard case .user(let request, _) = event else { return }
        switch request {
        case .close(let app):
            mayBeClosed.insert(app)
            calls = calls.filter {
                guard case .open(app, _, _) = $0.value else { return true }
                return false
            }
        case .pause: mayBePaused = true
        case .open, .continue: calls[token] = request
        case .leave, .submit, .run, .cancel, .cancelPending, .dismiss, .override, .simulate,
            .transfer:
            break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        switch (calls.removeValue(forKey: token), reply) {
        case (.open(let app, _, _), .opened):
            mayBeClosed.remove(app)
            grounds.opened(app, at: now)
        case (.continue, .done): mayBePaused = false
        case _: break
        }
    }

    func heard(_ event: Event) { grounds.heard(event) }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        grounds.performed(effect, world)
        return nil
    }

    func rebooted() { grounds.rebooted() }

    func ended(_ turn: Turn, _ world: World) -> String? {
        grounds.ended(turn, world)
        for assignment in turn.assigned {
            guard let delivery = assignment.delivery else { continue }
            waiting[assignment.launch, default: []].insert(delivery)
        }
        for offer in turn.offered { waiting[offer.launch]?.remove(offer.delivery) }
        for line in turn.lines {
            if case .wake(let report) = line.entry { waiting[report.launch] = nil }
        }
        return nil
    }

    func idled(
        _ world: World,
        _ explain: (AppID, Moment) -> [Explanation]
    ) -> String? {
        // What the device knows since then it could not act on then.
        guard world.now.boot - world.watch.turn.moment.boot > .seconds(5) else { return nil }
        if let text = waitsForNobody(world) { return text }
        idled += 1
        // It takes as long as many turns.
        guard idled % 4 == 0 else { return nil }
        next = (next + 1) % world.plans.count
        let plan = world.plans[next]
        let app =
            next == world.plans.count - 1 ? AppID("command.job\(world.user.jobs % 6)") : plan.id
        let then = world.now.earlier(by: .seconds(5))
        let explanations = explain(app, then)
        for explanation in explanations {
            if explanation.sentence.isEmpty { return "\(app) is not explained" }
            if explanation.state == .ready || explanation.state == .waiting,
                explanation.holds.isEmpty
            {
                return "\(app) \(explanation.identifier ?? "") could have begun at "
                    + "\(then.local): \(explanation.sentence)"
            }
            for hold in explanation.holds where isRefuted(hold.gate, of: explanation, world) {
                return "\(app) \(explanation.identifier ?? "") waits, and it is not so: "
                    + "\(hold.sentence) (\(hold.gate))"
            }
        }
        for number in world.watch.work.pending[app] ?? [] {
            let identifier = world.watch.work.byNumber[number]?.identifier
            if !explanations.contains(where: { $0.identifier == identifier }) {
                return "\(app) waits for \(identifier ?? ""), and nobody says why"
            }
        }
        return nil
    }

    /// What waits for the connection of an app does so only while there is none.
    private func waitsForNobody(_ world: World) -> String? {
        for process in world.processes
        where !process.isDead && !process.isFrozen && !process.isToldToEnd
            && process.talk.isConnected && waiting[process.launch]?.isEmpty == false
            && world.now.awake - process.talk.lastWord > .seconds(5)
        {
            return "launch \(process.launch) waits for its app, which is connected"
        }
        return nil
    }

    private static let gates = Dictionary(
        uniqueKeysWithValues: Gate.allCases.map { ($0.name, $0) }
    )

    /// Whether there is such a process of an app, or of the command that it is. One that has just
    /// died may not be known to have.
    private func lives(
        _ app: AppID,
        _ world: World,
        _ isMeant: (VirtualProcess) -> Bool
    ) -> Bool {
        world.processes.contains {
            let isOver = $0.diedAt.map { world.clock.elapsed - $0 > .seconds(5) } ?? false
            return !isOver && $0.appID == app && isMeant($0)
        }
    }

    /// Whether the world is not as that gate says.
    private func isRefuted(_ gate: String, of explanation: Explanation, _ world: World) -> Bool {
        let (app, identifier) = (explanation.app, explanation.identifier)
        let plan = world.plan(of: app)
        if explanation.isOfTransfer { return isRefutedOfTransfer(Self.gates[gate], app, world) }
        return switch Self.gates[gate] {
        case .unknownApp: plan?.isUsable ?? true
        case .notPermitted: plan?.permits(identifier) ?? true
        case .closedByUser: !mayBeClosed.contains(app)
        case .paused: !mayBePaused
        case .refreshOff: world.settings.backgroundRefresh
        case .earliest: grounds.isDue(identifier, of: app, world)
        case .quiet:
            grounds.rhythm(of: app, world).map { grounds.hasRested(app, for: $0, world) } ?? true
        case .unused: grounds.isUsed(app, world)
        case .appQuota: grounds.isWithinQuota(app, world)
        case .deviceQuota: grounds.isWithinQuota(nil, world)
        case .backOff: grounds.hasRested(app, for: world.settings.backOffLimit, world)
        case .stillRunning: !lives(app, world) { _ in true }
        case .startPause: grounds.isUp(world)
        // They hold no task of an app.
        case .retry, .answer, .transferSlots: true
        // Its moments are chosen by what was learned, which is no fact of the world: only what has
        // none is known, the user's commands and processing.
        case .betterMoment: plan.map { $0.isProcessing(identifier) } ?? true
        // Likewise: the shared moment is the first after the one that was chosen. A device in use
        // shares nothing.
        case .sharedWake:
            plan.map { $0.isProcessing(identifier) } ?? true || world.settings.sharedWake == .zero
                || world.sensing(.idle) == .known && world.value(.idle) == 0
        case .runSlots: grounds.hasSlot(waiting, world)
        case .processes: grounds.hasRoom(.processes, world)
        case .storage: world.storeTrouble == nil && grounds.hasRoom(.storage, world)
        case .settling: grounds.isSteady(world)
        case .beforeFirstUnlock, .lowPower, .thermal, .memory, .battery, .network, .metered,
            .externalPower, .deviceInUse, .stopping, .dataProtection, .appInForeground:
            Self.gates[gate].map { isNotSensed($0, of: app, world) } ?? false
        case nil: false
        }
    }

    /// What holds transfers of an app. `TransfersHeld` knows their dates, and judges their starts.
    private func isRefutedOfTransfer(_ gate: Gate?, _ app: AppID, _ world: World) -> Bool {
        switch gate {
        case .unknownApp: world.plan(of: app)?.isUsable ?? true
        case .closedByUser: !mayBeClosed.contains(app)
        case .paused: !mayBePaused
        case .storage: world.storeTrouble == nil && grounds.hasRoom(.storage, world)
        case .startPause: grounds.isUp(world)
        case .settling: grounds.isSteady(world)
        case .appQuota: grounds.isWithinQuota(app, world)
        case .deviceQuota: grounds.isWithinQuota(nil, world)
        // No moment is better than on external power while nobody uses the device.
        case .betterMoment:
            isNotSensed(.externalPower, of: app, world) && isNotSensed(.deviceInUse, of: app, world)
        case .lowPower, .thermal, .battery, .network, .metered, .externalPower, .stopping,
            .dataProtection:
            gate.map { isNotSensed($0, of: app, world) } ?? false
        // What they name is no fact of the device.
        case .earliest, .retry, .answer, .transferSlots: false
        // In no cell of theirs.
        case .notPermitted, .refreshOff, .beforeFirstUnlock, .quiet, .deviceInUse,
            .appInForeground, .memory, .unused, .backOff, .stillRunning, .sharedWake, .runSlots,
            .processes, nil:
            true
        }
    }

    /// The same of the gates that ask how the device is at this moment.
    private func isNotSensed(_ gate: Gate, of app: AppID, _ world: World) -> Bool {
        switch gate {
        case .beforeFirstUnlock: world.value(.locked) != 2
        case .lowPower: world.value(.lowPower) == 0
        case .thermal: world.value(.thermal) < 2
        case .memory: world.value(.memory) < 2
        case .battery: world.value(.battery) == 100
        case .network: world.sensing(.network) == .known && world.value(.network) == 2
        case .metered:
            world.sensing(.metered) == .known && world.value(.metered) == 0
                && world.value(.lowData) == 0
        case .externalPower: world.sensing(.power) == .known && world.value(.power) == 1
        case .deviceInUse: world.sensing(.idle) == .known && world.value(.idle) == 1
        case .stopping: !world.isStopping
        case .dataProtection: world.sensing(.locked) == .known && world.value(.locked) == 0
        case .appInForeground: !lives(app, world) { $0.weight == .foreground }
        case .unknownApp, .notPermitted, .closedByUser, .paused, .refreshOff, .earliest, .quiet,
            .unused, .appQuota, .deviceQuota, .backOff, .stillRunning, .startPause, .betterMoment,
            .sharedWake, .runSlots, .processes, .storage, .settling, .retry, .answer,
            .transferSlots:
            false
        }
    }
}

extension Moment {
    func earlier(by step: Interval) -> Moment {
        Moment(boot: boot - step, awake: awake - step, wall: wall - step, utcOffset: utcOffset)
    }
}

extension Explanation {
    /// Transfers are called by their URLs.
    fileprivate var isOfTransfer: Bool { identifier?.contains("://") ?? false }
}
