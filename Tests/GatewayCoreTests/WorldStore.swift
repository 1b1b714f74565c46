import GatewayCore
import Vocabulary

/// The store of a simulated gateway: what is on the disk, and what it has not done yet.
struct WorldStore {
    struct Stored {
        var push: Push
        var until: WallTime
    }

    /// Everything that was committed.
    var keys: [[UInt8]: DeviceID] = [:]
    var bundles: [AppNumber: String] = [:]
    var registrations: [SlotKey: Registration] = [:]
    var slots: [SlotKey: Stored] = [:]
    var seen: [DeviceID: WallTime] = [:]
    var channels: [ChannelID: Channel] = [:]
    /// Why the push of a slot was stored, as the log has it.
    var reasons: [PushNumber: StoreReason] = [:]
    var lastPush: UInt64 = 0
    var lastDevice: UInt64 = 0
    private var lastApp: UInt32 = 0
    /// Of each slot of APNs the newest that was ever in it.
    var newest: [SlotKey: PushNumber] = [:]
    /// Of each app on a device all messages of Web Push that were ever kept, with their topics.
    var webPushes: [SlotKey: [PushNumber: [UInt8]]] = [:]
    var webPushKept = 16

    /// A batch is written as a whole, or not at all.
    var isTransactional = true
    /// No batch is taken.
    var isFull = false
    var batch: StoreBatch?
    /// Not answered yet; some as of the moment at which they were asked.
    var questions: [(question: StoreQuestion, answer: StoreAnswer?)] = []
    private(set) var problems: [WorldProblem] = []
    /// What the log says since the gateway was started.
    var rows: [PushNumber: LogRow] = [:]
    private(set) var tally = GatewayCounters()
    /// Devices that were removed since then.
    private(set) var removals: UInt64 = 0

    func bundle(of app: AppNumber) -> String { bundles[app] ?? "a.none" }

    private mutating func report(_ kind: WorldProblem.Kind, _ text: String) {
        problems.append(WorldProblem(kind, text))
    }

    mutating func takeProblems() -> [WorldProblem] {
        defer { problems = [] }
        return problems
    }

    // MARK: Writing

    mutating func commit() {
        guard let batch else { return }
        self.batch = nil
        for change in batch.changes { write(change) }
        log(batch)
    }

    /// The batch fails. A store that has no transactions has written some of its changes by then,
    /// in their order.
    mutating func fail(after count: Int) {
        let counted = removals
        for change in batch?.changes.prefix(count) ?? [] { write(change) }
        (batch, removals) = (nil, counted)
    }

    private mutating func log(_ batch: StoreBatch) {
        batch.log.forEachPush { (number, head, lines) in
            if let head {
                lastPush = max(lastPush, number.number)
                rows[number] = LogRow(number: number, head: head, events: [])
            }
            rows[number]?.events += lines.map(\.entry)
            for line in lines {
                if case .stored(let reason) = line.entry.event { reasons[number] = reason }
                tally.add(line.entry.event)
            }
        }
    }

