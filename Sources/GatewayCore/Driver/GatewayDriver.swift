package import Vocabulary

/// Runs a gateway. It takes events and returns actions, which its owner performs in order after
/// each call.
///
/// Changes that must be kept go into batches. Answers that promise durability wait for their batch.
/// The store may answer late: events about a device that is being read wait for its record. After a
/// failed batch, all events wait until the store has been read again.
package struct GatewayDriver: Sendable {
    package internal(set) var gateway: Gateway
    package internal(set) var apps: BundleTable
    var quotas = KeyQuotas()
    /// Batches that could not be written, and questions that could not be answered.
    package internal(set) var failures: UInt64 = 0
    /// Devices that were taken for gone.
    package internal(set) var expiredDevices: UInt64 = 0
    /// What senders were answered.
    package internal(set) var senders = SenderCounters()
    /// Why the newest batch was not kept; nil: it was.
    package internal(set) var storeProblem: String?

    /// The next batch, and who waits for it.
    var batch = StoreBatch()
    var deferred: [Deferred] = []
    /// The one that is being written: a later one may build on it.
    var writing: Writing?
    /// When lines of the log are written that wait for nothing else.
    var logAlarm: BootTime?
    /// When something is written to know whether the store takes it again: nobody may send until
    /// it does.
    var probeAlarm: BootTime?
    /// Pushes of slots that are not in the store yet.
    var unwritten: [SlotKey: Push] = [:]

    /// Events of devices that are being read, in the order in which they came.
    var parked: [DeviceID: [DeviceEvent]] = [:]
    /// Links of devices that are being read.
    var parkedLinks: [LinkID: DeviceID] = [:]
    /// Sendings of pushes that are being read.
    var fetching: [SlotKey: [Fetch]] = [:]
    /// Who waits for the device of a key, in the order in which they came.
    var identifying = Waiters<[UInt8]>()
    /// Who wants a device removed of which it is not known yet whether it is there.
    var removals = Waiters<DeviceID>()
    /// Who waits for what the log has, in the order in which they asked.
    var lookups: [Lookup] = []
    var recovery: Recovery?

    /// New devices by their keys, until nobody waits for an answer that may not know them yet.
    var unwrittenDevices: [[UInt8]: DeviceID] = [:]
    /// Devices whose removal is not in the store yet, or not in all its answers.
    var removing: Set<DeviceID> = []
    /// Apps and channels whose removal is not in the store yet, and may fail: until then nobody may
    /// be told for good that they are not there.
    var leavingApps: [AppNumber: String] = [:]
    var leavingChannels: [Channel] = []
    /// Of batches that are kept: what an answer may not know that was asked for before.
    var deviceChanges: [DeviceChange] = []
    /// Questions so far of those who wait for a device.
    var questions: UInt64 = 0
    /// Apps of batches that could not be written: the next takes them along.
    var lostApps: [AppNumber] = []
    /// Apps that somebody used since the store was asked for unused ones.
    var usedApps: Set<AppNumber> = []
    var lastDevice: UInt64
    let lastRestored: UInt64
    var sweeping = Sweeping()
    private var effects: [GatewayEffect] = []

    /// What waits for the batch.
    enum Deferred: Sendable {
        case answer(CallID, Answer)
        // By name: the app may be gone when this is told.
        case registered(LinkID, NamedApp, DeviceToken?)
        case subscribed(LinkID, NamedApp, DeviceToken?, key: [UInt8])
        case unregistered(LinkID, bundle: String)
        case done(OperationID)
        /// The same for a provider's change of channels.
        case channel(OperationID)
        case identified(OperationID, DeviceID)
        /// A device was taken for gone.
        case expired
        /// There was more to be swept than was in this batch.
        case sweep(StoreQuestion)
        /// It depends on what is being removed.
        case link(LinkID, LinkEvent)
    }

    struct NamedApp: Sendable {
        let number: AppNumber
        let bundle: String
    }

    /// A sending whose push is being read.
    struct Fetch: Sendable {
        let link: LinkID
        let id: SendingID
        let number: PushNumber
        let isRider: Bool
        /// The slot was being read already: the answer may be older than the push.
        var mayGetStale = false
    }

    /// Somebody who waits for what the store says about a device.
    struct Waiter<Subject: Equatable & Sendable>: Sendable {
        let subject: Subject
        var operation: OperationID
        let question: UInt64
    }

    /// In the order in which they asked.
    struct Waiters<Subject: Equatable & Sendable>: Sendable {
        private var waiters: [Waiter<Subject>] = []

        var isEmpty: Bool { waiters.isEmpty }
        var oldestQuestion: UInt64? { waiters.first?.question }

        mutating func append(_ subject: Subject, _ operation: OperationID, _ question: UInt64) {
            let waiter = Waiter(subject: subject, operation: operation, question: question)
            waiters.append(waiter)
        }

        /// Who is answered now. Which of several questions about one subject was answered is not
        /// known: the oldest may still be open.
        mutating func take(_ subject: Subject) -> OperationID? {
            let places = waiters.indices.filter { waiters[$0].subject == subject }
            guard let first = places.first, let last = places.last else { return nil }
            let operation = waiters[first].operation
            for (place, next) in zip(places, places.dropFirst()) {
                waiters[place].operation = waiters[next].operation
            }
            waiters.remove(at: last)
            return operation
        }
    }

    struct DeviceChange: Sendable {
        /// The newest question that came before it was kept.
        let question: UInt64
        let newDevices: [(key: [UInt8], device: DeviceID)]
        let removed: [DeviceID]
    }

    package init(_ limits: GatewayLimits, _ stored: StoredGateway) {
        gateway = Gateway(limits, lastPush: stored.lastPush)
        gateway.load(stored.channels)
        apps = BundleTable(stored.apps, last: stored.lastApp, limits)
        (lastDevice, lastRestored) = (stored.lastDevice, stored.lastRestored)
    }

    /// The limits from now on; buckets that are there keep their size until their device is read
    /// again.
    package mutating func use(_ limits: GatewayLimits) {
        if (limits.newApps, limits.newAppRefill)
            != (gateway.limits.newApps, gateway.limits.newAppRefill)
        {
            apps.useLimits(limits)
        }
        gateway.limits = limits
    }

    /// The only apps that devices may register (nil: any), and those that keys name.
    package mutating func useApps(allowed: [String]?, named: [String]) {
        apps.allowed = allowed.map(Set.init)
        apps.named = Set(named)
    }

    /// When `passed` wants to be sent next; nil: not before another event.
    package var alarm: BootTime? {
        // All else waits.
        if let recovery { return recovery.alarm }
        var first = gateway.alarm
        for alarm in [logAlarm, probeAlarm] {
            if let alarm { first = min(first ?? alarm, alarm) }
        }
        return first
    }

    /// Whether everything so far is kept, and nothing is being read.
    package var isSettled: Bool {
        writing == nil && batch.isEmpty && deferred.isEmpty && !isReading
    }

    package var isWriting: Bool { writing != nil }

    /// New and removed devices that some answer of the store may not know of yet.
    package var rememberedDevices: Int { unwrittenDevices.count + removing.count }

    /// Whether an answer of the store is waited for.
    private var isReading: Bool {
        recovery != nil || !parked.isEmpty || !fetching.isEmpty || !identifying.isEmpty
            || !removals.isEmpty || !lookups.isEmpty || sweeping.isAsking
    }

    // MARK: Events

    package mutating func handle(
        _ event: GatewayEvent,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch event {
        case .answered(let question, let answer) where recovery == nil:
            take(answer, to: question, at: now, into: &actions)
        case .answered(let question, let answer):
            if !recover(question, answer, at: now, into: &actions) { recovery?.held.append(event) }
        case .written(let number, let problem):
            finish(number, problem, at: now, into: &actions)
        case .turnEnded: endTurn(at: now, into: &actions)
        case .ending where recovery == nil: writeAll(into: &actions)
        case .ending: hold(event, at: now, into: &actions)
        case .identify, .enrol, .connected, .link, .push, .broadcast, .createChannel,
            .removeChannel, .removeDevice, .removeApp, .lookUp, .sweep, .passed:
            if recovery == nil {
                act(event, at: now, into: &actions)
            } else {
                hold(event, at: now, into: &actions)
            }
        }
    }

    private mutating func act(
        _ event: GatewayEvent,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch event {
        case .identify(let operation, let key): identify(operation, key, into: &actions)
        case .enrol(let operation, let key): enrol(operation, key, at: now, into: &actions)
        case .connected(let device, let link, let condition):
            meet(.connected(link, condition), of: device, at: now, into: &actions)
        case .link(let link, let event):
            if !parkedLinks.isEmpty, let device = parkedLinks[link] {
                meet(.link(link, event), of: device, at: now, into: &actions)
            } else {
                act(event, of: link, at: now, into: &actions)
            }
        case .push(let push, let call):
            senders.took(call, push.isWebPush ? .webPush : .push, key: push.key)
            meet(.push(push, call), of: push.token.device, at: now, into: &actions)
        case .broadcast(let broadcast, let provider, let call):
            senders.took(call, .broadcast, key: nil)
            if isLeaving(broadcast.channel) {
                return answer(call, .refused(.serviceUnavailable), into: &actions)
            }
            tell(at: now, into: &actions) {
                $0.take(broadcast, from: provider, for: call, at: $1, into: &$2)
            }
        case .createChannel(let id, let bundle, let keepsNewest, let operation):
            create(id, of: bundle, keepsNewest: keepsNewest, operation, at: now, into: &actions)
        case .removeChannel(let id, let operation):
            tell(at: now, into: &actions) { gateway, _, effects in
                gateway.remove(id, into: &effects)
            }
            deferred.append(.channel(operation))
        case .removeDevice(let device, let operation):
            questions += 1
            removals.append(device, operation, questions)
            actions.append(.ask(.isKnown(device)))
        case .removeApp(let bundle, let operation):
            removeApp(bundle, operation, at: now, into: &actions)
        case .lookUp(let question, let call): lookUp(question, call, into: &actions)
        case .sweep: sweep(at: now, into: &actions)
        case .passed: pass(at: now, into: &actions)
        case .answered, .written, .turnEnded, .ending: break
        }
    }

    mutating func act(
        _ event: LinkEvent,
        of link: LinkID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch event {
        case .register(let bundle, let renewing):
            guard let app = app(bundle, for: link, at: now, into: &actions) else { return }
            tell(at: now, into: &actions) {
                $0.register(app, renewing: renewing, over: link, at: $1, into: &$2)
            }
        case .subscribe(let bundle, nil):
            actions.append(.refused(link, bundle: bundle, .badKey))
        case .subscribe(let bundle, let key?):
            guard let app = app(bundle, for: link, at: now, into: &actions) else { return }
            tell(at: now, into: &actions) {
                $0.subscribe(app, key: key, over: link, at: $1, into: &$2)
            }
        case .unregister(let bundle):
            guard let app = apps.number(of: bundle) else {
                // Its removal may not be kept yet.
                return deferred.append(.unregistered(link, bundle: bundle))
            }
            tell(at: now, into: &actions) { $0.unregister(app, over: link, at: $1, into: &$2) }
        case .follow(let channel, _, _) where isLeaving(channel),
            .unfollow(let channel) where isLeaving(channel):
            // In the order in which the device asked.
            deferred.append(.link(link, event))
        case .follow(let channel, let bundle, let last):
            let app = apps.number(of: bundle)
            tell(at: now, into: &actions) {
                $0.follow(channel, of: app, last: last, over: link, at: $1, into: &$2)
            }
        case .unfollow(let channel): gateway.unfollow(channel, over: link)
        case .reported(let left, let app):
            gateway.reported(silentLeft: left, of: app, over: link, at: now)
        case .disconnected, .acknowledged, .refused, .keptAlive, .changed, .opened, .congested:
            tell(at: now, into: &actions) { $0.take(event, of: link, at: $1, into: &$2) }
        }
    }

    mutating func answer(
        _ call: CallID,
        _ answer: Answer,
        into actions: inout [GatewayAction]
    ) {
        senders.answered(call, answer)
        actions.append(.answer(call, answer))
    }

    /// Lets the core see something, and sees to what it says.
    mutating func tell(
        at now: Moment,
        into actions: inout [GatewayAction],
        _ body: (inout Gateway, Moment, inout [GatewayEffect]) -> Void
    ) {
        // Taken out meanwhile: its memory is used again and again.
        var list: [GatewayEffect] = []
        swap(&list, &effects)
        body(&gateway, now, &list)
        for effect in list { perform(effect, at: now, into: &actions) }
        list.removeAll(keepingCapacity: true)
        swap(&list, &effects)
    }
}

extension Gateway {
    /// What links bring that is about nothing but their devices.
    fileprivate mutating func take(
        _ event: LinkEvent,
        of link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        switch event {
        case .disconnected: disconnected(link, at: now, into: &effects)
        case .acknowledged(let id): acknowledged(id, over: link, at: now, into: &effects)
        case .refused(let id): refused(id, over: link, at: now, into: &effects)
        case .keptAlive(let condition): keptAlive(link, condition, at: now, into: &effects)
        case .changed(let condition): changed(link, condition, at: now, into: &effects)
        case .opened(let app): opened(app, over: link, at: now, into: &effects)
        case .congested(let isCongested):
            congested(link, isCongested, at: now, into: &effects)
        case .register, .subscribe, .unregister, .follow, .unfollow, .reported: break
        }
    }
}
