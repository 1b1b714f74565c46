import Vocabulary

/// A batch could not be written. Nothing of it is kept, and nobody may be told that it is. Changes
/// gathered since then build on it and are given up too. What the store has is read again; until
/// then all that happens waits. While that cannot be read, nothing is guessed: it is asked for
/// again with whatever happens, and at the latest when the alarm goes off.
extension GatewayDriver {
    struct Recovery: Sendable {
        /// Devices that are not read again yet.
        var unread: Set<DeviceID>
        /// Apps of which the store has not said yet whether it still has them. Until it does they
        /// count as there: a provider that is told otherwise does not ask again.
        var removedApps: [RemovedApp]
        var records: [(DeviceID, StoredDevice)] = []
        /// Those that could not be read.
        var lost: [DeviceID] = []
        var hasChannels = false
        /// What the store could not answer, and when it is asked again at the latest.
        var unanswered: [StoreQuestion] = []
        var alarm: BootTime?
        /// What happened meanwhile.
        var held: [GatewayEvent] = []
        /// Who waited for the batches.
        var deferred: [Deferred]
    }

    struct RemovedApp: Sendable {
        let app: AppNumber
        let bundle: String
        /// What came in its place since.
        let newer: AppNumber?
    }

    /// A store that could not be read is asked again after so long, if nothing happens before.
    private static var retryDelay: Interval { .seconds(1) }

    mutating func fail(_ own: Writing, into actions: inout [GatewayAction]) {
        failures += 1
        var failed = own
        for change in batch.changes { failed.include(change) }
        failed.deferred += deferred
        (batch, deferred) = (StoreBatch(), [])
        (unwritten, logAlarm) = ([:], nil)
        for (key, _) in failed.newDevices { unwrittenDevices[key] = nil }
        for device in failed.removedDevices { removing.remove(device) }
        // One that was added since as well was never there.
        let removedApps = failed.removedApps.filter { !failed.newApps.contains($0.app) }
        lostApps += failed.newApps
        leavingApps = [:]
        // The core no longer knows which devices had a removed app: all are read again.
        let concerned = failed.removedApps.isEmpty ? failed.devices : gateway.knownDevices
        var unread: [DeviceID] = []
        for device in concerned.sorted() where unread.last != device && !gateway.needs(device) {
            unread.append(device)
        }
        recovery = Recovery(
            unread: Set(unread),
            removedApps: removedApps.map { app, bundle in
                RemovedApp(app: app, bundle: bundle, newer: apps.number(of: bundle))
            },
            deferred: failed.deferred
        )
        for (app, bundle) in removedApps {
            apps.restore(app, bundle)
            actions.append(.ask(.hasApp(app, bundle: bundle)))
        }
        for device in unread { actions.append(.ask(.record(device))) }
        actions.append(.ask(.channels))
    }

    /// Takes an answer that the recovery waits for; false: it is for something that has to wait.
    mutating func recover(
        _ question: StoreQuestion,
        _ answer: StoreAnswer,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) -> Bool {
        switch question {
        case .record(let device):
            guard recovery?.unread.remove(device) != nil else { return false }
            if case .record(let record) = answer {
                recovery?.records.append((device, record))
            } else {
                recovery?.lost.append(device)
            }
        case .channels:
            if case .channels(let channels) = answer {
                gateway.load(channels)
                recovery?.hasChannels = true
                // A store without transactions may have removed them all the same.
                for channel in leavingChannels where gateway.channel(channel.id) == nil {
                    finishRemoval(of: channel.id, at: now, into: &actions)
                }
                leavingChannels = []
            } else {
                askLater(question, at: now, into: &actions)
            }
        case .hasApp(let app, _):
            guard let place = recovery?.removedApps.firstIndex(where: { $0.app == app })
            else { return false }
            if case .isKnown(let isKnown) = answer {
                if let removed = recovery?.removedApps.remove(at: place), !isKnown {
                    apps.remove(app)
                    if let newer = removed.newer { apps.restore(newer, removed.bundle) }
                }
            } else {
                askLater(question, at: now, into: &actions)
            }
        case .device, .isKnown, .push, .expired, .unseen, .unusedApps, .log: return false
        }
        if answer == .failed { failures += 1 }
        endRecovery(at: now, into: &actions)
        return true
    }

