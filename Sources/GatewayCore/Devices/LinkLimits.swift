package import Vocabulary

/// What the device side allows; each a setting of the same name.
package struct LinkLimits: Equatable, Sendable {
    /// Connections at once; one more is told to come back.
    package var connections = 100_000
    /// Connections that have not proved who they are. As many more wait in a line, the others to be
    /// accepted; one that had a tenth of its time makes room.
    package var handshakes = 512
    package var handshakeTime = Interval.seconds(20)
    /// Of one address: connections, and those that have not proved who they are.
    package var perAddress = 1000
    package var handshakesPerAddress = 16
    /// New devices from one address: so many at once, and one more after each interval.
    package var newDevices = 100
    package var newDeviceRefill = Interval.seconds(10)
    /// What a new device must say; nil: nothing.
    package var enrolment: String?
    /// Devices that are welcomed each second; more at once are spread over the time that follows.
    package var welcomesPerSecond = 2000
    /// The longest interval between two signs of life, and the least that is waited for.
    package var longestKeepAlive = Interval.minutes(30)
    package var shortestKeepAlive = Interval.seconds(15)
    /// Beyond the announced time: a quarter of it, and this.
    package var keepAliveGrace = Interval.seconds(30)
    /// Frames that a device may send at once, acknowledgements apart; a twentieth of them more
    /// each second.
    package var frames = 1000
    /// Bytes that wait to be sent: above the first the core is told to send no more, above the
    /// second the device is cut off.
    package var queue = 128 << 10
    package var largestQueue = 1 << 20
    /// How long a device may take nothing of what waits.
    package var stall = Interval.seconds(30)

    package init() {}

    /// Whether what holds for new devices differs.
    func enrols(otherThan other: LinkLimits) -> Bool {
        newDevices != other.newDevices || newDeviceRefill != other.newDeviceRefill
    }
}
