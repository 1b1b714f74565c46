package import Vocabulary

package enum DeviceKind: SerialKind {}
package enum LinkKind: SerialKind {}
package enum PushKind: SerialKind {}
package enum SendingKind: SerialKind {}
package enum CallKind: SerialKind {}

/// A device, by the number that the gateway gave it at its first contact; never given again.
package typealias DeviceID = Serial<DeviceKind>
/// One connection of a device, from its proof of identity to its end; made by the shell.
package typealias LinkID = Serial<LinkKind>
/// A push that was taken, in rising order, also over restarts: of two, the larger is the newer.
package typealias PushNumber = Serial<PushKind>
/// One push on its way over one link, until acknowledged; only valid while the gateway runs.
package typealias SendingID = Serial<SendingKind>
/// A provider that waits for its answer; made by the shell.
package typealias CallID = Serial<CallKind>

/// An app by its bundle identifier's place in the gateway's table of them, since tokens are short.
package struct AppNumber: Hashable, Comparable, Sendable {
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// The place of a push that is kept for an app on a device.
package struct SlotKey: Hashable, Sendable {
    package let device: DeviceID
    package let app: AppNumber
    /// 0: of APNs, which keeps the newest push; others: of Web Push, which keeps several.
    package let place: UInt8

    package init(_ device: DeviceID, _ app: AppNumber, place: UInt8 = 0) {
        (self.device, self.app, self.place) = (device, app, place)
    }
}
