package import Vocabulary

/// Why a device is sent away, and when it may come back: after so long, and then within `spread`,
/// at an instant that it draws itself.
package struct LinkEnding: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case busy
        case notEnrolled
        case superseded
        case removed
        case shutdown
        case tooSlow
    }

    package let reason: Reason
    package let after: Interval
    package let spread: Interval

    private init(_ reason: Reason, after: Interval = .zero, spread: Interval = .zero) {
        (self.reason, self.after, self.spread) = (reason, after, spread)
    }

    /// No place is free.
    static let full = LinkEnding(.busy, after: .minutes(1), spread: .minutes(5))
    package static let tooManyFrames = LinkEnding(.busy, after: .minutes(1), spread: .minutes(1))
    /// What is known of the device cannot be told now.
    package static let unavailable = LinkEnding(.busy, after: .seconds(5), spread: .seconds(60))
    static let withoutSecret = LinkEnding(.notEnrolled, after: .minutes(10), spread: .minutes(10))
    static let late = LinkEnding(.tooSlow)
    /// Others come at this moment as well.
    static func crowded(spread: Interval) -> LinkEnding {
        LinkEnding(.busy, after: .seconds(1), spread: spread)
    }
    static func leaving(after: Interval, spread: Interval) -> LinkEnding {
        LinkEnding(.shutdown, after: after, spread: spread)
    }

    package init(_ end: LinkEnd) {
        switch end {
        // Or two processes with one identity would push each other out for ever.
        case .superseded: self.init(.superseded, after: .minutes(1), spread: .minutes(1))
        case .removed: self.init(Reason.removed)
        case .unavailable: self = .unavailable
        }
    }
}
