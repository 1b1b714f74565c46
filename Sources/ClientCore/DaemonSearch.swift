package import Vocabulary

/// When a program that has no daemon looks for one. It looks at once after each sign that one may
/// have come, and then less and less often. After the last try it waits for the next sign. So an
/// app without a daemon sleeps. Pure: the owner watches the place of the socket.
package struct DaemonSearch: Sendable {
    /// The next tries after the last sign, the soonest first.
    private var pauses: ArraySlice<Interval> = []
    private var lastFailure: (error: CallError, until: BootTime)?

    /// A socket is bound before it listens, and a daemon may take a while to read its store.
    private static let afterSign: [Interval] = [
        .milliseconds(10), .milliseconds(50), .milliseconds(200), .milliseconds(500), .seconds(1),
        .seconds(3), .seconds(10),
    ]
    /// Somebody listens and says nothing: it may yet.
    private static let whileSilent = Interval.seconds(30)
    /// What it cost to learn that nobody answers is not spent again for each call.
    private static let failureAge = Interval.seconds(1)

    package init() {}

    /// The connection is gone, or a daemon may have come: looks now.
    package mutating func sign() {
        pauses = Self.afterSign[...]
        lastFailure = nil
    }

    package mutating func succeeded() {
        pauses = []
        lastFailure = nil
    }

    /// When to look again; nil: with the next sign. `isThere`: somebody listens.
    package mutating func failed(
        _ error: CallError,
        isThere: Bool,
        at now: BootTime
    ) -> BootTime? {
        guard isThere else { return pauses.popFirst().map { now + $0 } }
        lastFailure = (error, now + Self.failureAge)
        return now + Self.whileSilent
    }

    /// Why a try of just now failed, if it took its time.
    package func recentFailure(at now: BootTime) -> CallError? {
        guard let lastFailure, now < lastFailure.until else { return nil }
        return lastFailure.error
    }
}
