import GatewayCore
import Vocabulary

/// The gateway's driver with simulated providers, devices and store. Devices come and go; the store
/// is slow, fails, or is full; the gateway is killed and loses what was not committed. Everything
/// follows from one seed. Invariants are checked as it runs, and `problems` lists the violations.
struct GatewayWorld {
    /// One that registers apps and gets pushes.
    struct Device {
        let key: [UInt8]
        /// Waits to be told who it is, perhaps over two connections.
        var identifying: [OperationID] = []
        var link: LinkID?
        /// By app, as it was told.
        var tokens: [String: DeviceToken] = [:]
        /// On their way there and back, over the present link.
        var sendings: [Sending] = []
        var acknowledgements: [SendingID] = []
        var received: Set<PushNumber> = []
        /// What went over the present link, and how much of it the gateway knows to have arrived.
        var sent: Set<PushNumber> = []
        /// The newest of it, by app and collapse identifier.
        var sentKinds: [String: PushNumber] = [:]
        /// The same, without what a batch that failed may have brought back.
        var order: [String: PushNumber] = [:]
        var sentCount = 0
        var acknowledgedCount = 0
        var isCongested = false
        /// As it said last over the present link, and the gateway has surely heard.
        var condition: DeviceCondition?
        /// The newest that the gateway knows it to have, by app and collapse identifier.
        var shown: [String: PushNumber] = [:]
        /// Up to which they may have given way to a newer one.
        var replaced: [String: PushNumber] = [:]
        /// Channels that it follows over the present link, and what it had last of each ever.
        var follows: Set<ChannelID> = []
        var heard: [ChannelID: UInt64] = [:]
        /// What was kept for it when something happened over the present link with which all goes
        /// that may.
        var due: Set<PushNumber> = []

        mutating func forgetLink() {
            link = nil
            (follows, due) = ([], [])
            (sendings, acknowledgements, sent) = ([], [], [])
            (sentKinds, order) = ([:], [:])
            (sentCount, acknowledgedCount, isCongested) = (0, 0, false)
            condition = nil
        }
    }

    /// A push that a provider waits for, or was told of.
    struct Sent {
        let device: Int
        let token: DeviceToken
        let isOnce: Bool
        var expiration: WallTime?
        let collapse: [UInt8]
        var isWebPush = false
        var isByCertificate = false
        /// It counts for the providers' key.
        var isOfKey: Bool { !isWebPush && !isByCertificate }
        /// Its token had ended before, as its device or the operator was told.
        var isToEnded = false
        var wall = WallTime(nanoseconds: 0)
        /// Failures of the store until then.
        var troubles = 0
        var at = BootTime(nanoseconds: 0)

        mutating func keep(until end: WallTime) { expiration = expiration.map { min($0, end) } }
    }

    var problems: [WorldProblem] = []
    /// What happened, so that a test can see that something did.
    var counts: [String: Int] = [:]

    var random: SeededRandom
    var driver: GatewayDriver
    var limits: GatewayLimits
    var now: Moment
    var devices: [Device]
    let apps = ["a.one", "a.two", "a.three"]
    /// Registered at times only.
    let rareApps = ["a.four", "a.five"]
    var store = WorldStore()
    // What providers know.
    var senders: [WorldSender] = [WorldSender(), WorldSender(), WorldSender()]
    /// So many certificates the provider has had; and those that the operator revoked.
    var certificates = 1
    var revoked: Set<String> = []
    var doors: WorldDoors
    var calls: [CallID: Sent] = [:]
    var accepted: [(sent: Sent, number: PushNumber)] = []
    /// Of all that were accepted.
    var numbers: Set<PushNumber> = []
    /// By what is in their payloads.
    var pushes: [UInt64: CallID] = [:]
    var byCall: [CallID: Sent] = [:]
    /// The tokens that devices were told are no more: pushes to them go nowhere.
    var ended: Set<DeviceToken> = []
    /// The same, in their order.
    var endedList: [(device: Int, token: DeviceToken)] = []
    /// When the newest push was sent to a token that was accepted.
    var inForce: [DeviceToken: WallTime] = [:]
    /// Since when it is no more, as a provider was told first.
    var gone: [DeviceToken: WallTime] = [:]
    /// Batches and questions that failed.
    var troubles = 0
    var sentPushes: [SendingID: Push] = [:]
    var wakes: [SlotKey: [BootTime]] = [:]
    var figures = WorldFigures()
    /// It was killed in the middle of an event, and starts again when that is over.
    var isKilled = false
    var nextKill: Countdown?
    var nextCut: Countdown?
    /// Planted by a test.
    var bug = GatewayBug()
    /// Of the providers' key.
    let quota: KeyQuota?
    /// When the pushes were sent that were accepted since the gateway was started.
    var quotaUses: [BootTime] = []
    /// Pushes that were taken, and could not be kept.
    var lostUses = 0
    var operations: [OperationID: Operation] = [:]
    /// By what providers were told.
    var channels: [ChannelID: String] = [:]
    /// Pushes that providers asked about.
    var lookups: [CallID: PushNumber] = [:]
    var broadcastCalls: [CallID: Broadcast] = [:]
    /// Those that were answered 200 and are to be kept for whoever comes later.
    var keptBroadcasts: [Broadcast] = []
    /// Devices of slots that could not be read when they were to be sent: the next sign of life
    /// sends them.
    var unreadable: Set<DeviceID> = []
    private var lastSerial: UInt64 = 0
    var lastNumber: UInt64 = 0
    private var actions: [GatewayAction] = []
    private var isPerforming = false
    /// The only apps that devices may register; nil: any.
    var allowed: [String]?
    /// Nothing is under way that was asked for when others were allowed.
    var isAllowedSure = true

