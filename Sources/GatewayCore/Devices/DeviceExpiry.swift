package import Vocabulary

/// Which devices are gone: those that were not seen for long, by a gateway that they could reach.
///
/// A clock that was set, or a gateway that did not run or slept, makes all devices look unseen. So
/// nobody is judged before they had time to come.
package struct DeviceExpiry: Sendable {
    private static let jump = Interval.hours(1)
    private var servedSince = BootTime(nanoseconds: 0)
    private var last: Moment?

    package init() {}

    /// Devices that were last noted as seen before this are gone; nil: that cannot be said of any
    /// now. To be asked every few minutes.
    package mutating func cutoff(at now: Moment, _ limits: GatewayLimits) -> WallTime? {
        if !hasServed(since: last, until: now) { servedSince = now.boot }
        last = now
        guard now.boot - servedSince >= limits.deviceGrace else { return nil }
        return now.wall - limits.deviceAge - Gateway.sightingInterval
    }

    private func hasServed(since last: Moment?, until now: Moment) -> Bool {
        guard let last else { return false }
        let (boot, wall) = (now.boot - last.boot, now.wall - last.wall)
        return boot <= Self.jump && wall <= boot + Self.jump && boot <= wall + Self.jump
    }
}

extension Gateway {
    /// How old the note may be that a device was seen, while it is.
    static let sightingInterval = Interval.hours(24)

    /// The device was heard of, which is noted once a day.
    mutating func saw(_ device: DeviceID, at now: Moment, into effects: inout [GatewayEffect]) {
        let hour = Int32(clamping: now.wall.nanoseconds / Interval.hours(1).nanoseconds)
        guard let row = devices.row(of: device),
            Interval.hours(Int64(hour) - Int64(devices.states[row].seenHour))
                >= Self.sightingInterval
        else { return }
        devices.states[row].seenHour = hour
        touch(device)
        effects.append(.saw(device, now.wall))
    }

    package func isConnected(_ device: DeviceID) -> Bool { devices[device]?.link != nil }

    /// Something about it is not on the disk yet.
    func isUnwritten(_ device: DeviceID) -> Bool {
        devices.row(of: device).map { devices.states[$0].batch > committed } ?? false
    }

    /// It is known to be no more.
    func isGone(_ device: DeviceID) -> Bool { devices[device]?.isGone ?? false }
}
