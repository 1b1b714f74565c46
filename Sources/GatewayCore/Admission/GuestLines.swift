package import Vocabulary

/// Connections that have not shown who sends, in the order in which they are served. They wait in
/// four lines that are served by turns: newcomers of good addresses, newcomers of unknown ones, and
/// the same two for all others. So none can keep those of another line waiting. The others get half
/// of the time at most, even when nothing else is to be done: whoever sends without end does not
/// keep a processor busy.
package struct GuestLines: Sendable {
    private var lines = [Queue<UInt64>](repeating: Queue(), count: 4)
    private var served = 0
    private var lastShare: BootTime
    /// Since when they have been waiting for a share.
    private var waitingSince: BootTime?
    /// When the turn began that goes on; nil: none does, or it is a newcomer's.
    private var turnStart: BootTime?
    /// How long the others were served since they last rested.
    private var used = Interval.zero
    /// Until when only newcomers are served.
    private var restEnd: BootTime

    /// How long guests yield to everything else. After that they get one share of a turn.
    private static let patience = Interval.milliseconds(5)
    /// The longest share. One guest is always served; what is left of a tenth of the time since the
    /// last share goes to the next ones.
    package var longestShare = Interval.milliseconds(1) / 2
    /// Turns of a connection in which it counts as a newcomer. They suffice for an honest provider
    /// to show who sends. So it never waits for connections that go on and on.
    private static let firstTurns = 6
    /// The others rest after so much time, and for as long.
    private static let longestUse = Interval.milliseconds(1)

    package init(at now: BootTime) { (lastShare, restEnd) = (now, now) }

    package var count: Int { lines.reduce(0) { $0 + $1.count } }

    private var hasNewcomers: Bool { lines[0].count + lines[1].count > 0 }

    /// `turns`: how many the guest has had.
    package mutating func add(_ guest: UInt64, turns: Int, isGood: Bool) {
        let isNew = turns < Self.firstTurns
        lines[(isNew ? 0 : 2) + (isGood ? 0 : 1)].append(guest)
    }

    // MARK: Shares

    /// When the next share may begin; nil: nobody waits for one.
    package func nextShare(at now: BootTime) -> BootTime? {
        guard count > 0 else { return nil }
        return hasNewcomers ? now : max(now, restEnd)
    }

    /// Guests wait for a share. Whether they still yield to everything else.
    package mutating func yields(at now: BootTime) -> Bool {
        let since = waitingSince ?? now
        waitingSince = since
        return now - since < Self.patience
    }

    /// A share begins. Until when another guest may have its turn.
    package mutating func beginShare(at now: BootTime) -> BootTime {
        waitingSince = nil
        return now + min(longestShare, (now - lastShare) / 10)
    }

    /// The turn before this one is over. Whose turn it is now; nil: nobody's in this share.
    package mutating func next(at now: BootTime) -> UInt64? {
        endTurn(at: now)
        for _ in lines.indices {
            served = (served + 1) % lines.count
            let isNewcomers = served < 2
            guard isNewcomers || now >= restEnd, let guest = lines[served].popFirst() else {
                continue
            }
            turnStart = isNewcomers ? nil : now
            return guest
        }
        return nil
    }

    package mutating func endShare(at now: BootTime) {
        endTurn(at: now)
        lastShare = now
    }

    private mutating func endTurn(at now: BootTime) {
        guard let start = turnStart else { return }
        turnStart = nil
        used += now - start
        guard used >= Self.longestUse else { return }
        restEnd = now + used
        used = .zero
    }
}