    // MARK: A store that cannot be read

    /// Not at once: that would go on without end. Whoever can be told that it is to come again is.
    private mutating func askLater(
        _ question: StoreQuestion,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        recovery?.unanswered.append(question)
        if recovery?.alarm == nil { recovery?.alarm = now.boot + Self.retryDelay }
        for item in recovery?.deferred ?? [] {
            if case .link(let link, let event) = item {
                recovery?.held.append(.link(link, event))
            } else {
                refuse(item, at: now, into: &actions)
            }
        }
        recovery?.deferred = []
        let held = recovery?.held ?? []
        let waiting = held.filter { mustWait($0, into: &actions) }
        recovery?.held = waiting
    }

    /// It waits for the store as it is; a store that could not be read is asked again.
    mutating func hold(
        _ event: GatewayEvent,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        if case .passed = event {
            // The gateway's own alarm comes again.
            guard let alarm = recovery?.alarm, alarm <= now.boot else { return }
        } else {
            recovery?.held.append(event)
        }
        for question in recovery?.unanswered ?? [] { actions.append(.ask(question)) }
        recovery?.unanswered = []
        recovery?.alarm = nil
    }

    /// False: it was refused, or will come again.
    private mutating func mustWait(
        _ event: GatewayEvent,
        into actions: inout [GatewayAction]
    ) -> Bool {
        switch event {
        case .push(let push, let call):
            senders.took(call, push.isWebPush ? .webPush : .push, key: push.key)
            answer(call, .refused(.serviceUnavailable), into: &actions)
        case .broadcast(_, _, let call):
            senders.took(call, .broadcast, key: nil)
            answer(call, .refused(.serviceUnavailable), into: &actions)
        case .lookUp(_, let call):
            senders.refused(Reason.serviceUnavailable)
            actions.append(.tell(call, .refused(.serviceUnavailable)))
        case .identify(let operation, _), .enrol(let operation, _):
            actions.append(.identified(operation, nil))
        case .createChannel(_, _, _, let operation), .removeChannel(_, let operation):
            refuseChannel(operation, .notKept, into: &actions)
        case .removeDevice(_, let operation), .removeApp(_, let operation):
            actions.append(.done(operation, .notKept))
        case .sweep, .passed: break
        case .connected, .link, .answered, .written, .turnEnded, .ending: return true
        }
        return false
    }

    private mutating func endRecovery(at now: Moment, into actions: inout [GatewayAction]) {
        guard let done = recovery, done.unread.isEmpty, done.removedApps.isEmpty, done.hasChannels
        else { return }
        recovery = nil
        let records = done.records.map { ($0, known($1)) }
        tell(at: now, into: &actions) { gateway, now, effects in
            gateway.failed(records, at: now, into: &effects)
            for device in done.lost { gateway.lose(device, into: &effects) }
        }
        for item in done.deferred { refuse(item, at: now, into: &actions) }
        for event in done.held { handle(event, at: now, into: &actions) }
    }

    /// It is not kept, and who waits for it is told so.
    private mutating func refuse(
        _ item: Deferred,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch item {
        case .answer(let call, _):
            answer(call, .refused(.serviceUnavailable), into: &actions)
        case .registered(let link, let app, _), .subscribed(let link, let app, _, _):
            actions.append(.refused(link, bundle: app.bundle, .unavailable))
        case .unregistered(let link, let bundle):
            actions.append(.refused(link, bundle: bundle, .unavailable))
        case .done(let operation): actions.append(.done(operation, .notKept))
        case .channel(let operation): refuseChannel(operation, .notKept, into: &actions)
        case .identified(let operation, _):
            actions.append(.identified(operation, nil))
        case .expired, .sweep: break
        // Held as long as the recovery lasts.
        case .link(let link, let event): handle(.link(link, event), at: now, into: &actions)
        }
    }
}
