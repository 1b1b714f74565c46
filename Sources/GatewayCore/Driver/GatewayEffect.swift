package import Vocabulary

/// A push on its way to a device.
package struct Sending: Equatable, Sendable {
    package let id: SendingID
    package let push: Push
    /// It comes with something else and is no reason to wake the device.
    package let isRider: Bool

    package init(id: SendingID, push: Push, isRider: Bool) {
        (self.id, self.push, self.isRider) = (id, push, isRider)
    }
}

/// What a provider is told.
package enum Answer: Equatable, Sendable {
    case accepted(PushNumber)
    case refused(Reason, timestamp: WallTime? = nil)
}

/// Why the gateway ends a link.
package enum LinkEnd: UInt8, Equatable, Sendable {
    /// The device has a newer connection.
    case superseded = 1
    /// The device was removed.
    case removed
    /// What is kept for the device cannot be read now.
    case unavailable
}

/// What must be done about an event. Those that change what is kept are committed, in order,
/// before answers that are marked so, and before a registration is told.
package enum GatewayEffect: Equatable, Sendable {
    // Kept.
    /// The push becomes the one of a slot.
    case store(Push, in: SlotKey, until: WallTime)
    /// Removes the slot's push if it is still this one.
    case remove(SlotKey, PushNumber)
    case save(DeviceID, Registration)
    case saw(DeviceID, WallTime)
    case saveChannel(Channel)
    case removeChannel(Channel)
    /// The message becomes the newest of its channel.
    case keepBroadcast(Broadcast)
    case log(Push, LogEvent, WallTime, Acceptance?)
    /// About a push whose content is not at hand.
    case logNumber(PushNumber, LogEvent, WallTime)
    /// A broadcast of the app was taken from a provider, and what became of it.
    case logBroadcast(Broadcast, AppNumber, LogEvent, WallTime, provider: String)
    // Done.
    case send(LinkID, Sending)
    /// The same for the push in a slot: the driver fetches it, if it is still there.
    case sendStored(LinkID, SendingID, SlotKey, PushNumber, isRider: Bool)
    case broadcast(LinkID, Broadcast)
    /// The link follows the channel from now on; or does not, and why.
    case follows(LinkID, ChannelID, FollowProblem?)
    case answer(CallID, Answer, afterCommit: Bool)
    /// The token of an app; nil: it has too many apps.
    case registered(LinkID, AppNumber, DeviceToken?)
    /// The same for Web Push: a token, and the key of the sender that it is for.
    case subscribed(LinkID, AppNumber, DeviceToken?, key: [UInt8])
    case unregistered(LinkID, AppNumber)
    case end(LinkID, LinkEnd)
}
