import Vocabulary

/// Which apps and channels there are.
extension GatewayDriver {
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
        use(app)
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
        let start = batch.changes.count
        tell(at: now, into: &actions) { $0.forget(app, at: $1, into: &$2) }
        remove(app, bundle, withRest: true)
        // What was kept for it goes last: of a batch that fails the first changes may be written.
        let new = batch.changes[start...]
        let ordered = new.filter { !$0.isRemoval } + new.filter(\.isRemoval)
        batch.changes.replaceSubrange(start..., with: ordered)
        deferred.append(.done(operation))
    }

    mutating func remove(_ app: AppNumber, _ bundle: String, withRest: Bool) {
        apps.remove(app)
        leavingApps[app] = bundle
        if lostApps.contains(app) {
            // The store never had it, nor will have if this fails.
            lostApps.removeAll { $0 == app }
            batch.changes.append(.app(app, bundle: bundle))
        }
        batch.changes.append(.removeApp(app, bundle: bundle, withRest: withRest))
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
        let known = apps.number(of: bundle)
        if let refusal = gateway.channelRefusal(for: known) {
            return refuseChannel(operation, .refused(refusal), into: &actions)
        }
        let app = known ?? addApp(bundle)
        use(app)
        tell(at: now, into: &actions) { gateway, _, effects in
            let channel = Channel(id: id, app: app, keepsNewest: keepsNewest)
            gateway.create(channel, into: &effects)
        }
        deferred.append(.channel(operation))
    }

    /// A provider is told why its change of channels is not made; that counts as a refusal.
    mutating func refuseChannel(
        _ operation: OperationID,
        _ problem: OperationProblem,
        into actions: inout [GatewayAction]
    ) {
        senders.refused(problem.reason)
        actions.append(.done(operation, problem))
    }
}

// MARK: Removals that may fail

extension GatewayDriver {
    func isLeaving(_ channel: ChannelID) -> Bool {
        leavingChannels.contains { $0.id == channel }
    }

    /// It is kept: whoever follows the channel is told.
    mutating func finishRemoval(
        of channel: ChannelID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        leavingChannels.removeAll { $0.id == channel }
        tell(at: now, into: &actions) { gateway, _, effects in
            gateway.finishRemoval(of: channel, into: &effects)
        }
    }

    /// The channels of an app that are there, or may be again.
    func channels(of bundle: String) -> [ChannelID] {
        let app = apps.number(of: bundle)
        let leaving = leavingChannels.filter {
            $0.app == app || app == nil && leavingApps[$0.app] == bundle
        }
        return ((app.map { gateway.channels(of: $0) } ?? []) + leaving.map(\.id)).sorted()
    }
}

extension StoreBatch.Change {
    /// Of what is kept in a slot.
    fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }
}
