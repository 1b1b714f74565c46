import GatewayCore
import Vocabulary

/// A gateway among devices that come and go, a disk that forgets what was not committed, and
/// acknowledgements that arrive late, in any order, or never. Everything from one seed; what must
/// hold is checked as it happens, and `problems` says what did not.
struct GatewayWorld {
    private struct Device {
        var link: LinkID?
        /// On their way there and back, over the present link.
        var sendings: [Sending] = []
        var acknowledgements: [SendingID] = []
        var received: Set<PushNumber> = []
        /// What went over the present link, and how much of it the gateway knows to have arrived.
        var sent: Set<PushNumber> = []
        var sentCount = 0
        var acknowledgedCount = 0
        var isCongested = false
        /// The newest that the gateway knows it to have, by app and collapse identifier.
        var shown: [String: PushNumber] = [:]
        /// Up to which they may have given way to a newer one.
        var replaced: [String: PushNumber] = [:]

        mutating func forgetLink() {
            (sendings, acknowledgements, sent) = ([], [], [])
            (sentCount, acknowledgedCount, isCongested) = (0, 0, false)
        }
    }

    private struct Stored {
        var push: Push
        var until: WallTime
    }

    private(set) var problems: [String] = []
    /// What happened, so that a test can see that something did.
    private(set) var counts: [String: Int] = [:]

    private var random: SeededRandom
    private var gateway: Gateway
    private let limits: GatewayLimits
    private var reasons: [PushNumber: StoreReason] = [:]
    private var now: Moment
    private var devices: [Device]
    private let apps = [AppNumber(1), AppNumber(2), AppNumber(3)]
    // The disk, and what is not on it yet.
    private var slots: [SlotKey: Stored] = [:]
    private var registrations: [SlotKey: Registration] = [:]
    private var seen: [DeviceID: WallTime] = [:]
    private var pending: [GatewayEffect] = []
    private var waiting: [(CallID, PushNumber)] = []
    private var writtenAt: [SlotKey: PushNumber] = [:]
    // What providers know.
    private var calls: [CallID: Push] = [:]
    private var answered: [Push] = []
    private var expirations: [PushNumber: WallTime] = [:]
    private var renewed: [SlotKey: PushNumber] = [:]
    private var newest: [SlotKey: PushNumber] = [:]
    private var wakes: [SlotKey: [BootTime]] = [:]
    private var sentPushes: [SendingID: Push] = [:]
    private var lastCall: UInt64 = 0
    private var lastLink: UInt64 = 0
    private var lastPush: UInt64 = 0

    init(seed: UInt64, devices count: Int) {
        random = SeededRandom(seed: seed)
        var limits = GatewayLimits()
        // Small, so that it is reached.
        limits.unacknowledged = 4
        self.limits = limits
        gateway = Gateway(limits, lastPush: 0)
        now = Moment(
            boot: BootTime(nanoseconds: 1),
            awake: AwakeTime(nanoseconds: 1),
            wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
            utcOffset: 0
        )
        devices = Array(repeating: Device(), count: count)
        for index in 0..<count {
            for app in apps {
                registrations[SlotKey(DeviceID(UInt64(index)), app)] = Registration(
                    app: app,
                    generation: 1,
                    isActive: true
                )
            }
        }
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps { step() }
        settle()
        check()
    }

    private mutating func step() {
        defer { checkWaiting() }
        let index = Int(random.below(UInt64(devices.count)))
        switch random.below(100) {
        case 0..<35: push(to: index)
        case 35..<55: arrive(at: index)
        case 55..<72: acknowledge(from: index)
        case 72..<78: commit()
        case 78..<83: connect(index)
        case 83..<86: disconnect(index)
        case 86..<94: pass()
        case 94..<96: keepAlive(index)
        case 96..<97: congest(index)
        case 97..<98: renew(index)
        case 98..<99: failCommit()
        default: if random.below(10) == 0 { crash() }
        }
    }

    private mutating func settle() {
        commit()
        now.boot = now.boot + .seconds(10)
        now.wall = now.wall + .seconds(10)
        event { $0.passed($1, into: &$2) }
        commit()
    }