    private mutating func write(_ change: StoreBatch.Change) {
        switch change {
        case .device(let device, let key, let since):
            if isTransactional, keys[key] != nil {
                report(.deviceTwice, "\(key) became a device twice")
            }
            keys[key] = device
            seen[device] = since
            lastDevice = max(lastDevice, device.number)
        case .seen(let device, let wall): seen[device] = wall
        case .app(let app, let bundle):
            if bundles.contains(where: { $0.value == bundle && $0.key != app }) {
                if isTransactional { report(.appTwice, "\(bundle) has two numbers") }
                bundles = bundles.filter { $0.value != bundle }
            }
            bundles[app] = bundle
            lastApp = max(lastApp, app.number)
        case .removeApp(let app, _, let withRest): remove(app, withRest: withRest)
        case .removeDevice(let device):
            removals += 1
            keys = keys.filter { $0.value != device }
            let isKept =
                registrations.contains { $0.key.device == device && $0.value.isActive }
                || slots.keys.contains { $0.device == device }
            // A batch of which a part was written may leave what expires later.
            if isTransactional, isKept {
                report(.keptForNobody, "something is kept for \(device), which is removed")
            }
        case .registration(let device, let registration):
            registrations[SlotKey(device, registration.app)] = registration
        case .store(let push, let slot, let until):
            if push.expiration == .once { report(.onceStored, "\(push.number) was stored") }
            if let old = slots[slot], old.push.number >= push.number {
                report(.slotBack, "slot of \(push.number) went back from \(old.push.number)")
            }
            slots[slot] = Stored(push: push, until: until)
            lastPush = max(lastPush, push.number.number)
            let app = SlotKey(slot.device, slot.app)
            if (push.type == .webpush) != (slot.place != 0) {
                report(.wrongPlace, "\(push.number) is at place \(slot.place)")
            } else if push.type == .webpush {
                webPushes[app, default: [:]][push.number] = push.collapseID
                checkWebPushes(of: app)
            } else {
                newest[app] = max(newest[app] ?? push.number, push.number)
            }
        case .remove(let slot, let number):
            if slots[slot]?.push.number == number { slots[slot] = nil }
        case .channel(let channel): channels[channel.id] = channel
        case .removeChannel(let id): channels[id] = nil
        case .broadcast(let broadcast):
            if let old = channels[broadcast.channel]?.newest, old.number >= broadcast.number {
                report(.channelBack, "a channel went back from \(old.number)")
            }
            channels[broadcast.channel]?.newest = broadcast
            lastPush = max(lastPush, broadcast.number.number)
        case .probe: break
        }
    }

    private mutating func remove(_ app: AppNumber, withRest: Bool) {
        bundles[app] = nil
        guard withRest else {
            if isUsed(app) { report(.appInUse, "\(app), which is in use, was taken away") }
            return
        }
        registrations = registrations.filter { $0.key.app != app }
        slots = slots.filter { $0.key.app != app }
        if channels.contains(where: { $0.value.app == app }) {
            report(.channelOfNoApp, "a channel of \(app), which is removed, stays")
        }
    }

    private func isUsed(_ app: AppNumber) -> Bool {
        registrations.contains { $0.key.app == app && $0.value.isActive }
            || channels.values.contains { $0.app == app }
    }

    /// What is kept of an app, by place.
    func kept(_ device: DeviceID, _ app: AppNumber) -> [(slot: SlotKey, stored: Stored)] {
        (0...UInt8(webPushKept)).compactMap { place in
            let slot = SlotKey(device, app, place: place)
            return slots[slot].map { (slot, $0) }
        }
    }

    /// Not too many, and no topic twice.
    private mutating func checkWebPushes(of app: SlotKey) {
        let kept = kept(app.device, app.app).filter { $0.slot.place != 0 }.map(\.stored.push)
        let topics = kept.map(\.collapseID).filter { !$0.isEmpty }
        let all = slots.keys.count {
            $0.device == app.device && $0.app == app.app && $0.place != 0
        }
        if all > webPushKept || all != kept.count {
            report(.tooManyWebPushes, "\(all) messages of Web Push are kept for \(app)")
        }
        if Set(topics).count != topics.count { report(.topicTwice, "of \(app)") }
    }

    /// Killed: of a batch on its way so many changes are on the disk; nil: it is, with its log.
    mutating func crash(after count: Int?) {
        if let count { fail(after: count) } else { commit() }
        questions = []
        (tally, removals) = (GatewayCounters(), 0)
    }

    var gateway: StoredGateway {
        StoredGateway(
            lastDevice: lastDevice,
            lastApp: lastApp,
            lastPush: lastPush,
            apps: bundles.map { ($0.key, $0.value) },
            channels: channels.values.sorted { $0.id < $1.id }
        )
    }

    // MARK: Reading