    init(seed: UInt64, devices count: Int) {
        random = SeededRandom(seed: seed)
        var limits = GatewayLimits()
        // Small, so that they are reached.
        limits.unacknowledged = 4
        limits.webPushKept = 3
        limits.devicesInMemory = seed % 2 == 0 ? 3 : 1000
        if seed % 4 == 1 { limits.apps = 4 }
        if seed % 4 == 2 { (limits.deviceAge, limits.deviceGrace) = (.hours(5), .hours(2)) }
        if seed % 4 == 3 { limits.channelsPerApp = 1 }
        self.limits = limits
        quota = seed % 3 == 0 ? KeyQuota(60, per: .hours(1)) : nil
        store.webPushKept = limits.webPushKept
        store.isTransactional = seed % 2 == 1
        driver = GatewayDriver(limits, StoredGateway())
        now = Moment(
            boot: BootTime(nanoseconds: 1),
            awake: AwakeTime(nanoseconds: 1),
            wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
            utcOffset: 0
        )
        devices = (0..<count).map { Device(key: [UInt8(truncatingIfNeeded: $0), 1]) }
        doors = WorldDoors(devices: count)
    }

    /// What the gateway is told to allow.
    var driverLimits: GatewayLimits {
        var limits = limits
        bug.limits?(&limits)
        return limits
    }

    /// The time as the gateway sees it.
    var told: Moment { bug.clock?(now) ?? now }

    /// `ends`: it has been seen what it is run for.
    mutating func run(steps: Int, until ends: (Self) -> Bool = { _ in false }) {
        driver.use(driverLimits)
        planKill()
        planCut()
        for _ in 0..<steps {
            step()
            if ends(self) { return }
        }
        (nextKill, nextCut) = (nil, nil)
        settle()
        check()
    }

    private mutating func step() {
        let index = Int(random.below(UInt64(devices.count)))
        switch random.below(200) {
        case 0..<40: push(to: index)
        case 40..<53: webPush(to: index)
        case 53..<55: pushToEnded(isWebPush: random.below(3) == 0)
        case 55..<90: arrive(at: index)
        case 90..<120: acknowledge(from: index)
        case 120..<134: connect(index)
        case 134..<138: disconnect(index)
        case 138..<146: pass()
        case 146..<148: keepAlive(index)
        case 148..<149: tellMore(index)
        case 149..<151: congest(index)
        case 151..<153: register(index, renewing: random.below(2) == 0)
        case 153..<155: unregister(index)
        case 155..<156: talkInChannels(index)
        case 156..<157: feed(.sweep)
        case 157..<158: operate(index)
        case 158..<159: store.isFull = !store.isFull && random.below(2) == 0
        case 159..<160: if random.below(12) == 0 { crash() }
        case 160..<162: rest()
        case 162..<164: talkInChannels(index)
        case 164: lookUp()
        default: serveStore()
        }
        if random.below(3) == 0 { feed(.turnEnded) }
        stepDoors()
        if isKilled { crash() }
        if driver.isSettled { isAllowedSure = true }
        checkWaiting()
    }

    /// All that waits for the store is done, as far as it does it.
    private mutating func rest() {
        feed(.ending)
        var left = 100
        while left > 0, serveStore() {
            feed(.ending)
            left -= 1
        }
        if driver.isSettled, !isKilled { checkChannels() }
    }

