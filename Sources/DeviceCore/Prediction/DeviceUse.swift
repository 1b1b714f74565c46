package import Vocabulary

/// What is learned of the use of the device as a whole. At most 5 KB, however long it learns.
package struct DeviceUse: Hashable, Sendable, Codable {
    package private(set) var days = UseDays()
    package private(set) var isInUse = false
    /// When the last sign of use was seen, or the use ended.
    package private(set) var lastUse: WallTime?
    /// Not even that: it may have gone on after `lastUse`. Nil: no; older records say nothing.
    private var endIsUnknown: Bool?
    /// When signs of use were seen.
    private(set) var grid = DayGrid()
    /// How long it stays unused.
    private(set) var gaps = GapHistogram.ofDevice
    /// When it was first used after hours without use: when its user got up.
    private var awakeSince: WallTime?
    /// The last opens of any app; the newest last.
    private(set) var opens: [Open] = []
    /// By slot: how often apps were opened, forgotten slowly.
    private(set) var openCounts = SlotCounts()
    private(set) var openCount = 0.0
    /// Of any app, since ever.
    private(set) var openTotal: Int64 = 0
    /// Of the app that was opened last, and of the last other one.
    private(set) var lastSlot: Int?
    private(set) var slotBefore: Int?
    private var slotsGiven = 0

    private static let openLimit = 32
    private static let sleep = Interval.hours(3)

    /// An app was opened, the one that has `slot`.
    struct Open: Hashable, Sendable, Codable {
        var slot: Int
        var at: WallTime
    }

    package init() {}

    var isValid: Bool {
        days.isValid && gaps.isValid(as: DeviceUse().gaps) && openCounts.isValid
            && openCount.isAmount && openTotal.isCount && slotsGiven.isCount
    }

    /// The device came into use, or is used still: every sign of it that has a time of its own (the
    /// screen came on, an app came to the foreground).
    package mutating func used(at now: UseTime) {
        let count = days.count
        days.use(on: now.day)
        let isNewDay = days.count > count
        if isNewDay { newDay() }
        grid.mark(now.bin)
        let knowsGap = endIsUnknown == nil
        if let lastUse, !isInUse, knowsGap { gaps.used(after: now.seconds(since: lastUse)) }
        // A gap that is not known is sleep only if a day begins after it.
        if lastUse.map({ !isInUse && now.wall - $0 >= Self.sleep && (knowsGap || isNewDay) })
            ?? true
        {
            awakeSince = now.wall
        }
        isInUse = true
        endIsUnknown = nil
        lastUse = now.wall
    }

    /// The device is not in use any more, since `now`.
    package mutating func left(at now: UseTime) {
        guard isInUse else { return }
        isInUse = false
        lastUse = now.wall
    }

    /// Nobody saw when its use ended: the device went down, or no daemon ran.
    mutating func leftUnseen() {
        guard isInUse else { return }
        isInUse = false
        endIsUnknown = true
    }

    /// The clock was set back by so much that the current day is another.
    mutating func goOn(on day: Int64) { days.goOn(on: day) }

    /// The clock was set: what would lie in the future is now. Whether anything changed.
    mutating func clamp(to now: WallTime) -> Bool {
        var changed = false
        lower(&lastUse, to: now, &changed)
        lower(&awakeSince, to: now, &changed)
        for index in opens.indices where opens[index].at > now {
            opens[index].at = now
            changed = true
        }
        return changed
    }

    private mutating func newDay() {
        grid.pass(days: 1)
        gaps.forget(by: Forgetting.fourWeeks.factor)
        openCount = openCounts.forget(by: Forgetting.fourWeeks.factor)
    }

    /// A slot in the tables of what follows what, for an app that is opened first. The last one
    /// is shared by all apps that find no other left.
    mutating func takeSlot() -> Int {
        let slot = min(slotsGiven, SlotCounts.slotCount - 1)
        slotsGiven = min(slotsGiven + 1, SlotCounts.slotCount)
        return slot
    }

    mutating func opened(slot: Int, at now: UseTime) {
        openCounts[slot] += 1
        openCount += 1
        openTotal += 1
        if slot != lastSlot { (slotBefore, lastSlot) = (lastSlot, slot) }
        opens.append(Open(slot: slot, at: now.wall), limit: Self.openLimit)
    }

    /// Seconds without use, at most a week.
    func idleSeconds(at now: UseTime) -> Double {
        guard !isInUse else { return 0 }
        return lastUse.map { min(Self.week, now.seconds(since: $0)) } ?? Self.week
    }

    static let week = 7 * 86_400.0

    /// Seconds since its user got up, at most a week.
    func awakeSeconds(at now: UseTime) -> Double {
        awakeSince.map { min(Self.week, now.seconds(since: $0)) } ?? 0
    }

    /// How many apps were opened within `seconds` before `now`, as far as the last opens are known.
    func openCount(within seconds: Double, of now: UseTime) -> Int {
        var count = 0
        for open in opens.reversed() {
            guard now.seconds(since: open.at) < seconds else { break }
            count += 1
        }
        return count
    }

    /// On which share of the past days the device was used between these five minutes of the day.
    func share(from first: Int, to end: Int, at now: UseTime) -> Double {
        let past = PastDays(days, seenFrom: now.day)
        let marked = grid.days(from: first, to: end, lag: past.lag, followed: past.followed)
        let all = Forgetting.sevenDays.weight(of: past.all)
        guard all > 0 else { return 1 }
        return Forgetting.sevenDays.weight(of: marked, in: past.all) / all
    }
}
