package import Vocabulary

/// Connections that have not shown who sends, in the order in which they are served. They wait in
/// four lines that are served by turns: newcomers of good addresses and of unknown ones, then all
/// others likewise. So none can keep those of another line waiting. Those that are no newcomers get
/// half of the time at most, even when nothing else is to be done: whoever sends without end does
/// not keep a processor busy.
package struct GuestLines: Sendable {
    private var lines = [Queue<UInt64>](repeating: Queue(), count: 4)
    private var served = 0
    private var lastShare: BootTime
    /// Since when they have been waiting for a share.
    private var waitingSince: BootTime?
    private var shareStart: BootTime
    /// How long the others were served since they last rested.
    private var used = Interval.zero
    /// Until when only newcomers are served.
    private var restEnd: BootTime

    /// How long guests yield to everything else. After that they get one share of a turn.
    private static let patience = Interval.milliseconds(5)
    /// The longest share. One guest is always served; what is left of a tenth of the time since the
    /// last share goes to the next ones.
    package var longestShare = Interval.milliseconds(1) / 2
    /// Turns of a connection in which it counts as a newcomer: an honest one has shown by then who
    /// sends, and so never waits for those that go on and on.
    private static let firstTurns = 6

    /// The others rest after so much time, and for as long.
    private static let longestUse = Interval.milliseconds(1)

    package init(at now: BootTime) { (lastShare, shareStart, restEnd) = (now, now, now) }

    package var count: Int { lines.reduce(0) { $0 + $1.count } }

    private var hasNewcomers: Bool { lines[0].count + lines[1].count > 0 }

    /// When the next share may begin; nil: nobody waits for one.
    package func nextShare(at now: BootTime) -> BootTime? {
        guard count > 0 else { return nil }
        return hasNewcomers ? now : max(now, restEnd)
    }

    /// `turns`: that it had so far.
    package mutating func add(_ guest: UInt64, turns: Int, isGood: Bool) {
        let isNew = turns < Self.firstTurns
        lines[(isNew ? 0 : 2) + (isGood ? 0 : 1)].append(guest)
    }

    /// Whose turn it is in this share.
    package mutating func next() -> UInt64? {
        for _ in lines.indices {
            served = (served + 1) % lines.count
            if served > 1, shareStart < restEnd { continue }
            if let guest = lines[served].popFirst() { return guest }
        }
        return nil
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
        shareStart = now
        return now + min(longestShare, (now - lastShare) / 10)
    }

    package mutating func endShare(at now: BootTime) {
        lastShare = now
        guard !hasNewcomers, shareStart >= restEnd else { return }
        used += now - shareStart
        guard used >= Self.longestUse else { return }
        restEnd = now + used
        used = .zero
    }
}
