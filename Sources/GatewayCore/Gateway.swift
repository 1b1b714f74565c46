package import Vocabulary

/// The gateway as a pure machine: it takes events and the time, and says what must be done.
///
/// It knows the devices that are connected or were asked about; of any other it must be told what
/// is kept (`needs`, `load`) before an event about it.
///
/// What it promises to providers with a 200: the push is kept, or was delivered and acknowledged,
/// or (expiration 0) tried once. What it promises to devices: of the pushes for an app that could
/// not be delivered the newest is kept until it expires or is acknowledged.
package struct Gateway: Sendable {
    package var limits: GatewayLimits
    package internal(set) var counters = GatewayCounters()
    /// From the acceptance of a push that was sent at once to its acknowledgement.
    package internal(set) var deliveryTimes = LatencyHistogram()
    /// What is counted once the batch that is being filled is on the disk.
    var filling = GatewayCounters()
    /// The same for the batch that is being written.
    private var closing = GatewayCounters()

    var devices = DeviceTable()
    /// By number, which is quicker to find than the type that tells what it is.
    private var linked: [UInt64: DeviceID] = [:]
    /// Those that wait for an acknowledgement, with the instant at which it is too late.
    var deadlines = Queue<Deadline>()
    /// Devices that were away when looked at, the first to be forgotten in front.
    var idle = Queue<DeviceID>()
    var channels = ChannelTable()
    var batch: UInt64 = 1
    var committed: UInt64 = 0
    /// The number of the newest push.
    package private(set) var lastPush: UInt64
    private var lastSending: UInt64 = 0

    struct Deadline: Sendable {
        var at: BootTime
        var device: DeviceID
        var sending: SendingID
    }

    /// Pushes are numbered from behind `lastPush`, which must be above all that were ever given.
    package init(_ limits: GatewayLimits = GatewayLimits(), lastPush: UInt64) {
        self.limits = limits
        self.lastPush = lastPush
    }

    /// The number of the next push: microseconds of wall time, or one more than the last when the
    /// clock stands or goes back. So the log, in the order of numbers, is in that of time.
    package mutating func takeNumber(at now: Moment) -> PushNumber {
        lastPush = max(lastPush + 1, UInt64(clamping: now.wall.nanoseconds / 1000))
        return PushNumber(lastPush)
    }

    mutating func takeSending() -> SendingID {
        lastSending += 1
        return SendingID(lastSending)
    }

    // MARK: What is kept

    /// Whether the store must be asked about the device before it is spoken of.
    package mutating func needs(_ device: DeviceID) -> Bool { devices.find(device) == nil }

    /// What the store knows of a device.
    package mutating func load(_ device: DeviceID, _ record: StoredDevice) {
        guard needs(device) else { return }
        read(device, record)
        list(device)
    }

    private mutating func read(_ device: DeviceID, _ record: StoredDevice) {
        var state = DeviceState()
        state.isGone = !record.isKnown
        state.apps = record.registrations.map { registration in
            var app = DeviceState.App(
                registration: registration,
                silent: RefillBucket(silent: limits),
                requests: RequestBucket(limits)
            )
            for stored in record.stored where stored.app == registration.app {
                app.add(DeviceState.Slot(stored))
            }
            return app
        }
        state.seenHour =
            Int32(clamping: record.seen.nanoseconds / Interval.hours(1).nanoseconds)
        devices[device] = state
    }

    /// The writes so far go into one batch; those to come into the next. Its number.
    package mutating func closeBatch() -> UInt64 {
        defer { batch += 1 }
        closing.add(filling)
        filling = GatewayCounters()
        return batch
    }

    /// A batch, and with it all before, is on the disk.
    package mutating func committed(_ batch: UInt64) {
        committed = max(committed, batch)
        counters.add(closing)
        closing = GatewayCounters()
        forgetIdle()
    }

    /// A batch could not be written. It and all changes since are lost; the store's records hold
    /// again. Providers are told 503.
    package mutating func failed(
        _ records: [(DeviceID, StoredDevice)],
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        (filling, closing) = (GatewayCounters(), GatewayCounters())
        for (device, record) in records {
            guard let old = devices[device] else { continue }
            read(device, record)
            // What the store does not keep is as it was: budgets above all.
            devices[device]?.wakes = old.wakes
            for app in old.apps {
                guard let index = devices[device]?.index(of: app.registration.app) else { continue }
                devices[device]?.apps[index].silent = app.silent
                devices[device]?.apps[index].requests = app.requests
            }
            devices[device]?.isIdleListed = old.isIdleListed
            guard let link = old.link else {
                list(device)
                continue
            }
            devices[device]?.link = link
            devices[device]?.condition = old.condition
            devices[device]?.flights = old.flights
            devices[device]?.isCongested = old.isCongested
            devices[device]?.wantsFlush = old.wantsFlush
            for index in (devices[device]?.apps ?? []).indices {
                let slots = devices[device]?.apps[index].slots ?? []
                for (slotIndex, slot) in slots.enumerated() {
                    let isSent = old.flights.contains { $0.number == slot.number }
                    devices[device]?.apps[index].slots[slotIndex].isSent = isSent
                    // A push that a lost one had replaced is back, and was never sent.
                    let had = old.apps.contains { $0.index(of: slot.number) != nil }
                    if !isSent, !had { devices[device]?.wantsFlush = true }
                }
            }
            flushIfWanted(device, at: now, into: &effects)
        }
    }

    /// The device's record could not be read again. The device is forgotten, its link ends, and
    /// providers that wait for a push to it are told 503.
    mutating func lose(_ device: DeviceID, into effects: inout [GatewayEffect]) {
        guard let state = devices[device] else { return }
        if let link = state.link {
            channels.ended(link)
            _ = unlink(link)
            effects.append(.end(link, .unavailable))
        }
        for call in state.flights.compactMap(\.call) {
            effects.append(.answer(call, .refused(.serviceUnavailable), afterCommit: false))
        }
        devices[device] = nil
    }

    // MARK: Memory

    mutating func list(_ device: DeviceID) {
        guard let state = devices[device], state.link == nil, !state.isIdleListed else { return }
        // Not this one, which may be listed from before it was lost: somebody speaks of it next.
        forgetIdle(but: device)
        devices[device]?.isIdleListed = true
        idle.append(device)
    }

    private mutating func forgetIdle(but kept: DeviceID? = nil) {
        // Each is looked at once: one that may not go yet waits behind the others.
        var looks = min(idle.count - limits.devicesInMemory, 64)
        while looks > 0, let device = idle.popFirst() {
            looks -= 1
            guard device != kept, let state = devices[device] else { continue }
            if state.link != nil {
                devices[device]?.isIdleListed = false
            } else if state.batch > committed {
                idle.append(device)
            } else {
                devices[device] = nil
            }
        }
    }

    /// Records that the batch being filled holds something about the device.
    mutating func touch(_ device: DeviceID) {
        if let row = devices.row(of: device) { devices.states[row].batch = batch }
    }

    /// Devices that are connected.
    package var connectedCount: Int { linked.count }
    package var knownDevices: [DeviceID] { devices.all }

    package func device(of link: LinkID) -> DeviceID? { linked[link.number] }

    mutating func link(_ link: LinkID, to device: DeviceID) { linked[link.number] = device }
    mutating func unlink(_ link: LinkID) -> DeviceID? { linked.removeValue(forKey: link.number) }
}

/// What happened since the start, for the metrics.
package struct GatewayCounters: Equatable, Sendable {
    package var accepted: UInt64 = 0
    package var delivered: UInt64 = 0
    package var stored: UInt64 = 0
    package var replaced: UInt64 = 0
    package var throttled: UInt64 = 0
    package var expired: UInt64 = 0
    package var dropped: UInt64 = 0
    package var broadcasts: UInt64 = 0
    package var broadcastsSent: UInt64 = 0

    package init() {}

    private static var all: [any WritableKeyPath<GatewayCounters, UInt64> & Sendable] {
        [
            \.accepted, \.delivered, \.stored, \.replaced, \.throttled, \.expired,
            \.dropped, \.broadcasts, \.broadcastsSent,
        ]
    }

    mutating func add(_ other: GatewayCounters) {
        guard other != GatewayCounters() else { return }
        for path in Self.all { self[keyPath: path] += other[keyPath: path] }
    }
}

/// First in, first out.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head >= 1024, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
