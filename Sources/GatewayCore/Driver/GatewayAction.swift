/// What the shell does for a gateway, in this order. What must be kept before somebody is told of
/// it is kept by then.
package enum GatewayAction: Sendable {
    // The store.
    case ask(StoreQuestion)
    /// The next batch; it is written after all before it, and `written` tells of it.
    case write(StoreBatch)
    /// The log need not know any more what became of pushes before this one.
    /// Afterwards the store must still know the largest number in its log.
    case forgetLog(before: PushNumber)
    /// Writing began to fail, for this reason, or works again.
    case storeChanged(String?)

    // Links.
    /// Nobody has this key yet: `enrol`, if its owner may.
    case unknown(OperationID, key: [UInt8])
    /// The device with the key; nil: that cannot be told now.
    case identified(OperationID, IdentifiedDevice?)
    case send(LinkID, Sending)
    case broadcast(LinkID, Broadcast)
    /// The token of an app, to be sealed.
    case registered(LinkID, bundle: String, DeviceToken)
    /// The same for Web Push, with the key of the sender that it is for.
    case subscribed(LinkID, bundle: String, DeviceToken, key: [UInt8])
    case refused(LinkID, bundle: String, RegistrationRefusal)
    case unregistered(LinkID, bundle: String)
    /// The link follows the channel from now on; or does not, and why.
    case follows(LinkID, ChannelID, FollowProblem?)
    case end(LinkID, LinkEnd)

    // Who waits.
    case answer(CallID, Answer)
    case tell(CallID, LogAnswer)
    /// It is done; or not, and why.
    case done(OperationID, OperationProblem?)
}

/// Who somebody is who proved to have a key.
package struct IdentifiedDevice: Equatable, Sendable {
    package let device: DeviceID
    /// It was made for this key just now.
    package let isNew: Bool
    /// It is to register all its apps, as at the first contact: some may not be known here.
    package let mustRegister: Bool
}

/// Why something was not done.
package enum OperationProblem: Equatable, Sendable {
    /// There is no such thing.
    case unknown
    /// The store could not keep it.
    case notKept
    case refused(Reason)

    /// What a provider is told who asked for it.
    package var reason: Reason {
        switch self {
        case .unknown, .notKept: .serviceUnavailable
        case .refused(let reason): reason
        }
    }
}
