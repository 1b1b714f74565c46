package import Vocabulary

/// What is learned of the use of one app. At most 4 KB, however long it learns.
package struct AppUse: Hashable, Sendable, Codable {
    /// In the foreground, as far as known.
    package private(set) var isOpen = false
    /// When it was last opened, or left.
    package private(set) var lastUse: WallTime?
    /// It was left at some time after `lastUse`. Nil: no; older records say nothing.
    private var endIsUnknown: Bool?
    /// When it was opened.
    private(set) var grid = DayGrid()
    /// `UseDays.count` of the device as of which the rest stands.
    private(set) var dayCount: Int64 = 0
    /// When it was last opened; the newest last.
    private var opens: [WallTime] = []
    /// By slot of another app: how often this one was opened within half an hour of an open of
    /// that one, forgotten slowly.
    private var followed = SlotCounts()
    private var followedAny = 0.0
    /// How long it stays unused.
    private(set) var gaps = GapHistogram.ofApp
    /// `DeviceUse.openTotal` when it was last opened.
    private(set) var openTotal: Int64 = 0
    /// Opens of the past days, forgotten with a half-life of seven days, and of the current day.
    private var pastOpens = 0.0
    private var opensToday = 0
    /// Of the shares of a day that lie less than 30 minutes before an open, and from 60 minutes
    /// before one to 30 after it: those of the past days, weighted, and that of the current day.
    private var near = Nearness(before: 6, after: 0)
    private var around = Nearness(before: 12, after: 6)
    private var slot: Int?

    private static let openLimit = 48
    /// Closer sessions are one.
    private static let sessionGap = Interval.minutes(5)
    private static let followTime = Interval.minutes(30)

    package init() {}

    var isValid: Bool {
        let new = AppUse()
        return dayCount.isCount && openTotal.isCount && opensToday.isCount && pastOpens.isAmount
            && followedAny.isAmount && followed.isValid && gaps.isValid(as: new.gaps)
            && near.isValid(as: new.near) && around.isValid(as: new.around)
    }

    /// It came to the foreground, or is seen there. That is a sign of use of the device as well.
    /// Whether that is a new session.
    @discardableResult
    package mutating func opened(on device: inout DeviceUse, at now: UseTime) -> Bool {
        device.used(at: now)
        pass(to: device.days.count)
        let isNew =
            !isOpen
            && (lastUse.map { now.wall - $0 >= Self.sessionGap || now.wall < $0 } ?? true)
        defer {
            isOpen = true
            lastUse = now.wall
            endIsUnknown = nil
        }
        guard isNew else { return false }
        let slot = self.slot ?? device.takeSlot()
        self.slot = slot
        if let lastUse, endIsUnknown == nil { gaps.opened(after: now.seconds(since: lastUse)) }
        follow(device, at: now)
        near.mark(now.bin)
        around.mark(now.bin)
        grid.mark(now.bin)
        opens.append(now.wall, limit: Self.openLimit)
        opensToday += 1
        device.opened(slot: slot, at: now)
        openTotal = device.openTotal
        return true
    }

    /// It is not in the foreground any more, since `now`.
    package mutating func left(at now: UseTime) {
        guard isOpen else { return }
        isOpen = false
        lastUse = now.wall
    }

    /// Nobody saw when its use ended: the device went down, or no daemon ran.
    mutating func leftUnseen() {
        guard isOpen else { return }
        isOpen = false
        endIsUnknown = true
    }

    /// The clock was set: what would lie in the future is now. Whether anything changed.
    mutating func clamp(to now: WallTime) -> Bool {
        var changed = false
        lower(&lastUse, to: now, &changed)
        for index in opens.indices where opens[index] > now {
            opens[index] = now
            changed = true
        }
        return changed
    }

    /// Moves on to the current day of use.
    private mutating func pass(to count: Int64) {
        let days = count - dayCount
        guard days > 0 else { return }
        pastOpens = opensPerDay(lag: days)
        opensToday = 0
        dayCount = count
        grid.pass(days: days)
        near.pass(days: days)
        around.pass(days: days)
        let factor = Forgetting.fourWeeks.weight(days)
        followedAny *= factor
        followed.forget(by: factor)
    }

    /// Every open of an app in the last half hour, but those before the last open of this one, was
    /// followed by this one.
    private mutating func follow(_ device: DeviceUse, at now: UseTime) {
        let since = opens.last ?? .distantPast
        for open in device.opens.reversed() {
            guard open.at >= since, now.wall - open.at <= Self.followTime else { break }
            followed[open.slot] += 1
            followedAny += 1
        }
    }

    // MARK: What is asked

    /// Seconds since its last use, at most a week.
    package func idleSeconds(at now: UseTime) -> Double {
        guard !isOpen else { return 0 }
        return lastUse.map { min(DeviceUse.week, now.seconds(since: $0)) } ?? DeviceUse.week
    }

    /// How often it was opened within `seconds` before `now`.
    func openCount(within seconds: Double, of now: UseTime) -> Int {
        var count = 0
        for at in opens.reversed() {
            guard now.seconds(since: at) < seconds else { break }
            count += 1
        }
        return count
    }

    /// How often it was opened within half an hour of an open of any app, or of the one that has
    /// `slot`; seen from `lag` days of use after the current one.
    func followedCount(lag: Int64) -> Double { followedAny * Forgetting.fourWeeks.weight(lag) }
    func followedCount(slot: Int, lag: Int64) -> Double {
        followed[slot] * Forgetting.fourWeeks.weight(lag)
    }

    /// The weighted sum over the days before the one that comes `lag` days of use after the current
    /// one; of these, the next two as well.
    func opensPerDay(lag: Int64) -> Double {
        guard lag > 0 else { return pastOpens }
        return (pastOpens * Forgetting.sevenDays.factor + Double(opensToday))
            * Forgetting.sevenDays.weight(lag - 1)
    }
    func nearShare(lag: Int64) -> Double { near.share(lag: lag) }
    func aroundShare(lag: Int64) -> Double { around.share(lag: lag) }
}

/// The share of the day that lies within some five minutes of an open of an app, over the days.
struct Nearness: Hashable, Sendable, Codable {
    /// How many five minutes before, with that of the open itself, and how many after it.
    private let before: Int
    private let after: Int
    /// Of the past days, forgotten with a half-life of seven days.
    private var past = 0.0
    /// In five minutes.
    private var today = 0
    private var last: Int?

    init(before: Int, after: Int) { (self.before, self.after) = (before, after) }

    /// `new`: before anything was seen.
    func isValid(as new: Nearness) -> Bool {
        (before, after) == (new.before, new.after) && past.isAmount && today.isCount
            && (0..<DayGrid.binCount).contains(last ?? 0)
    }

    mutating func mark(_ bin: Int) {
        let first = max(0, bin - before + 1)
        let end = min(DayGrid.binCount, bin + after + 1)
        var count = end - first
        if let last {
            let lastFirst = max(0, last - before + 1)
            let lastEnd = min(DayGrid.binCount, last + after + 1)
            count -= max(0, min(end, lastEnd) - max(first, lastFirst))
        }
        today = min(DayGrid.binCount, today + count)
        last = bin
    }

    mutating func pass(days: Int64) {
        past = share(lag: days)
        today = 0
        last = nil
    }

    /// The weighted sum of the shares of the days before the one that comes `lag` days of use after
    /// the current one.
    func share(lag: Int64) -> Double {
        guard lag > 0 else { return past }
        let sum = past * Forgetting.sevenDays.factor + Double(today) / Double(DayGrid.binCount)
        return sum * Forgetting.sevenDays.weight(lag - 1)
    }
}
