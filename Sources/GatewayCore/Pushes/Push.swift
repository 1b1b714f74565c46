package import Vocabulary

/// Until when a push may be delivered.
package enum PushExpiration: Hashable, Sendable {
    /// `apns-expiration: 0`: one attempt, never stored.
    case once
    case until(WallTime)
}

/// A push that passed every check of the provider side. Never changes, hence shared freely.
package final class Push: Sendable {
    package let number: PushNumber
    package let device: DeviceID
    package let app: AppNumber
    package let type: PushType
    package let priority: PushPriority
    package let expiration: PushExpiration
    /// At most 64 bytes; empty: none.
    package let collapseID: [UInt8]
    /// It only wakes: `content-available` and nothing to show.
    package let isSilent: Bool
    /// JSON, as the provider sent it.
    package let payload: [UInt8]

    package init(
        number: PushNumber,
        device: DeviceID,
        app: AppNumber,
        type: PushType,
        priority: PushPriority,
        expiration: PushExpiration,
        collapseID: [UInt8] = [],
        isSilent: Bool,
        payload: [UInt8]
    ) {
        (self.number, self.device, self.app) = (number, device, app)
        (self.type, self.priority, self.expiration) = (type, priority, expiration)
        (self.collapseID, self.isSilent, self.payload) = (collapseID, isSilent, payload)
    }

    var collapse: CollapseKey { CollapseKey(collapseID, isWebPush: type == .webpush) }

    package func isExpired(at wall: WallTime) -> Bool {
        switch expiration {
        case .once: false
        case .until(let end): end <= wall
        }
    }
}

extension Push: Equatable {
    package static func == (left: Push, right: Push) -> Bool {
        left.number == right.number && left.device == right.device && left.app == right.app
            && left.type == right.type && left.priority == right.priority
            && left.expiration == right.expiration && left.collapseID == right.collapseID
            && left.isSilent == right.isSilent && left.payload == right.payload
    }
}