    // MARK: Events

    private mutating func event(
        _ body: (inout Gateway, Moment, inout [GatewayEffect]) -> Void
    ) {
        var effects: [GatewayEffect] = []
        body(&gateway, now, &effects)
        for effect in effects { perform(effect) }
    }

    private mutating func load(_ index: Int) {
        let device = DeviceID(UInt64(index))
        guard gateway.needs(device) else { return }
        gateway.load(device, record(of: device))
    }

    private func record(of device: DeviceID) -> StoredDevice {
        StoredDevice(
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

    private mutating func push(to index: Int) {
        load(index)
        let app = apps[Int(random.below(3))]
        let key = SlotKey(DeviceID(UInt64(index)), app)
        let isSilent = random.below(3) == 0
        let expiration: PushExpiration =
            switch random.below(5) {
            case 0: .once
            case 1: .until(now.wall + .seconds(Int64(random.below(600))))
            default: .until(now.wall + .days(40))
            }
        let number = gateway.takeNumber(at: now)
        if number.number <= lastPush { problems.append("\(number) was given twice") }
        lastPush = number.number
        let push = Push(
            number: number,
            device: key.device,
            app: app,
            type: isSilent ? .background : .alert,
            priority: random.below(8) == 0 ? .passive : isSilent ? .considerate : .immediate,
            expiration: expiration,
            collapseID: random.below(2) == 0 ? [] : [UInt8(random.below(2))],
            isSilent: isSilent,
            payload: []
        )
        lastCall += 1
        let call = CallID(lastCall)
        calls[call] = push
        let acceptance = Acceptance(apnsID: PushUUID(high: 0, low: number.number), provider: "K")
        count("pushes")
        event { $0.take(push, acceptance, for: call, at: $1, into: &$2) }
    }

    private mutating func arrive(at index: Int) {
        guard !devices[index].sendings.isEmpty else { return }
        let place = Int(random.below(UInt64(devices[index].sendings.count)))
        let sending = devices[index].sendings.remove(at: place)
        devices[index].received.insert(sending.push.number)
        replace(by: sending.push)
        devices[index].acknowledgements.append(sending.id)
        count("arrivals")
    }

    private mutating func acknowledge(from index: Int) {
        guard let link = devices[index].link, !devices[index].acknowledgements.isEmpty else {
            return
        }
        let place = Int(random.below(UInt64(devices[index].acknowledgements.count)))
        let id = devices[index].acknowledgements.remove(at: place)
        devices[index].acknowledgedCount += 1
        if let push = sentPushes[id], !push.collapseID.isEmpty {
            let shown = devices[index].shown[Self.kind(push)] ?? push.number
            devices[index].shown[Self.kind(push)] = max(shown, push.number)
        }
        event { $0.acknowledged(id, over: link, at: $1, into: &$2) }
    }

    private mutating func connect(_ index: Int) {
        load(index)
        lastLink += 1
        let link = LinkID(lastLink)
        devices[index].link = link
        devices[index].forgetLink()
        let isOnMains = random.below(2) == 0
        let condition = DeviceCondition(batteryPercent: 50, isOnMains: isOnMains)
        event { $0.connected(DeviceID(UInt64(index)), link, condition, at: $1, into: &$2) }
    }

    private mutating func disconnect(_ index: Int) {
        guard let link = devices[index].link else { return }
        devices[index].link = nil
        devices[index].sendings = []
        devices[index].acknowledgements = []
        event { $0.disconnected(link, at: $1, into: &$2) }
    }

    private mutating func pass() {
        let span = Interval.milliseconds(Int64(random.below(120_000)))
        now.boot = now.boot + span
        now.awake = now.awake + span
        now.wall = now.wall + span
        event { $0.passed($1, into: &$2) }
    }

    private mutating func keepAlive(_ index: Int) {
        guard let link = devices[index].link else { return }
        event { $0.keptAlive(link, nil, at: $1, into: &$2) }
    }

    private mutating func congest(_ index: Int) {
        guard let link = devices[index].link else { return }
        let isOn = random.below(2) == 0
        devices[index].isCongested = isOn
        event { $0.congested(link, isOn, at: $1, into: &$2) }
    }

    private mutating func renew(_ index: Int) {
        guard let link = devices[index].link else { return }
        let app = apps[Int(random.below(3))]
        renewed[SlotKey(DeviceID(UInt64(index)), app)] = PushNumber(lastPush)
        event { $0.register(app, renewing: true, over: link, at: $1, into: &$2) }
        count("renewals")
    }

    // MARK: The disk

    private mutating func commit() {
        let batch = gateway.closeBatch()
        for effect in pending { write(effect) }
        pending = []
        gateway.committed(batch)
        let answers = waiting
        waiting = []
        for (call, number) in answers { answer(call, number) }
    }

    private mutating func write(_ effect: GatewayEffect) {
        switch effect {
        case .store(let push, let until):
            if let old = slots[push.slot], old.push.number >= push.number {
                problems.append("slot of \(push.number) went back from \(old.push.number)")
            }
            slots[push.slot] = Stored(push: push, until: until)
            writtenAt[push.slot] = push.number
        case .remove(let key, let number):
            if slots[key]?.push.number == number { slots[key] = nil }
        case .save(let device, let registration):
            registrations[SlotKey(device, registration.app)] = registration
        case .saw(let device, let wall): seen[device] = wall
        default: break
        }
    }

    private mutating func failCommit() {
        count("failures")
        // What was superseded is there again.
        for index in devices.indices { devices[index].shown = [:] }
        _ = gateway.closeBatch()
        pending = []
        for (call, _) in waiting { calls[call] = nil }
        waiting = []
        let records = devices.indices.map {
            (DeviceID(UInt64($0)), record(of: DeviceID(UInt64($0))))
        }
        event { $0.failed(records, at: $1, into: &$2) }
    }

    private mutating func crash() {
        count("crashes")
        pending = []
        waiting = []
        calls = [:]
        wakes = [:]
        for index in devices.indices {
            devices[index].link = nil
            devices[index].forgetLink()
            devices[index].shown = [:]
        }
        let known = slots.values.map(\.push.number.number).max() ?? 0
        now.boot = now.boot + .seconds(1)
        now.wall = now.wall + .seconds(1)
        sentPushes = [:]
        gateway = Gateway(limits, lastPush: known)
    }

    // MARK: Effects

    private mutating func perform(_ effect: GatewayEffect) {
        switch effect {
        case .store(let push, _):
            if push.expiration == .once { problems.append("\(push.number) was stored") }
            if let last = newest[push.slot], last >= push.number {
                problems.append("\(push.number) was stored over \(last)")
            }
            pending.append(effect)
        case .remove, .save, .saw: pending.append(effect)
        case .log(let push, .stored(let reason), _, _): reasons[push.number] = reason
        case .log, .logNumber, .logBroadcast, .registered, .subscribed, .unregistered,
            .saveChannel, .removeChannel, .keepBroadcast, .broadcast, .follows:
            break
        case .send(let link, let sending): send(sending, over: link)
        case .sendStored(let link, let id, let key, let number, let isRider):
            let found =
                pending.reversed().lazy.compactMap { effect -> Push? in
                    if case .store(let push, _) = effect, push.slot == key { push } else { nil }
                }.first ?? slots[key]?.push
            guard let found, found.number == number else {
                problems.append("\(number) is not in its slot")
                return
            }
            send(Sending(id: id, push: found, isRider: isRider), over: link)
        case .answer(let call, .accepted(let number), let afterCommit):
            if afterCommit { waiting.append((call, number)) } else { answer(call, number) }
        case .answer(let call, .refused, _): calls[call] = nil
        case .end(let link, _):
            for index in devices.indices where devices[index].link == link {
                devices[index].link = nil
            }
        }
    }

    private mutating func send(_ sending: Sending, over link: LinkID) {
        let push = sending.push
        if push.isExpired(at: now.wall) { problems.append("\(push.number) was sent expired") }
        if push.isSilent, !sending.isRider { wake(push.slot) }
        let index = Int(push.device.number)
        // A link that ended takes nothing.
        guard devices[index].link == link else { return }
        devices[index].sendings.append(sending)
        devices[index].sent.insert(push.number)
        devices[index].sentCount += 1
        sentPushes[sending.id] = push
        if push.expiration == .once { replace(by: push) }
        if let shown = devices[index].shown[Self.kind(push)], shown > push.number {
            problems.append("\(push.number) was sent to take the place of \(shown)")
        }
    }

    /// The device has it, or it was tried once: what it collapses with may go.
    private mutating func replace(by push: Push) {
        guard !push.collapseID.isEmpty else { return }
        let index = Int(push.device.number)
        let last = devices[index].replaced[Self.kind(push)] ?? push.number
        devices[index].replaced[Self.kind(push)] = max(last, push.number)
    }

    private static func kind(_ push: Push) -> String {
        push.collapseID.isEmpty ? "" : "\(push.app.number) \(push.collapseID)"
    }

    /// No window holds more than the bucket allows.
    private mutating func wake(_ key: SlotKey) {
        count("wakes")
        var times = wakes[key] ?? []
        times.append(now.boot)
        for (place, first) in times.enumerated() {
            let passed = (now.boot - first).nanoseconds / limits.silentRefill.nanoseconds
            if times.count - place > limits.silentBurst + Int(passed) {
                problems.append("too many silent pushes for \(key)")
                break
            }
        }
        wakes[key] = times
    }

    private mutating func answer(_ call: CallID, _ number: PushNumber) {
        guard let push = calls.removeValue(forKey: call) else {
            problems.append("\(number) was answered twice, or after its commit failed")
            return
        }
        answered.append(push)
    }

    // MARK: What must hold

    /// Each push that was answered 200 is with the device, in its slot, or gave way for a reason.
    private mutating func check() {
        var newestAnswered: [SlotKey: PushNumber] = [:]
        for push in answered {
            newestAnswered[push.slot] = max(newestAnswered[push.slot] ?? push.number, push.number)
        }
        for push in answered {
            let device = devices[Int(push.device.number)]
            if device.received.contains(push.number) || push.expiration == .once { continue }
            if slots[push.slot]?.push.number == push.number { continue }
            if let last = device.replaced[Self.kind(push)], last > push.number { continue }
            if push.isExpired(at: now.wall) { continue }
            if let number = renewed[push.slot], push.number <= number { continue }
            // A newer one was in the slot: it was stored, whatever became of it since.
            if let last = writtenAt[push.slot], last > push.number { continue }
            problems.append("\(push.number) was answered 200 and is lost")
        }
        counts["answered"] = answered.count
        if !calls.isEmpty { problems.append("\(calls.count) providers wait for ever") }
    }

    /// Nothing waits in a slot for a device that is there, has room, and may be woken.
    private mutating func checkWaiting() {
        for (index, device) in devices.enumerated() {
            guard device.link != nil, !device.isCongested,
                device.sentCount - device.acknowledgedCount < limits.unacknowledged
            else { continue }
            for app in apps {
                let key = SlotKey(DeviceID(UInt64(index)), app)
                guard let push = inSlot(key), !device.sent.contains(push.number),
                    reasons[push.number] == .busy, !push.isExpired(at: now.wall),
                    !isSuperseded(push, at: device)
                else { continue }
                problems.append("\(push.number) waits, though device \(index) could have it")
            }
        }
    }

    /// A newer one of its kind went over this link.
    private func isSuperseded(_ push: Push, at device: Device) -> Bool {
        guard !push.collapseID.isEmpty else { return false }
        return device.sent.contains { $0 > push.number }
    }

    /// What is in a slot once all is written.
    private func inSlot(_ key: SlotKey) -> Push? {
        for effect in pending.reversed() {
            switch effect {
            case .store(let push, _) where push.slot == key: return push
            case .remove(key, _): return nil
            default: continue
            }
        }
        return slots[key]?.push
    }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }
}