    func answer(_ question: StoreQuestion) -> StoreAnswer {
        switch question {
        case .device(let key): .device(keys[key])
        case .record(let device): .record(record(of: device))
        case .isKnown(let device): .isKnown(keys.values.contains(device))
        case .hasApp(let app, let bundle): .isKnown(bundles[app] == bundle)
        case .push(let slot): .push(slots[slot]?.push)
        case .channels: .channels(channels.values.sorted { $0.id < $1.id })
        case .expired(let wall, let limit):
            .slots(
                slots.filter { $0.value.until <= wall }.map {
                    ExpiredSlot($0.key, $0.value.push.number)
                }
                .sorted { $0.number < $1.number }.prefix(limit).map { $0 }
            )
        case .unseen(let cutoff, let limit):
            .devices(
                keys.values.filter { (seen[$0] ?? cutoff) < cutoff }.sorted().prefix(limit)
                    .map { $0 }
            )
        case .log(let push): .log(rows[push])
        case .unusedApps(let limit):
            .apps(
                bundles.keys.sorted().filter { app in
                    !registrations.contains { $0.key.app == app && $0.value.isActive }
                }
                .prefix(limit).map { $0 }
            )
        }
    }

    private func record(of device: DeviceID) -> StoredDevice {
        let apps = bundles.keys.sorted()
        var record = StoredDevice(
            registrations: apps.compactMap { registrations[SlotKey(device, $0)] },
            stored: apps.flatMap { app in
                kept(device, app).map { slot, stored in
                    StoredDevice.Stored(
                        app: app,
                        place: slot.place,
                        number: stored.push.number,
                        expiration: stored.until,
                        collapse: CollapseKey(
                            stored.push.collapseID,
                            isWebPush: slot.place != 0
                        )
                    )
                }
            },
            seen: seen[device] ?? WallTime(nanoseconds: 0)
        )
        record.isKnown = keys.values.contains(device)
        return record
    }
}

extension GatewayCounters {
    private static let throttling: [StoreReason] = [
        .overBudget, .dailyBudget, .lowBattery, .lowPower,
    ]

    /// What one line of the log adds to them.
    fileprivate mutating func add(_ event: LogEvent) {
        switch event {
        case .stored(let reason):
            stored += 1
            if Self.throttling.contains(reason) { throttled += 1 }
        case .replaced: replaced += 1
        case .expired: expired += 1
        case .dropped(.notStorable(let reason)):
            dropped += 1
            if Self.throttling.contains(reason) { throttled += 1 }
        case .dropped: dropped += 1
        case .delivered: delivered += 1
        case .accepted, .attempted, .sent: break
        }
    }
}

extension GatewayWorld {
    /// The store does one of the things that it was asked to do; false when there is none.
    @discardableResult
    mutating func serveStore(failing mayFail: Bool = true) -> Bool {
        let waiting = store.questions.count + (store.batch == nil ? 0 : 1)
        guard waiting > 0 else { return false }
        let choice = pick(waiting)
        if choice < store.questions.count {
            let (question, answer) = store.questions.remove(at: choice)
            let kind = QuestionKind(question)
            let isUnreadable = mayFail && random.below(kind.odds) == 0
            if isUnreadable {
                count("unreadable")
                count(kind.name)
                troubles += 1
                figures.failures += 1
            }
            // What a device may still get is forgotten with it.
            if isUnreadable, case .record = question { wakes = [:] }
            if isUnreadable, case .push(let slot) = question { unreadable.insert(slot.device) }
            feed(.answered(question, isUnreadable ? .failed : answer ?? store.answer(question)))
        } else if let batch = store.batch {
            finish(batch, failing: mayFail && (store.isFull || random.below(40) == 0))
        }
        return true
    }

    private mutating func finish(_ batch: StoreBatch, failing: Bool) {
        guard failing else {
            store.commit()
            problems += store.takeProblems()
            return feed(.written(batch.number, problem: nil))
        }
        count("failures")
        for change in batch.changes { count(ChangeKind(change).name) }
        troubles += 1
        figures.failures += 1
        store.fail(after: store.isTransactional ? 0 : pick(batch.changes.count + 1))
        problems += store.takeProblems()
        // What was superseded is there again.
        for index in devices.indices {
            (devices[index].shown, devices[index].order) = ([:], [:])
        }
        feed(.written(batch.number, problem: "the disk is full"))
    }
}