    /// Everything comes to rest, with a store that works again.
    private mutating func settle() {
        store.isFull = false
        for _ in 0..<3 {
            move(.seconds(10))
            feed(.passed)
            var rounds = 0
            repeat {
                feed(.ending)
                while serveStore(failing: false) {}
                rounds += 1
            } while !driver.isSettled && rounds < 100
        }
        if !driver.isSettled { report(.restless, "it does not come to rest") }
        if driver.rememberedDevices > 0 { report(.rememberedDevices, "for ever") }
    }

    mutating func serial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    mutating func pick(_ count: Int) -> Int { Int(random.below(UInt64(count))) }

    // MARK: Events

    /// What an action brings is performed behind all others, as `GatewayNode` does.
    mutating func feed(_ event: GatewayEvent) {
        guard !isKilled else { return }
        var new: [GatewayAction] = []
        for event in bug.event?(event) ?? [event] { driver.handle(event, at: told, into: &new) }
        actions += bug.action.map { new.flatMap($0) } ?? new
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        while !actions.isEmpty {
            let action = actions.removeFirst()
            if isKilled(before: action) {
                actions = []
            } else {
                cutLink(before: action)
                perform(action)
                if !actions.isEmpty { cutLink() }
            }
        }
    }

    mutating func move(_ span: Interval) {
        now.boot = now.boot + span
        now.awake = now.awake + span
        now.wall = now.wall + span
    }

    private mutating func pass() {
        move(.milliseconds(Int64(random.below(120_000))))
        feed(.passed)
    }

    private mutating func arrive(at index: Int) {
        guard !devices[index].sendings.isEmpty else { return }
        let sending = devices[index].sendings.remove(
            at: pick(devices[index].sendings.count)
        )
        devices[index].received.insert(sending.push.number)
        replace(by: sending.push, at: index)
        devices[index].acknowledgements.append(sending.id)
        count("arrivals")
    }

    private mutating func acknowledge(from index: Int) {
        guard let link = devices[index].link, !devices[index].acknowledgements.isEmpty else {
            return
        }
        let id = devices[index].acknowledgements.remove(
            at: pick(devices[index].acknowledgements.count)
        )
        devices[index].acknowledgedCount += 1
        let (before, delivered) = (devices[index].shown, driver.gateway.counters.delivered)
        if let push = sentPushes[id], !push.collapseID.isEmpty {
            let shown = devices[index].shown[Self.kind(push)] ?? push.number
            devices[index].shown[Self.kind(push)] = max(shown, push.number)
        }
        feed(.link(link, .acknowledged(id)))
        let isPrompt = driver.gateway.counters.delivered != delivered
        figures.acknowledged(id, at: now.boot, isPrompt: isPrompt)
        // It was of no use: what was on its way is forgotten, or waits for the store.
        if !isPrompt { devices[index].shown = before }
    }

    private mutating func connect(_ index: Int) {
        let waiting = devices[index].identifying.count
        guard waiting == 0 || waiting == 1 && random.below(4) == 0 else { return }
        come(index)
    }

    mutating func disconnect(_ index: Int) {
        guard let link = devices[index].link else { return }
        devices[index].forgetLink()
        leave(link, .closed)
        feed(.link(link, .disconnected))
    }

    private mutating func keepAlive(_ index: Int) {
        guard let link = devices[index].link else { return }
        if let device = store.keys[devices[index].key] { unreadable.remove(device) }
        contact(index)
        feed(.link(link, .keptAlive(nil)))
    }

    private mutating func congest(_ index: Int) {
        guard let link = devices[index].link else { return }
        let isOn = random.below(2) == 0
        devices[index].isCongested = isOn
        if !isOn { contact(index) }
        feed(.link(link, .congested(isOn)))
    }

    private mutating func register(_ index: Int, renewing: Bool) {
        guard let link = devices[index].link else { return }
        let names = random.below(6) == 0 ? rareApps : apps
        feed(.link(link, .register(names[pick(names.count)], renewing: renewing)))
    }

    private mutating func unregister(_ index: Int) {
        guard let link = devices[index].link else { return }
        feed(.link(link, .unregister((apps + rareApps)[pick(5)])))
    }

    /// What is kept for the device goes now, as far as there is room.
    mutating func contact(_ index: Int) {
        guard let device = store.keys[devices[index].key] else { return }
        for app in store.bundles.keys {
            for kept in store.kept(device, app) {
                devices[index].due.insert(kept.stored.push.number)
            }
        }
    }

    mutating func report(_ kind: WorldProblem.Kind, _ text: String) {
        problems.append(WorldProblem(kind, text))
    }

    mutating func count(_ what: String) { counts[what, default: 0] += 1 }
}
