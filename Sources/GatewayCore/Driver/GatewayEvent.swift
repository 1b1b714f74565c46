package import Vocabulary

package enum OperationKind: SerialKind {}

/// Somebody who waits for something other than the answer to a push; made by the shell.
package typealias OperationID = Serial<OperationKind>

/// What happens to a gateway: what devices, providers, the operator, the store and time bring.
package enum GatewayEvent: Sendable {
    // Devices, by their links.
    /// Somebody proved to have this public key.
    case identify(OperationID, key: [UInt8])
    /// The owner of an unknown key may become a device.
    case enrol(OperationID, key: [UInt8])
    case connected(DeviceID, LinkID, DeviceCondition)
    case link(LinkID, LinkEvent)

    // Providers.
    /// A push whose sender may send it. What is left to be checked depends on the device.
    case push(AdmittedPush, CallID)
    case broadcast(Broadcast, provider: String, CallID)
    case createChannel(ChannelID, bundle: String, keepsNewest: Bool, OperationID)
    case removeChannel(ChannelID, OperationID)

    /// What became of a push, for a provider that may ask.
    case lookUp(LogQuestion, CallID)

    // The operator.
    case removeDevice(DeviceID, OperationID)
    case removeApp(String, OperationID)
    /// Take away what has expired or is gone. To be sent every minute or so.
    case sweep

    // The store.
    case answered(StoreQuestion, StoreAnswer)
    /// A batch is kept for good; or, for this reason, none of it is.
    case written(UInt64, problem: String?)

    // Time.
    /// The alarm went off.
    case passed
    /// All that came at once has been handled.
    case turnEnded
    /// The end is near: what may wait for a batch does not wait any more.
    case ending
}

/// What happens on one link. Apps are meant by name, or by the number that the device was told.
package enum LinkEvent: Sendable {
    case disconnected
    case register(String, renewing: Bool)
    /// `key`: a sender's of Web Push; empty: whoever knows the address; nil: an invalid one.
    case subscribe(String, key: [UInt8]?)
    case unregister(String)
    case follow(ChannelID, bundle: String, last: UInt64)
    case unfollow(ChannelID)
    case acknowledged(SendingID)
    /// The device does not take it: it knows no such app.
    case refused(SendingID)
    case keptAlive(DeviceCondition?)
    case changed(DeviceCondition)
    /// The user opened the app.
    case opened(AppNumber)
    /// What is left of an app's silent budget by the device's own count.
    case reported(silentLeft: Int, AppNumber)
    /// Whether the link takes no more for now.
    case congested(Bool)
}

/// What the driver asks the store. The answer may be the state at any moment after the question; it
/// includes at least the batches whose `written` came before the question.
package enum StoreQuestion: Hashable, Sendable {
    case device(key: [UInt8])
    case record(DeviceID)
    /// Whether it was made and not removed.
    case isKnown(DeviceID)
    case hasApp(AppNumber, bundle: String)
    case push(SlotKey)
    case channels
    /// Slots whose pushes have expired.
    case expired(by: WallTime, limit: Int)
    /// Devices that were last seen before.
    case unseen(since: WallTime, limit: Int)
    /// Apps that no device has registered now.
    case unusedApps(limit: Int)
    /// What the log has of a push.
    case log(PushNumber)
}

package enum StoreAnswer: Equatable, Sendable {
    case device(DeviceID?)
    case record(StoredDevice)
    case isKnown(Bool)
    case push(Push?)
    case channels([Channel])
    case slots([ExpiredSlot])
    case devices([DeviceID])
    case apps([AppNumber])
    case log(LogRow?)
    /// It could not be read.
    case failed
}

/// A push that has expired in its slot.
package struct ExpiredSlot: Equatable, Sendable {
    package let slot: SlotKey
    package let number: PushNumber

    package init(_ slot: SlotKey, _ number: PushNumber) {
        (self.slot, self.number) = (slot, number)
    }
}

/// What a gateway that starts knows from its store.
package struct StoredGateway: Sendable {
    /// The largest numbers that were ever given.
    package var lastDevice: UInt64
    package var lastApp: UInt32
    package var lastPush: UInt64
    /// Devices with smaller numbers come from a backup.
    package var lastRestored: UInt64
    package var apps: [(AppNumber, String)]
    package var channels: [Channel]

    package init(
        lastDevice: UInt64 = 0,
        lastApp: UInt32 = 0,
        lastPush: UInt64 = 0,
        lastRestored: UInt64 = 0,
        apps: [(AppNumber, String)] = [],
        channels: [Channel] = []
    ) {
        (self.lastDevice, self.lastApp, self.lastPush) = (lastDevice, lastApp, lastPush)
        self.lastRestored = lastRestored
        (self.apps, self.channels) = (apps, channels)
    }
}
