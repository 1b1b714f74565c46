import Vocabulary

/// Until when a link may go on. In seconds of the boot clock: there may be 100,000 links.
package struct LinkTimes: Sendable {
    /// When the device is given up.
    private var deadline: Int64 = 0
    /// What it announced, with the grace; 0: it has not proved who it is.
    private var allowance: Int64 = 0
    /// Since when it reads nothing that is queued for it.
    private var stalledSince: Int64?

    package init() {}

    /// It has so long to prove who it is.
    package mutating func mustProve(_ limits: LinkLimits, at second: Int64) {
        deadline = second + limits.handshakeTime.wholeSeconds
    }

    /// The device says when it gives its next sign of life, in seconds.
    package mutating func announced(next: UInt64, _ limits: LinkLimits, at second: Int64) {
        let announced = Interval.seconds(Int64(clamping: min(next, 1 << 32)))
        let interval = min(max(announced, limits.shortestKeepAlive), limits.longestKeepAlive)
        allowance = (interval + interval / 4 + limits.keepAliveGrace).wholeSeconds
        deadline = second + allowance
    }

    /// Something came. Without a proof that is worth nothing.
    package mutating func heard(at second: Int64) {
        if allowance > 0 { deadline = max(deadline, second + allowance) }
    }

    /// Whether it reads what is queued for it.
    package mutating func takes(_ isTaking: Bool, at second: Int64) {
        stalledSince = isTaking ? nil : stalledSince ?? second
    }

    /// When it is to be looked at.
    package func end(_ limits: LinkLimits) -> Int64 {
        let stall = stalledSince.map { $0 + limits.stall.wholeSeconds }
        return min(deadline, stall ?? deadline)
    }

    /// Why it ends now; nil: it does not.
    package func ending(_ limits: LinkLimits, at second: Int64) -> LinkEnding? {
        end(limits) <= second ? .late : nil
    }
}

/// What is done about the bytes that wait for a device.
package enum LinkQueue: Equatable, Sendable {
    case fits
    /// The core sends no more until all is taken.
    case isCongested
    /// The device is cut off.
    case isTooLong
}

extension LinkLimits {
    package func queue(of bytes: Int, wasCongested: Bool) -> LinkQueue {
        guard bytes <= largestQueue else { return .isTooLong }
        return bytes > (wasCongested ? 0 : queue) ? .isCongested : .fits
    }
}
