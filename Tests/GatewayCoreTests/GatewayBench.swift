import GatewayCore
import Vocabulary

/// A gateway with one app on one device, driven by hand.
struct GatewayBench {
    var gateway: Gateway
    var now: Moment
    let device = DeviceID(7)
    let app = AppNumber(1)
    private(set) var token: DeviceToken
    private var calls: UInt64 = 0

    init(_ limits: GatewayLimits = GatewayLimits()) {
        gateway = Gateway(limits, lastPush: 100)
        now = Moment(
            boot: BootTime(nanoseconds: 1_000_000_000),
            awake: AwakeTime(nanoseconds: 1_000_000_000),
            wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
            utcOffset: 0
        )
        token = DeviceToken(device: device, app: app, generation: 1)
        gateway.load(
            device,
            StoredDevice(registrations: [Registration(app: app, generation: 1, isActive: true)])
        )
    }

    mutating func pass(_ interval: Interval) -> [GatewayEffect] {
        now.boot = now.boot + interval
        now.awake = now.awake + interval
        now.wall = now.wall + interval
        return after { $0.passed($1, into: &$2) }
    }

    mutating func after(
        _ event: (inout Gateway, Moment, inout [GatewayEffect]) -> Void
    ) -> [GatewayEffect] {
        var effects: [GatewayEffect] = []
        event(&gateway, now, &effects)
        return effects
    }

    mutating func connect(
        _ link: UInt64 = 1,
        _ condition: DeviceCondition = DeviceCondition()
    ) -> [GatewayEffect] {
        let device = device
        return after { $0.connected(device, LinkID(link), condition, at: $1, into: &$2) }
    }

    mutating func push(
        to app: AppNumber = AppNumber(1),
        silent: Bool = false,
        priority: PushPriority = .immediate,
        expiration: PushExpiration? = nil,
        collapseID: String = "",
        isWebPush: Bool = false
    ) -> (push: Push, call: CallID, effects: [GatewayEffect]) {
        let push = Push(
            number: gateway.takeNumber(at: now),
            device: device,
            app: app,
            type: isWebPush ? .webpush : silent ? .background : .alert,
            priority: silent ? .considerate : priority,
            expiration: expiration ?? .until(now.wall + .days(30)),
            collapseID: Array(collapseID.utf8),
            isSilent: silent,
            payload: Array("{}".utf8)
        )
        calls += 1
        let call = CallID(calls)
        let acceptance = Acceptance(apnsID: PushUUID(high: 1, low: 2), provider: "KEY")
        let effects = after { $0.take(push, acceptance, for: call, at: $1, into: &$2) }
        return (push, call, effects)
    }

    mutating func acknowledge(_ sending: SendingID, over link: UInt64 = 1) -> [GatewayEffect] {
        after { $0.acknowledged(sending, over: LinkID(link), at: $1, into: &$2) }
    }
}

extension [GatewayEffect] {
    /// Without the lines of the log.
    var deeds: [GatewayEffect] {
        filter {
            switch $0 {
            case .log, .logNumber, .logBroadcast, .saw: false
            default: true
            }
        }
    }

    var sendings: [(id: SendingID, number: PushNumber, isRider: Bool)] {
        compactMap {
            switch $0 {
            case .send(_, let sending): (sending.id, sending.push.number, sending.isRider)
            case .sendStored(_, let id, _, let number, let isRider): (id, number, isRider)
            default: nil
            }
        }
    }

    var storeReasons: [StoreReason] {
        compactMap { if case .log(_, .stored(let reason), _, _) = $0 { reason } else { nil } }
    }
}

extension Push {
    /// Of APNs.
    var slot: SlotKey { SlotKey(device, app) }

    /// Until when it may be delivered.
    var end: WallTime {
        switch expiration {
        case .once: .distantPast
        case .until(let end): end
        }
    }
}
