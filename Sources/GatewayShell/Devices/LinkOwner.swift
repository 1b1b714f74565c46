package import GatewayCore
internal import Vocabulary
internal import Wire

/// Who decides about devices: the node. All on the loop's thread, during a turn.
package protocol LinkOwner: AnyObject {
    /// The device with this Ed25519 key, made if there is none and `mayEnrol` allows it, told once
    /// it is kept: at once when it was kept before. Nil: that cannot be told now.
    func identify(
        _ key: [UInt8],
        mayEnrol: @escaping () -> Bool,
        _ completion: @escaping (IdentifiedDevice?) -> Void
    )
    func connected(_ device: DeviceID, _ link: LinkID, _ condition: DeviceCondition)
    func disconnected(_ link: LinkID)

    func register(_ bundle: String, renewing: Bool, over link: LinkID)
    func unregister(_ bundle: String, over link: LinkID)
    /// `key` nil: what the device said is no valid key.
    func subscribe(_ bundle: String, key: [UInt8]?, over link: LinkID)
    func follow(_ channel: ChannelID, of bundle: String, last: UInt64, over link: LinkID)
    func unfollow(_ channel: ChannelID, over link: LinkID)
    func acknowledged(_ sending: SendingID, over link: LinkID)
    func refused(_ sending: SendingID, over link: LinkID)
    /// The answer goes out with the next `flush`, behind what is sent until then.
    func keptAlive(_ link: LinkID, _ condition: DeviceCondition?)
    func changed(_ link: LinkID, _ condition: DeviceCondition)
    func opened(_ app: AppNumber, over link: LinkID)
    func reported(silentLeft: Int, of app: AppNumber, over link: LinkID)
    /// Whether too much waits to be sent.
    func congested(_ link: LinkID, _ isCongested: Bool)
    func number(of bundle: String) -> AppNumber?
}

extension DeviceCondition {
    init(_ condition: LinkCondition) {
        self.init(
            batteryPercent: condition.battery.map(Int.init),
            isOnMains: condition.isOnMains,
            isLowPower: condition.isLowPower,
            isUnmetered: condition.isUnmetered,
            silentWakes: condition.silentWakes.map { Int(clamping: $0) }
        )
    }
}

extension GatewayFrame.Ending {
    init(_ ending: LinkEnding) {
        let reason: EndReason =
            switch ending.reason {
            case .busy: .busy
            case .notEnrolled: .notEnrolled
            case .superseded: .superseded
            case .removed: .removed
            case .shutdown: .shutdown
            case .tooSlow: .tooSlow
            }
        self.init(reason, after: ending.after, spread: ending.spread)
    }
}

extension PushExpiration {
    /// Since 1970; nil: it is sent once.
    fileprivate var seconds: UInt64? {
        switch self {
        case .once: nil
        case .until(let end): UInt64(max(0, end.nanoseconds / 1_000_000_000))
        }
    }
}

extension GatewayFrame.Broadcast {
    init(_ broadcast: Broadcast) {
        self.init(
            channel: broadcast.channel.bytes,
            number: broadcast.number.number,
            priority: broadcast.priority.rawValue,
            expiration: broadcast.expiration.seconds,
            payload: broadcast.payload
        )
    }
}

extension GatewayFrame.Push {
    init(_ sending: Sending) {
        let push = sending.push
        self.init(
            sending: sending.id.number,
            app: UInt64(push.app.number),
            type: push.type.rawValue,
            priority: push.priority.rawValue,
            isRider: sending.isRider,
            isSilent: push.isSilent,
            expiration: push.expiration.seconds,
            collapseID: push.collapseID,
            payload: push.payload
        )
    }
}
