/// The days on which the device was used, the last 64 of them. Days without use do not count: the
/// device was off, and what was learned before them is no older for it.
package struct UseDays: Hashable, Sendable, Codable {
    /// How many there were so far, with the current one.
    package private(set) var count: Int64 = 0
    /// The current one, by the calendar.
    package private(set) var day: Int64 = .min
    /// By weekday, 0 is Monday: which days were one; bit k is k days of use ago.
    private(set) var weekdays = [Int64](repeating: 0, count: 7)
    /// Bit k: the calendar day after that of k days of use ago was one as well.
    private(set) var followed: Int64 = 0

    init() {}

    var isValid: Bool { count.isCount && weekdays.count == 7 }

    /// Use on `day`. A calendar that was set back begins no new day: time goes on from there. Who
    /// travels west over midnight is still on the same one.
    mutating func use(on day: Int64) {
        guard day != self.day, day + 1 != self.day else { return }
        let isForward = day > self.day
        let follows = count > 0 && self.day.addingReportingOverflow(1) == (day, false)
        self.day = day
        guard isForward else { return }
        count += 1
        for weekday in weekdays.indices { weekdays[weekday] <<= 1 }
        weekdays[Self.weekday(of: day)] |= 1
        followed <<= 1
        if follows { followed |= 2 }
    }

    /// The clock was set back: the current one goes on as `day`, and the next begins after it.
    mutating func goOn(on day: Int64) { self.day = min(self.day, day) }

    /// 0 is Monday; day 0 was a Thursday.
    static func weekday(of day: Int64) -> Int { Int(((day % 7) + 10) % 7) }
}

/// What of the days of use is past, as seen from a day that has come, or may come without any use
/// until then. Bit 0 is that day, bit k the k-th day of use before it.
struct PastDays {
    /// 1: the day seen from is a later one than the current day of use.
    let lag: Int64
    let count: Int64
    let all: UInt64
    /// Of its own kind: working days, or the days of a weekend.
    let kind: UInt64
    let weekday: UInt64
    let followed: UInt64
    let isWeekend: Bool

    init(_ days: UseDays, seenFrom day: Int64) {
        lag = day > days.day && days.count > 0 ? 1 : 0
        count = days.count + lag
        let shift = lag
        let past = min(63, max(0, count - 1))
        let everyDay = ((UInt64(1) << past) - 1) << 1
        let today = UseDays.weekday(of: day)
        isWeekend = today >= 5
        var kind: UInt64 = 0
        for weekday in (isWeekend ? 5..<7 : 0..<5) {
            kind |= UInt64(bitPattern: days.weekdays[weekday])
        }
        all = everyDay
        self.kind = (kind << shift) & everyDay
        weekday = (UInt64(bitPattern: days.weekdays[today]) << shift) & everyDay
        let adjacent: UInt64 =
            lag == 1 && days.day.addingReportingOverflow(1) == (day, false) ? 2 : 0
        followed = (UInt64(bitPattern: days.followed) << shift) | adjacent
    }
}

/// Exponential forgetting, by days of use.
struct Forgetting: Sendable {
    /// The weight of the newest day is 1, then falls by a constant factor.
    private let weights: [Double]
    /// Of so many days.
    private let sums: [Double]

    /// From one day to the day before.
    let factor: Double

    private init(factor: Double) {
        self.factor = factor
        var weights = [1.0]
        var sums = [0.0]
        for _ in 0..<64 {
            sums.append(sums[sums.count - 1] + weights[weights.count - 1])
            weights.append(weights[weights.count - 1] * factor)
        }
        (self.weights, self.sums) = (weights, sums)
    }

    /// They halve in 2, 4, 7, 10 and 28 days of the kind counted.
    static let twoDays = Forgetting(factor: 0.707_106_781_186_547_6)
    static let fourDays = Forgetting(factor: 0.840_896_415_253_714_6)
    static let sevenDays = Forgetting(factor: 0.905_723_664_263_906_7)
    static let tenDays = Forgetting(factor: 0.933_032_991_536_807_4)
    static let fourWeeks = Forgetting(factor: 0.975_548_642_052_573_2)

    /// What a day weighs that was `days` days ago, 0 to 64.
    func weight(_ days: Int64) -> Double { weights[Int(min(64, max(0, days)))] }

    func weight(of group: UInt64) -> Double { sums[group.nonzeroBitCount] }

    /// The weight of those days of `group` that are in `marked`.
    func weight(of marked: UInt64, in group: UInt64) -> Double {
        var rest = marked & group
        var sum = 0.0
        let first = group.trailingZeroBitCount
        let days = group >> first
        // Of days in a row, which is most often asked, nothing has to be counted.
        let isRow = days & (days &+ 1) == 0
        while rest != 0 {
            let lowest = rest & (0 &- rest)
            let before =
                isRow
                ? lowest.trailingZeroBitCount - first : (group & (lowest &- 1)).nonzeroBitCount
            sum += weights[before]
            rest ^= lowest
        }
        return sum
    }
}
