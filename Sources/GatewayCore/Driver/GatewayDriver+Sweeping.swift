import Vocabulary

/// What has expired, is gone, or is used by nobody.
extension GatewayDriver {
    struct Sweeping: Sendable {
        var expiry = DeviceExpiry()
        /// Questions that are not answered yet.
        var questions: [StoreQuestion] = []
        /// What the last piece was: one that comes again did not go.
        var pieces: [StoreQuestion: StoreAnswer] = [:]

        var isAsking: Bool { !questions.isEmpty }
    }

    /// A piece at a time, so that nobody waits long; the next one when this is kept.
    private static var piece: Int { 100 }

    mutating func sweep(at now: Moment, into actions: inout [GatewayAction]) {
        actions.append(.forgetLog(before: oldestLog(at: now)))
        guard !sweeping.isAsking else { return }
        sweeping.pieces = [:]
        let limit = gateway.limits.apps
        if apps.count >= limit - limit / 10 {
            // What is on its way to the store is not known there.
            usedApps = Set((writing?.apps ?? []) + (writing?.newApps ?? []))
            for change in batch.changes { recordUse(change) }
            ask(.unusedApps(limit: 1000), into: &actions)
        }
        ask(.expired(by: now.wall, limit: Self.piece), into: &actions)
        if let cutoff = sweeping.expiry.cutoff(at: now, gateway.limits) {
            ask(.unseen(since: cutoff, limit: Self.piece), into: &actions)
        }
    }

    mutating func ask(_ question: StoreQuestion, into actions: inout [GatewayAction]) {
        sweeping.questions.append(question)
        actions.append(.ask(question))
    }

    /// What could not be read, or not be taken away, is tried again with the next sweep.
    mutating func takeSwept(
        _ answer: StoreAnswer,
        to question: StoreQuestion,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        sweeping.questions.removeAll { $0 == question }
        switch answer {
        case .slots(let expired):
            for item in expired {
                meet(.expirePush(item), of: item.slot.device, at: now, into: &actions)
            }
        case .devices(let unseen):
            // Who is connected is noted as seen with its next sign of life.
            let gone = unseen.filter { !gateway.isConnected($0) && !removing.contains($0) }
            for device in gone { meet(.expire, of: device, at: now, into: &actions) }
        case .apps(let unused):
            for app in unused where mayReclaim(app) { reclaim(app) }
        case .device, .record, .isKnown, .push, .channels, .log, .failed: break
        }
        guard answer.pieceCount == Self.piece, sweeping.pieces[question] != answer else { return }
        sweeping.pieces[question] = answer
        deferred.append(.sweep(question))
    }

    // MARK: Apps

    private mutating func recordUse(_ change: StoreBatch.Change) {
        switch change {
        case .app(let app, _): usedApps.insert(app)
        case .registration(_, let registration): usedApps.insert(registration.app)
        case .device, .seen, .removeApp, .removeDevice, .probe, .store, .remove, .channel,
            .removeChannel, .broadcast:
            break
        }
    }

    /// Whether no device has it registered, no key names it, and it has no channels.
    private func mayReclaim(_ app: AppNumber) -> Bool {
        guard let bundle = apps.bundle(of: app) else { return false }
        return !apps.named.contains(bundle) && apps.allowed?.contains(bundle) != true
            && !usedApps.contains(app) && gateway.channels(of: app).isEmpty
    }

    /// Makes room. Tokens of it are answered 400 then, no more 410.
    private mutating func reclaim(_ app: AppNumber) {
        guard let bundle = apps.bundle(of: app) else { return }
        remove(app, bundle, withRest: false)
    }
}

extension StoreAnswer {
    /// Of what is taken away a piece at a time.
    fileprivate var pieceCount: Int {
        switch self {
        case .slots(let slots): slots.count
        case .devices(let devices): devices.count
        case .device, .record, .isKnown, .push, .channels, .apps, .log, .failed: 0
        }
    }
}
