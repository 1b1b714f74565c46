package import Vocabulary

/// An event, and the moment at which it happened.
package struct TimedEvent: Hashable, Sendable {
    package var event: Event
    package var moment: Moment
    /// More events of its turn follow.
    package var othersFollow = false

    package init(_ event: Event, at moment: Moment) {
        (self.event, self.moment) = (event, moment)
    }
}

extension Device {
    package mutating func handle(_ timed: TimedEvent, into effects: inout [Effect]) {
        handle(timed.event, at: timed.moment, othersFollow: timed.othersFollow, into: &effects)
    }
}
