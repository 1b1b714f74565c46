import Vocabulary

/// What has expired, is gone, or is used by nobody.
extension GatewayDriver {
    struct Sweeping: Sendable {
        var expiry = DeviceExpiry()
        /// Questions that are not answered yet.
        var questions: [StoreQuestion] = []

        var isAsking: Bool { !questions.isEmpty }
    }

    /// A piece at a time, so that nobody waits long; the next one when this is kept.
    private static var piece: Int { 100 }

    mutating func sweep(at now: Moment, into actions: inout [GatewayAction]) {
        guard !sweeping.isAsking else { return }
        let limit = gateway.limits.apps
        if apps.count >= limit - limit / 10 {
            usedApps = []
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
            let before = failures
            for item in expired { handle(.expire(item), at: now, into: &actions) }
            if expired.count == Self.piece, failures == before {
                deferred.append(.sweep(question))
            }
        case .devices(let unseen):
            // Who is connected is noted as seen with its next sign of life.
            let gone = unseen.filter { !gateway.isConnected($0) && !removing.contains($0) }
            for device in gone { handle(.expireDevice(device), at: now, into: &actions) }
            if gone.count == Self.piece { deferred.append(.sweep(question)) }
        case .apps(let unused):
            for app in unused where mayReclaim(app) { reclaim(app) }
        case .device, .record, .isKnown, .push, .channels, .failed: break
        }
    }

    /// The device was unseen for long; it may have come back while it was being read.
    mutating func expireDevice(
        _ device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard !gateway.isConnected(device), !removing.contains(device) else { return }
        remove(device, at: now, into: &actions)
        deferred.append(.expired(device))
    }

    // MARK: Apps

    /// The app that a device means; nil: it was told why it cannot have it.
    mutating func app(
        _ bundle: String,
        for link: LinkID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) -> AppNumber? {
        if let why = apps.refusal(of: bundle, gateway.limits, at: now.boot) {
            actions.append(.refused(link, bundle: bundle, why))
            return nil
        }
        return apps.number(of: bundle) ?? addApp(bundle)
    }

    mutating func addApp(_ bundle: String) -> AppNumber {
        let app = apps.add(bundle)
        batch.changes.append(.app(app, bundle: bundle))
        return app
    }

    /// Somebody has it, whatever the store says that was asked before.
    mutating func use(_ app: AppNumber) {
        if sweeping.isAsking { usedApps.insert(app) }
    }

    /// The operator removes an app and ends its tokens.
    mutating func removeApp(
        _ bundle: String,
        _ operation: OperationID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard let app = apps.number(of: bundle) else {
            return actions.append(.done(operation, .unknown))
        }
        tell(at: now, into: &actions) { $0.forget(app, at: $1, into: &$2) }
        apps.remove(app)
        batch.changes.append(.removeApp(app, bundle: bundle, withRest: true))
        deferred.append(.done(operation))
    }

    /// Whether no device has it registered, no key names it, and it has no channels. What is on its
    /// way to the store is not known there.
    private func mayReclaim(_ app: AppNumber) -> Bool {
        guard let bundle = apps.bundle(of: app), !apps.named.contains(bundle),
            apps.allowed?.contains(bundle) != true, !usedApps.contains(app),
            gateway.channels(of: app).isEmpty,
            writing.map({ !$0.apps.contains(app) && !$0.newApps.contains(app) }) ?? true
        else { return false }
        return !batch.changes.contains { change in
            switch change {
            case .app(let other, _): other == app
            case .registration(_, let registration): registration.app == app
            case .device, .seen, .removeApp, .removeDevice, .probe, .store, .remove, .channel,
                .removeChannel, .broadcast:
                false
            }
        }
    }

    /// Makes room. Tokens of it are answered 400 then, no more 410.
    private mutating func reclaim(_ app: AppNumber) {
        guard let bundle = apps.bundle(of: app) else { return }
        apps.remove(app)
        batch.changes.append(.removeApp(app, bundle: bundle, withRest: false))
    }

    // MARK: Channels

    mutating func create(
        _ id: ChannelID,
        of bundle: String,
        keepsNewest: Bool,
        _ operation: OperationID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        let app = apps.number(of: bundle) ?? addApp(bundle)
        use(app)
        var refusal: Reason?
        tell(at: now, into: &actions) { gateway, _, effects in
            let channel = Channel(id: id, app: app, keepsNewest: keepsNewest)
            refusal = gateway.create(channel, into: &effects)
        }
        if let refusal {
            actions.append(.done(operation, .refused(refusal)))
        } else {
            deferred.append(.done(operation))
        }
    }
}
