import Vocabulary

/// What is kept, in batches, one at a time.
extension GatewayDriver {
    /// A batch on its way to the store: its number, who waits for it, and whom it is about.
    struct Writing: Sendable {
        var number: UInt64
        var deferred: [Deferred]
        var devices: [DeviceID] = []
        var apps: [AppNumber] = []
        var newApps: [AppNumber] = []
        /// Those that the operator took away.
        var removedApps: [(app: AppNumber, bundle: String)] = []
        var newDevices: [(key: [UInt8], device: DeviceID)] = []
        var removedDevices: [DeviceID] = []
        var removedChannels: [ChannelID] = []

        init(_ batch: StoreBatch, _ deferred: [Deferred]) {
            (number, self.deferred) = (batch.number, deferred)
            for change in batch.changes { include(change) }
        }

        mutating func include(_ change: StoreBatch.Change) {
            switch change {
            case .channel, .broadcast, .probe: break
            case .removeChannel(let id): removedChannels.append(id)
            case .device(let device, let key, _): newDevices.append((key, device))
            case .app(let app, _): newApps.append(app)
            case .removeApp(let app, let bundle, _): removedApps.append((app, bundle))
            case .registration(let device, let registration):
                devices.append(device)
                apps.append(registration.app)
            case .store(let push, _, _): devices.append(push.device)
            case .remove(let slot, _): devices.append(slot.device)
            case .removeDevice(let device):
                devices.append(device)
                removedDevices.append(device)
            case .seen(let device, _): devices.append(device)
            }
        }
    }

    /// Lines of the log that nothing else is written with may wait for so long, and be so many.
    private static var logDelay: Interval { .milliseconds(400) }
    private static var logLimit: Int { 10_000 }
    /// A store that took nothing is tried again after so long.
    private static var probeDelay: Interval { .seconds(5) }

    // MARK: Effects

    mutating func perform(
        _ effect: GatewayEffect,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch effect {
        case .store, .remove, .save, .saw, .saveChannel, .removeChannel, .keepBroadcast:
            keep(effect)
        case .log(let push, let event, let wall, let acceptance):
            if let acceptance { batch.log.accepted(push, acceptance) }
            batch.log.add(push.number, event, at: wall)
        case .logNumber(let number, let event, let wall):
            batch.log.add(number, event, at: wall)
        case .logBroadcast(let broadcast, let app, let event, let wall, let provider):
            batch.log.accepted(broadcast, of: app, from: provider)
            batch.log.add(broadcast.number, .accepted, at: wall)
            batch.log.add(broadcast.number, event, at: wall)
        case .send(let link, let sending): actions.append(.send(link, sending))
        case .sendStored(let link, let id, let slot, let number, let isRider):
            let fetch = Fetch(link: link, id: id, number: number, isRider: isRider)
            send(fetch, from: slot, at: now, into: &actions)
        case .answer(let call, let answer, let afterCommit):
            if afterCommit {
                deferred.append(.answer(call, answer))
            } else {
                self.answer(call, answer, into: &actions)
            }
        case .registered(let link, let app, let token):
            guard let app = named(app) else { return }
            deferred.append(.registered(link, app, token))
        case .subscribed(let link, let app, let token, let key):
            guard let app = named(app) else { return }
            deferred.append(.subscribed(link, app, token, key: key))
        case .unregistered(let link, let app):
            if let bundle = apps.bundle(of: app) {
                deferred.append(.unregistered(link, bundle: bundle))
            }
        case .broadcast(let link, let broadcast): actions.append(.broadcast(link, broadcast))
        case .follows(let link, let channel, let why):
            actions.append(.follows(link, channel, why))
        case .end(let link, let why): actions.append(.end(link, why))
        }
    }

    private func named(_ app: AppNumber) -> NamedApp? {
        apps.bundle(of: app).map { NamedApp(number: app, bundle: $0) }
    }

    private mutating func keep(_ effect: GatewayEffect) {
        switch effect {
        case .store(let push, let slot, let expiration):
            unwritten[slot] = push
            batch.changes.append(.store(push, in: slot, expiration: expiration))
        case .remove(let slot, let number):
            if unwritten[slot]?.number == number { unwritten[slot] = nil }
            batch.changes.append(.remove(slot, number))
        case .save(let device, let registration):
            use(registration.app)
            batch.changes.append(.registration(device, registration))
        case .saw(let device, let wall): batch.changes.append(.seen(device, wall))
        case .saveChannel(let channel): batch.changes.append(.channel(channel))
        case .removeChannel(let channel):
            leavingChannels.append(channel)
            batch.changes.append(.removeChannel(channel.id))
        case .keepBroadcast(let broadcast): batch.changes.append(.broadcast(broadcast))
        case .log, .logNumber, .logBroadcast, .send, .sendStored, .answer, .registered,
            .subscribed, .unregistered, .broadcast, .follows, .end:
            break
        }
    }

    mutating func send(
        _ fetch: Fetch,
        from slot: SlotKey,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        if let push = unwritten[slot] { return finish(fetch, push, at: now, into: &actions) }
        var fetch = fetch
        fetch.mayGetStale = fetching[slot] != nil
        if !fetch.mayGetStale { actions.append(.ask(.push(slot))) }
        fetching[slot, default: []].append(fetch)
    }

