package import EventLoop
package import GatewayCore
import Linux
import TLS
package import Vocabulary

/// One gateway on one thread: feeds its core with what links and providers bring, keeps what must
/// be kept, and passes on what the core says. It decides nothing.
///
/// Everything happens in turns of the loop; after each the owner calls `endTurn`, which writes
/// what changed. Answers that promise something wait for that.
package final class GatewayNode {
    package let loop: EventLoop
    package let seal: SyntheticTokens
    /// Part of each `apns-unique-id`; the same for as long as the file lives.
    package let identity: UInt64
    package internal(set) var gateway: Gateway
    package internal(set) var apps: BundleTable
    // Not weak: that would slow down each use of the objects behind.
    package unowned var links: (any DeviceLinks)?
    package unowned var senders: (any PushSenders)?
    package internal(set) var failures: UInt64 = 0
    /// Devices that were taken for gone.
    package internal(set) var expiredDevices: UInt64 = 0
    /// Where senders of Web Push find it: the beginning of subscriptions' addresses.
    package var origin = "https://localhost"

    let storage: SQLiteStorage
    var batch = StoreBatch()
    var deferred: [Deferred] = []
    /// Written at this moment.
    var writing: [Writing] = []
    /// Devices whose removal is not on the disk yet.
    var removing: Set<DeviceID> = []
    /// Apps of batches that could not be written: the next takes them along.
    var lostApps: [AppNumber] = []
    /// Why the newest write failed; nil: it did not. Told when it begins and when it is over.
    package private(set) var storeProblem: String?
    package var storeChanged: (String?) -> Void = { _ in }
    /// Pushes of slots that are not in the file yet.
    var unwritten: [SlotKey: Push] = [:]
    var unwrittenDevices: [[UInt8]: DeviceID] = [:]
    private var lastDevice: UInt64
    private var deviceExpiry = DeviceExpiry()
    let lastRestored: DeviceID
    private var effects: [GatewayEffect] = []
    private var turnTime: Moment?
    private var timer: TimerSource?
    private var armedAt: BootTime?
    private var logTimer: TimerSource?
    private var isLogTimerArmed = false
    private var storeSource: DescriptorSource?

    /// A batch on its way to the disk: its number, who waits for it, and whom it is about.
    struct Writing {
        var number: UInt64
        var deferred: [Deferred]
        var devices: [DeviceID] = []
        var apps: [AppNumber] = []
        var newApps: [AppNumber] = []
        /// Those that the operator took away.
        var removedApps: [(AppNumber, bundle: String)] = []

        mutating func include(_ change: StoreBatch.Change) {
            switch change {
            case .device, .channel, .removeChannel, .broadcast, .probe: break
            case .app(let app, _): newApps.append(app)
            case .removeApp(let app, let bundle, _): removedApps.append((app, bundle))
            case .registration(let device, let registration):
                devices.append(device)
                apps.append(registration.app)
            case .store(let push, _): devices.append(push.device)
            case .remove(let slot, _): devices.append(slot.device)
            case .removeDevice(let device), .seen(let device, _): devices.append(device)
            }
        }
    }

    /// What waits for the disk.
    enum Deferred {
        case answer(CallID, Answer)
        case registered(LinkID, AppNumber, DeviceToken?)
        case subscribed(LinkID, AppNumber, DeviceToken?, key: [UInt8])
        /// By name: the app may be gone when this is told.
        case unregistered(LinkID, bundle: String)
        case done((Reason?) -> Void)
        case identified(DeviceID, (DeviceID?) -> Void)
    }

    /// Lines of the log that are not about something else that is written may wait as long.
    static let logDelay = Interval.milliseconds(400)
    static let logLimit = 10_000

    package init(
        _ loop: EventLoop,
        _ storage: SQLiteStorage,
        _ limits: GatewayLimits,
        seal: SyntheticTokens,
        identity: UInt64
    ) throws(StorageError) {
        (self.loop, self.storage) = (loop, storage)
        (self.seal, self.identity) = (seal, identity)
        let largest = try storage.reader.largestNumbers()
        lastDevice = largest.device
        lastRestored = try storage.reader.lastRestored()
        gateway = Gateway(limits, lastPush: largest.push)
        apps = BundleTable(try storage.reader.apps(), last: largest.app, limits)
        gateway.load(try storage.channels())
        do throws(LinuxError) {
            timer = try TimerSource(loop) { [unowned self] in
                armedAt = nil
                event { $0.passed($1, into: &$2) }
            }
            logTimer = try TimerSource(loop) { [unowned self] in
                isLogTimerArmed = false
                if writing.isEmpty { write() }
            }
            storeSource = try DescriptorSource(loop, storage.descriptor, .readable) {
                [unowned self] _ in finishWrites()
            }
        } catch {
            throw StorageError("\(error)")
        }
    }

    /// Lets the core see an event, and does what it says.
    func event(_ body: (inout Gateway, Moment, inout [GatewayEffect]) -> Void) {
        // Effects may bring further events (a link that ends): each has its own list.
        var list: [GatewayEffect] = []
        swap(&list, &effects)
        body(&gateway, now, &list)
        let alarm = look { $0.alarm }
        for effect in list { perform(effect) }
        list.removeAll(keepingCapacity: true)
        effects = list
        // One that comes too early is harmless; one a turn would cost more.
        guard let alarm, armedAt == nil else { return }
        armedAt = alarm
        try? timer?.arm(at: alarm)
    }

    /// Asks the core; reading the property itself would copy it.
    func look<Answer>(_ question: (inout Gateway) -> Answer) -> Answer { question(&gateway) }

    /// What the store knows of the device, if it is not known here. False: it could not be asked.
    func load(_ device: DeviceID) -> Bool {
        guard look({ $0.needs(device) }) else { return true }
        do throws(StorageError) {
            gateway.load(device, try storage.record(of: device))
            return true
        } catch {
            failures += 1
            return false
        }
    }

    func takeDevice() -> DeviceID {
        lastDevice += 1
        return DeviceID(lastDevice)
    }

    /// The time of this turn: of the first moment at which somebody asks.
    var now: Moment {
        if let turnTime { return turnTime }
        let now = Clocks.now()
        turnTime = now
        return now
    }

    // MARK: Effects

    private func perform(_ effect: GatewayEffect) {
        switch effect {
        case .store(let push, let expiration):
            unwritten[push.slot] = push
            batch.changes.append(.store(push, expiration: expiration))
        case .remove(let slot, let number):
            if unwritten[slot]?.number == number { unwritten[slot] = nil }
            batch.changes.append(.remove(slot, number))
        case .save(let device, let registration):
            batch.changes.append(.registration(device, registration))
        case .saw(let device, let wall): batch.changes.append(.seen(device, wall))
        case .saveChannel(let channel): batch.changes.append(.channel(channel))
        case .removeChannel(let id): batch.changes.append(.removeChannel(id))
        case .keepBroadcast(let broadcast): batch.changes.append(.broadcast(broadcast))
        case .log(let push, let event, let wall, let acceptance):
            if let acceptance { batch.log.accepted(push, acceptance) }
            batch.log.add(push.number, event, at: wall)
        case .logNumber(let number, let event, let wall):
            batch.log.add(number, event, at: wall)
        case .logBroadcast(let broadcast, let app, let event, let wall, let provider):
            batch.log.accepted(broadcast, of: app, from: provider)
            batch.log.add(broadcast.number, .accepted, at: wall)
            batch.log.add(broadcast.number, event, at: wall)
        case .send(let link, let sending): links?.send(sending, over: link)
        case .sendStored(let link, let id, let slot, let number, let isRider):
            sendStored(link, id, slot, number, isRider)
        case .answer(let call, let answer, let afterCommit):
            if afterCommit {
                deferred.append(.answer(call, answer))
            } else {
                senders?.answer(call, answer)
            }
        case .registered(let link, let app, let token):
            deferred.append(.registered(link, app, token))
        case .subscribed(let link, let app, let token, let key):
            deferred.append(.subscribed(link, app, token, key: key))
        case .unregistered(let link, let app):
            if let bundle = apps.bundle(of: app) {
                deferred.append(.unregistered(link, bundle: bundle))
            }
        case .broadcast(let link, let broadcast): links?.send(broadcast, over: link)
        case .follows(let link, let channel, let why):
            links?.follows(channel, why, over: link)
        case .end(let link, let why): links?.end(link, why)
        }
    }

    private func sendStored(
        _ link: LinkID,
        _ id: SendingID,
        _ slot: SlotKey,
        _ number: PushNumber,
        _ isRider: Bool
    ) {
        var push = unwritten[slot]
        if push == nil {
            do throws(StorageError) {
                push = try storage.push(in: slot)
            } catch {
                failures += 1
            }
        }
        guard let push, push.number == number else { return gateway.notSent(id, over: link) }
        links?.send(Sending(id: id, push: push, isRider: isRider), over: link)
    }

    // MARK: Turns

    /// Writes what changed, if somebody waits for it. To be called after each turn of the loop.
    package func endTurn() {
        turnTime = nil
        if !batch.changes.isEmpty || !deferred.isEmpty {
            // One batch at a time: what comes meanwhile goes together into the next.
            if writing.isEmpty { write() }
        } else if batch.log.count >= Self.logLimit, writing.isEmpty {
            write()
        } else if !batch.log.isEmpty, !isLogTimerArmed {
            isLogTimerArmed = true
            try? logTimer?.arm(at: Clocks.now().boot + Self.logDelay)
        }
    }

    private func write() {
        guard !batch.isEmpty || !deferred.isEmpty else { return }
        let lost = lostApps.compactMap { app in
            apps.bundle(of: app).map { StoreBatch.Change.app(app, bundle: $0) }
        }
        batch.changes.insert(contentsOf: lost, at: 0)
        lostApps = []
        batch.number = gateway.closeBatch()
        var own = Writing(number: batch.number, deferred: deferred)
        for change in batch.changes { own.include(change) }
        writing.append(own)
        deferred = []
        storage.write(batch)
        batch = StoreBatch()
    }

    private func finishWrites() {
        for (number, error) in storage.completions() {
            guard let index = writing.firstIndex(where: { $0.number == number }) else { continue }
            let own = writing.remove(at: index)
            recordOutcome(error)
            if error == nil {
                gateway.committed(number)
                forgetWritten()
                for item in own.deferred { finish(item) }
            } else {
                fail(own)
            }
        }
    }

    private func recordOutcome(_ error: StorageError?) {
        let wasWell = storeProblem == nil
        storeProblem = error?.description
        if wasWell != (error == nil) { storeChanged(storeProblem) }
    }

    /// Writes something, to know whether that works again.
    package func probe() { batch.changes.append(.probe) }

    /// What is in the file need not be kept here, unless it changed again since.
    private func forgetWritten() {
        removing.removeAll()
        for change in batch.changes {
            if case .removeDevice(let device) = change { removing.insert(device) }
        }
        guard !unwritten.isEmpty || !unwrittenDevices.isEmpty else { return }
        unwritten.removeAll(keepingCapacity: true)
        for change in batch.changes {
            if case .store(let push, _) = change { unwritten[push.slot] = push }
            if case .remove(let slot, let number) = change, unwritten[slot]?.number == number {
                unwritten[slot] = nil
            }
        }
        unwrittenDevices.removeAll()
        for change in batch.changes {
            if case .device(let device, let key, _) = change { unwrittenDevices[key] = device }
        }
    }

    private func finish(_ item: Deferred) {
        switch item {
        case .answer(let call, let answer): senders?.answer(call, answer)
        case .registered(let link, let app, let token):
            guard let bundle = apps.bundle(of: app) else { return }
            guard let token else { return links?.refused(bundle, .tooMany, over: link) ?? () }
            links?.registered(bundle, token: seal.seal(token.bytes), over: link)
        case .subscribed(let link, let app, let token, let key):
            guard let bundle = apps.bundle(of: app) else { return }
            guard let token else { return links?.refused(bundle, .tooMany, over: link) ?? () }
            let address = endpoint(token, key: key)
            links?.subscribed(bundle, key: key, endpoint: address, over: link)
        case .unregistered(let link, let bundle): links?.unregistered(bundle, over: link)
        case .done(let completion): completion(nil)
        case .identified(let device, let completion): completion(device)
        }
    }

    /// Nothing of the batch is on the disk, and nobody may be told that it is. Changes gathered
    /// since then build on it and are given up too.
    private func fail(_ written: Writing) {
        failures += 1
        var lost = written
        for change in batch.changes { lost.include(change) }
        lost.deferred += deferred
        (batch, deferred) = (StoreBatch(), [])
        for (app, bundle) in lost.removedApps { apps.restore(app, bundle) }
        lostApps += lost.newApps
        // The core no longer knows which devices had a removed app: all are read again.
        let devices = lost.removedApps.isEmpty ? lost.devices : look { $0.knownDevices }
        var records: [(DeviceID, StoredDevice)] = []
        for device in Set(devices).sorted() {
            guard let record = try? storage.record(of: device) else { continue }
            records.append((device, record))
        }
        forgetWritten()
        event { $0.failed(records, at: $1, into: &$2) }
        if let channels = try? storage.channels() { gateway.load(channels) }
        for item in lost.deferred {
            switch item {
            case .answer(let call, _): senders?.answer(call, .refused(.serviceUnavailable))
            case .registered(let link, let app, _), .subscribed(let link, let app, _, _):
                guard let bundle = apps.bundle(of: app) else { continue }
                links?.refused(bundle, .unavailable, over: link)
            case .unregistered(let link, let bundle):
                links?.refused(bundle, .unavailable, over: link)
            case .done(let completion): completion(.serviceUnavailable)
            case .identified(_, let completion): completion(nil)
            }
        }
    }

    /// Whether everything so far is on the disk.
    package var isSettled: Bool { writing.isEmpty && batch.isEmpty && deferred.isEmpty }

    /// Writes the rest and waits for it: the last thing before the end.
    package func settle() {
        while !isSettled {
            // One batch at a time: a later one may build on an earlier one.
            if writing.isEmpty { write() }
            while !writing.isEmpty {
                _ = Poll.ready(storage.descriptor, for: .readable, milliseconds: -1)
                finishWrites()
            }
        }
    }

    /// Removes what expired, and what the log need not know any more.
    package func sweep(keepingLogFor span: Interval) {
        let now = Clocks.now().wall
        reclaimApps()
        expire()
        if let cutoff = deviceExpiry.cutoff(at: Clocks.now(), gateway.limits) {
            removeDevices(unseenSince: cutoff)
        }
        let oldest = (now - span).nanoseconds / 1000
        storage.sweep(oldestLog: PushNumber(UInt64(max(0, oldest))))
    }

    /// A piece at a time, so that nobody waits long; the next one when this is on the disk.
    private func expire() {
        let piece = 100
        guard let expired = try? storage.reader.expired(by: now.wall, limit: piece),
            !expired.isEmpty
        else { return }
        var failed = 0
        for (slot, number) in expired {
            if load(slot.device) {
                event { $0.expire(slot, number, at: $1, into: &$2) }
            } else {
                failed += 1
            }
        }
        // What could not be read is tried again with the next sweep.
        guard expired.count == piece, failed == 0 else { return }
        deferred.append(.done { [weak self] problem in if problem == nil { self?.expire() } })
    }
}
