import Vocabulary

/// A batch could not be written. Nothing of it is kept, and nobody may be told that it is. Changes
/// gathered since then build on it and are given up too. What the store has is read again; until
/// then all that happens waits.
extension GatewayDriver {
    struct Recovery: Sendable {
        /// Devices that are not read again yet.
        var unread: Set<DeviceID>
        /// Apps that may be there again.
        var removedApps: [(app: AppNumber, bundle: String)]
        var records: [(DeviceID, StoredDevice)] = []
        /// Those that could not be read.
        var lost: [DeviceID] = []
        var hasChannels = false
        /// What happened meanwhile.
        var held: [GatewayEvent] = []
        /// Who waited for the batches.
        var deferred: [Deferred]
    }

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
        // The core no longer knows which devices had a removed app: all are read again.
        let concerned = failed.removedApps.isEmpty ? failed.devices : gateway.knownDevices
        var unread: [DeviceID] = []
        for device in concerned.sorted() where unread.last != device && !gateway.needs(device) {
            unread.append(device)
        }
        recovery = Recovery(
            unread: Set(unread),
            removedApps: removedApps,
            deferred: failed.deferred
        )
        for (app, bundle) in removedApps { actions.append(.ask(.hasApp(app, bundle: bundle))) }
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
            if case .channels(let channels) = answer { gateway.load(channels) }
            recovery?.hasChannels = true
        case .hasApp(let app, let bundle):
            let count = recovery?.removedApps.count
            recovery?.removedApps.removeAll { $0.app == app }
            guard recovery?.removedApps.count != count else { return false }
            // A batch that failed is rarely written, even in part.
            if answer != .isKnown(false) { apps.restore(app, bundle) }
        case .device, .isKnown, .push, .expired, .unseen, .unusedApps, .log: return false
        }
        if answer == .failed { failures += 1 }
        endRecovery(at: now, into: &actions)
        return true
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
        for item in done.deferred { refuse(item, into: &actions) }
        for event in done.held { handle(event, at: now, into: &actions) }
    }

    /// It is not kept, and who waits for it is told so.
    private mutating func refuse(_ item: Deferred, into actions: inout [GatewayAction]) {
        switch item {
        case .answer(let call, _):
            answer(call, .refused(.serviceUnavailable), into: &actions)
        case .registered(let link, let app, _), .subscribed(let link, let app, _, _):
            actions.append(.refused(link, bundle: app.bundle, .unavailable))
        case .unregistered(let link, let bundle):
            actions.append(.refused(link, bundle: bundle, .unavailable))
        case .done(let operation): actions.append(.done(operation, .notKept))
        case .identified(let operation, _):
            actions.append(.identified(operation, nil, isNew: true))
        case .expired, .sweep: break
        }
    }
}
