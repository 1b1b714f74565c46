package import Vocabulary

/// Which devices are gone: those that were not seen for long, by a gateway that they could reach.
///
/// A clock that was set, or a gateway that did not run, makes all devices look unseen. So nobody is
/// judged before they had time to come.
package struct DeviceExpiry: Sendable {
    private static let jump = Interval.hours(1)
    private var servedSince = BootTime(nanoseconds: 0)
    /// Of the wall clock from the boot clock at the last look.
    private var offset: Int64?

    package init() {}

    /// Devices that were last seen before this are gone; nil: that cannot be said of any now. To be
    /// asked every few minutes.
    package mutating func cutoff(at now: Moment, _ limits: GatewayLimits) -> WallTime? {
        let offset = now.wall.nanoseconds - now.boot.nanoseconds
        let isSteady = self.offset.map { abs(offset - $0) <= Self.jump.nanoseconds } ?? false
        if !isSteady { servedSince = now.boot }
        self.offset = offset
        return now.boot - servedSince >= limits.deviceGrace ? now.wall - limits.deviceAge : nil
    }
}

extension Gateway {
    /// The device was heard of, which is kept once a day.
    mutating func saw(_ device: DeviceID, at now: Moment, into effects: inout [Effect]) {
        let hour = Int32(clamping: now.wall.nanoseconds / Interval.hours(1).nanoseconds)
        guard let place = devices.place(of: device),
            abs(Int(hour) - Int(devices.states[place].seenHour)) >= 24
        else { return }
        devices.states[place].seenHour = hour
        touch(device)
        effects.append(.saw(device, now.wall))
    }

    package func isConnected(_ device: DeviceID) -> Bool { devices[device]?.link != nil }
}