    /// Meanwhile it may have expired, its link ended, or its app been given up.
    mutating func finish(
        _ fetch: Fetch,
        _ push: Push?,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard gateway.isKept(fetch.id, over: fetch.link), push?.isExpired(at: now.wall) != true
        else {
            gateway.notSent(fetch.id, over: fetch.link)
            // There may be others that wait for its place.
            return tell(at: now, into: &actions) { $0.freed(fetch.link, at: $1, into: &$2) }
        }
        guard let push, push.number == fetch.number else {
            return gateway.notSent(fetch.id, over: fetch.link)
        }
        let sending = Sending(id: fetch.id, push: push, isRider: fetch.isRider)
        actions.append(.send(fetch.link, sending))
    }

    // MARK: Writing

    /// Writes what changed, if somebody waits for it.
    mutating func endTurn(at now: Moment, into actions: inout [GatewayAction]) {
        // What comes while a batch is written goes together into the next.
        guard writing == nil, recovery == nil else { return }
        if !batch.changes.isEmpty || !deferred.isEmpty || batch.log.count >= Self.logLimit {
            write(into: &actions)
        } else if !batch.log.isEmpty, logAlarm == nil {
            logAlarm = now.boot + Self.logDelay
        }
    }

    mutating func writeAll(into actions: inout [GatewayAction]) {
        guard writing == nil, recovery == nil, !batch.isEmpty || !deferred.isEmpty else { return }
        write(into: &actions)
    }

    mutating func pass(at now: Moment, into actions: inout [GatewayAction]) {
        tell(at: now, into: &actions) { $0.passed($1, into: &$2) }
        if let due = probeAlarm, due <= now.boot {
            probeAlarm = nil
            batch.changes.append(.probe)
        }
        guard let due = logAlarm, due <= now.boot else { return }
        logAlarm = nil
        if writing == nil, !batch.isEmpty { write(into: &actions) }
    }

    private mutating func write(into actions: inout [GatewayAction]) {
        logAlarm = nil
        if !lostApps.isEmpty {
            let lost = lostApps.compactMap { app in
                apps.bundle(of: app).map { StoreBatch.Change.app(app, bundle: $0) }
            }
            batch.changes.insert(contentsOf: lost, at: 0)
            lostApps = []
        }
        batch.number = gateway.closeBatch()
        writing = Writing(batch, deferred)
        deferred = []
        actions.append(.write(batch))
        batch = StoreBatch()
    }

    mutating func finish(
        _ number: UInt64,
        _ problem: String?,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard let own = writing, own.number == number else { return }
        writing = nil
        let wasWell = storeProblem == nil
        storeProblem = problem
        probeAlarm = problem == nil ? nil : now.boot + Self.probeDelay
        if wasWell != (problem == nil) { actions.append(.storeChanged(problem)) }
        guard problem == nil else { return fail(own, into: &actions) }
        gateway.committed(number)
        if !own.newDevices.isEmpty || !own.removedDevices.isEmpty {
            deviceChanges.append(
                DeviceChange(
                    question: questions,
                    newDevices: own.newDevices,
                    removed: own.removedDevices
                )
            )
            forgetDeviceChanges()
        }
        forgetWritten()
        for (app, _) in own.removedApps { leavingApps[app] = nil }
        for id in own.removedChannels { finishRemoval(of: id, at: now, into: &actions) }
        for item in own.deferred { finish(item, at: now, into: &actions) }
    }

    /// The store may answer as it was when it was asked. So a change to devices is remembered until
    /// all are answered who asked before it was kept.
    mutating func forgetDeviceChanges() {
        let oldest = min(identifying.oldestQuestion ?? .max, removals.oldestQuestion ?? .max)
        while let first = deviceChanges.first, first.question < oldest {
            deviceChanges.removeFirst()
            removing.subtract(first.removed)
            for (key, device) in first.newDevices where unwrittenDevices[key] == device {
                unwrittenDevices[key] = nil
            }
        }
    }

    /// What is in the store need not be kept here, unless it changed again since.
    private mutating func forgetWritten() {
        guard !unwritten.isEmpty else { return }
        unwritten.removeAll(keepingCapacity: true)
        for change in batch.changes {
            if case .store(let push, let slot, _) = change { unwritten[slot] = push }
            if case .remove(let slot, let number) = change, unwritten[slot]?.number == number {
                unwritten[slot] = nil
            }
        }
    }

    private mutating func finish(
        _ item: Deferred,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch item {
        case .answer(let call, let answer): self.answer(call, answer, into: &actions)
        case .registered(let link, let app, let token):
            guard !isGone(app, for: link, into: &actions) else { return }
            actions.append(
                token.map { .registered(link, bundle: app.bundle, $0) }
                    ?? .refused(link, bundle: app.bundle, .tooMany)
            )
        case .subscribed(let link, let app, let token, let key):
            guard !isGone(app, for: link, into: &actions) else { return }
            actions.append(
                token.map { .subscribed(link, bundle: app.bundle, $0, key: key) }
                    ?? .refused(link, bundle: app.bundle, .tooMany)
            )
        case .unregistered(let link, let bundle):
            actions.append(.unregistered(link, bundle: bundle))
        case .done(let operation), .channel(let operation):
            actions.append(.done(operation, nil))
        case .identified(let operation, let device):
            actions.append(.identified(operation, identity(of: device, isNew: true)))
        case .expired: expiredDevices += 1
        case .sweep(let question): ask(question, into: &actions)
        case .link(let link, let event): act(event, of: link, at: now, into: &actions)
        }
    }

    /// It was removed while its registration was written: the device may ask again.
    private func isGone(
        _ app: NamedApp,
        for link: LinkID,
        into actions: inout [GatewayAction]
    ) -> Bool {
        guard apps.bundle(of: app.number) == nil else { return false }
        actions.append(.refused(link, bundle: app.bundle, .unavailable))
        return true
    }
}
