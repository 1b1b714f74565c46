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
    /// Why the push of a slot was stored, as the log has it.
    var reasons: [PushNumber: StoreReason] = [:]
    var lastPush: UInt64 = 0
    var lastDevice: UInt64 = 0
    /// Of each slot the newest that was ever in it.
    var newest: [SlotKey: PushNumber] = [:]

    /// No batch is taken.
    var isFull = false
    var batch: StoreBatch?
    /// Not answered yet; some as of the moment at which they were asked.
    var questions: [(question: StoreQuestion, answer: StoreAnswer?)] = []
    private(set) var problems: [String] = []

    func bundle(of app: AppNumber) -> String { bundles[app] ?? "a.none" }

    mutating func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    // MARK: Writing

    mutating func commit() {
        guard let batch else { return }
        self.batch = nil
        for change in batch.changes { write(change) }
        batch.log.forEachPush { (number, head, lines) in
            if head != nil { lastPush = max(lastPush, number.number) }
            for line in lines {
                if case .stored(let reason) = line.entry.event { reasons[number] = reason }
            }
        }
    }

    private mutating func write(_ change: StoreBatch.Change) {
        switch change {
        case .device(let device, let key, let since):
            if keys[key] != nil { problems.append("\(key) became a device twice") }
            keys[key] = device
            seen[device] = since
            lastDevice = max(lastDevice, device.number)
        case .seen(let device, let wall): seen[device] = wall
        case .app(let app, let bundle): bundles[app] = bundle
        case .removeApp(let app, _, _): bundles[app] = nil
        case .removeDevice(let device):
            for (key, other) in keys.sorted(by: { $0.value < $1.value }) where other == device {
                keys[key] = nil
            }
        case .registration(let device, let registration):
            registrations[SlotKey(device, registration.app)] = registration
        case .store(let push, let until):
            if push.expiration == .once { problems.append("\(push.number) was stored") }
            if let old = slots[push.slot], old.push.number >= push.number {
                problems.append("slot of \(push.number) went back from \(old.push.number)")
            }
            newest[push.slot] = max(newest[push.slot] ?? push.number, push.number)
            slots[push.slot] = Stored(push: push, until: until)
        case .remove(let slot, let number):
            if slots[slot]?.push.number == number { slots[slot] = nil }
        case .probe, .channel, .removeChannel, .broadcast: break
        }
    }

    mutating func crash(keeping: Bool) {
        if keeping { commit() }
        batch = nil
        questions = []
    }

    var gateway: StoredGateway {
        StoredGateway(
            lastDevice: lastDevice,
            lastApp: bundles.keys.map(\.number).max() ?? 0,
            lastPush: lastPush,
            apps: bundles.map { ($0.key, $0.value) }
        )
    }

    // MARK: Reading

    func answer(_ question: StoreQuestion) -> StoreAnswer {
        switch question {
        case .device(let key): .device(keys[key])
        case .record(let device): .record(record(of: device))
        case .isKnown(let device): .isKnown(keys.values.contains(device))
        case .push(let slot): .push(slots[slot]?.push)
        case .channels: .channels([])
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
        case .unusedApps: .apps([])
        }
    }

    private func record(of device: DeviceID) -> StoredDevice {
        let apps = bundles.keys.sorted()
        return StoredDevice(
            registrations: apps.compactMap { registrations[SlotKey(device, $0)] },
            stored: apps.compactMap { app in
                slots[SlotKey(device, app)].map {
                    StoredDevice.Stored(
                        app: app,
                        number: $0.push.number,
                        expiration: $0.until,
                        collapse: CollapseKey($0.push.collapseID)
                    )
                }
            },
            seen: seen[device] ?? WallTime(nanoseconds: 0)
        )
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
            let isUnreadable = mayFail && random.below(60) == 0
            if isUnreadable { count("unreadable") }
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
        store.batch = nil
        // What was superseded is there again.
        for index in devices.indices {
            (devices[index].shown, devices[index].order) = ([:], [:])
        }
        feed(.written(batch.number, problem: "the disk is full"))
    }
}
