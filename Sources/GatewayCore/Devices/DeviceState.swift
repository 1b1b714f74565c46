import Vocabulary

/// What the gateway knows of one device while it is connected, or was asked about.
struct DeviceState: Sendable {
    /// A push that is kept for an app.
    struct Slot: Equatable, Sendable {
        var place: UInt8
        var number: PushNumber
        var expiration: WallTime
        var collapse = CollapseKey.none
        /// On its way over the present link.
        var isSent = false
    }

    struct App: Sendable {
        var registration: Registration
        /// The oldest first.
        var slots: [Slot] = []
        var silent: RefillBucket
        var requests: RequestBucket

        func index(of push: PushNumber) -> Int? { slots.firstIndex { $0.number == push } }

        mutating func add(_ slot: Slot) {
            let next = slots.firstIndex { $0.number > slot.number }
            slots.insert(slot, at: next ?? slots.endIndex)
        }
    }

    /// On its way, not acknowledged.
    struct Flight: Sendable {
        var id: SendingID
        var number: PushNumber
        var app: AppNumber
        var collapse = CollapseKey.none
        /// Nil when it is in the slot, or may not be stored.
        var push: Push?
        /// Who waits for what becomes of it.
        var call: CallID?
        /// When it was accepted and sent at once; nil: it comes from the slot.
        var since: BootTime?
    }

    var link: LinkID?
    var condition = DeviceCondition()
    var isCongested = false
    /// It was removed, or never existed. Whoever connects as it must enrol as a new device.
    var isGone = false
    /// Something is left in slots only because there was no room on the link.
    var wantsFlush = false
    /// By app.
    var apps: [App] = []
    /// In the order in which they were sent.
    var flights: [Flight] = []
    var wakes = DailyWakes()
    /// The newest batch of writes with something about it.
    var batch: UInt64 = 0
    /// It may be sent away from memory while away.
    var isIdleListed = false
    /// When it was seen last, as the store knows it; hours since 1970.
    var seenHour: Int32 = 0

    // Always inlined: a call would copy what stands in the table.

    @inline(__always)
    func index(of app: AppNumber) -> Int? {
        // Few apps: looking at each beats searching.
        for index in apps.indices where apps[index].registration.app == app { return index }
        return nil
    }

    @inline(__always)
    func index(of sending: SendingID) -> Int? {
        for index in flights.indices where flights[index].id == sending { return index }
        return nil
    }
}

/// The rate of pushes to one token, as a bucket of its own: a push takes one.
struct RequestBucket: Equatable, Sendable {
    private var left: Int32
    private var at: BootTime?

    init(_ limits: GatewayLimits) { left = Int32(clamping: limits.tokenBurst) }

    mutating func take(at now: BootTime, _ limits: GatewayLimits) -> Bool {
        let burst = Int32(clamping: limits.tokenBurst)
        if let before = at {
            let passed = max(0, (now - before).nanoseconds)
            let filled = passed / 1_000_000 * Int64(limits.tokenRate) / 1000
            if filled > 0 {
                left = Int32(clamping: min(Int64(burst), Int64(left) + filled))
                at = now
            }
        } else {
            at = now
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

extension DeviceState.Slot {
    init(_ stored: StoredDevice.Stored) {
        self.init(
            place: stored.place,
            number: stored.number,
            expiration: stored.expiration,
            collapse: stored.collapse
        )
    }
}
