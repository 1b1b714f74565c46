/// A point on one clock. The clock is part of the type, so that a deadline says which it counts.
@usableFromInline package struct Instant<Clock: ClockName>: Comparable, Hashable, Sendable, Codable
{
    /// Since the clock's own zero.
    @usableFromInline package var nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static var distantFuture: Self { Self(nanoseconds: .max) }
    @inlinable package static var distantPast: Self { Self(nanoseconds: .min) }

    @inlinable package static func + (left: Self, right: Interval) -> Self {
        Self(nanoseconds: left.nanoseconds.saturatingAdd(right.nanoseconds))
    }
    @inlinable package static func - (left: Self, right: Interval) -> Self {
        Self(nanoseconds: left.nanoseconds.saturatingSubtract(right.nanoseconds))
    }
    @inlinable package static func - (left: Self, right: Self) -> Interval {
        Interval(nanoseconds: left.nanoseconds.saturatingSubtract(right.nanoseconds))
    }
    @inlinable package static func == (left: Self, right: Self) -> Bool {
        left.nanoseconds == right.nanoseconds
    }
    @inlinable package static func < (left: Self, right: Self) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}

/// What a clock counts; only ever used as a type.
@usableFromInline package protocol ClockName: Sendable {}
/// `CLOCK_BOOTTIME`: since boot, sleep included. Deadlines of the outside world.
@usableFromInline package enum Boot: ClockName {}
/// `CLOCK_MONOTONIC`: since boot, sleep left out. Run-time grants.
@usableFromInline package enum Awake: ClockName {}
/// `CLOCK_REALTIME`: since 1970 in UTC; may jump. Dates and calendars.
@usableFromInline package enum Wall: ClockName {}

@usableFromInline package typealias BootTime = Instant<Boot>
@usableFromInline package typealias AwakeTime = Instant<Awake>
@usableFromInline package typealias WallTime = Instant<Wall>

extension AwakeTime {
    /// Seconds of `CLOCK_MONOTONIC`, as protocols say it; nil: never.
    package var monotonicSeconds: Double? {
        self == .distantFuture ? nil : Double(nanoseconds) / 1e9
    }
}

/// All clocks, read together.
@usableFromInline package struct Moment: Hashable, Sendable, Codable {
    @usableFromInline package var boot: BootTime
    @usableFromInline package var awake: AwakeTime
    @usableFromInline package var wall: WallTime
    /// Local time minus UTC, in seconds; east is positive.
    package var utcOffset: Int32
    /// The same at other times, where clocks are set forward and back. For what is said only: it is
    /// in no record, so a decision that depends on it could not be replayed.
    package var zone: Zone?

    /// Local time minus UTC, of seconds since 1970. A plain function: moments are copied often.
    package typealias Zone = @convention(c) @Sendable (Int64) -> Int32

    package init(
        boot: BootTime,
        awake: AwakeTime,
        wall: WallTime,
        utcOffset: Int32,
        zone: Zone? = nil
    ) {
        (self.boot, self.awake, self.wall, self.utcOffset) = (boot, awake, wall, utcOffset)
        self.zone = zone
    }

    /// Wall time as the user's clock shows it.
    package var local: LocalTime { LocalTime(wall, utcOffset: utcOffset) }
    /// What it shows at another time.
    package func local(_ time: WallTime) -> LocalTime {
        LocalTime(time, utcOffset: utcOffset(at: time))
    }

    /// Local time minus UTC in seconds, at `time`.
    package func utcOffset(at time: WallTime) -> Int32 {
        zone?(time.nanoseconds / 1_000_000_000) ?? utcOffset
    }

    private enum CodingKeys: CodingKey { case boot, awake, wall, utcOffset }

    /// Of what is recorded of both.
    @usableFromInline package static func == (left: Self, right: Self) -> Bool {
        left.boot == right.boot && left.awake == right.awake && left.wall == right.wall
            && left.utcOffset == right.utcOffset
    }
    @usableFromInline package func hash(into hasher: inout Hasher) {
        hasher.combine(boot)
        hasher.combine(awake)
        hasher.combine(wall)
        hasher.combine(utcOffset)
    }

    /// The boot time at which `instant` is reached if the device does not sleep until then and
    /// nobody sets the clock. A timer armed for it may come early; it is checked on arrival.
    @inlinable package func boot(of instant: AwakeTime) -> BootTime { boot + (instant - awake) }
    @inlinable package func boot(of instant: WallTime) -> BootTime { boot + (instant - wall) }
}

/// A date and time of day in the proleptic Gregorian calendar, without a zone.
package struct LocalTime: Hashable, Sendable {
    /// Days since 1970-01-01.
    package let day: Int64
    /// Since local midnight.
    package let timeOfDay: Interval

    package init(_ wall: WallTime, utcOffset: Int32) {
        let local = wall.nanoseconds.saturatingAdd(Int64(utcOffset) * 1_000_000_000)
        let nanosecondsPerDay = Interval.days(1).nanoseconds
        var (day, rest) = local.quotientAndRemainder(dividingBy: nanosecondsPerDay)
        if rest < 0 {
            day -= 1
            rest += nanosecondsPerDay
        }
        self.day = day
        timeOfDay = Interval(nanoseconds: rest)
    }

    package init(day: Int64, timeOfDay: Interval) {
        (self.day, self.timeOfDay) = (day, timeOfDay)
    }

    package func wall(utcOffset: Int32) -> WallTime {
        // Wider than the result: close to the ends of the scale midnight is outside it.
        let midnight = Int128(day) * Int128(Interval.days(1).nanoseconds)
        let offset = Int128(utcOffset) * 1_000_000_000
        return WallTime(
            nanoseconds: Int64(clamping: midnight + Int128(timeOfDay.nanoseconds) - offset)
        )
    }

    package var hour: Int { Int(timeOfDay.nanoseconds / Interval.hours(1).nanoseconds) }
    package var minute: Int { Int(timeOfDay.nanoseconds / Interval.minutes(1).nanoseconds) % 60 }
    package var second: Int { Int(timeOfDay.nanoseconds / Interval.seconds(1).nanoseconds) % 60 }
    package static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    /// 0 is Monday.
    package var weekday: Int { Int(((day + 3) % 7 + 7) % 7) }

    /// Year, month 1–12, day 1–31 (days-to-civil by 400-year eras).
    package var date: (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    /// The inverse: days since 1970-01-01.
    package static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

extension LocalTime: CustomStringConvertible {
    /// `2026-03-01 07:05:09`.
    @usableFromInline package var description: String {
        let (year, month, day) = date
        return "\(year)-\(padded(month))-\(padded(day)) "
            + "\(padded(Int64(hour))):\(padded(Int64(minute))):\(padded(Int64(second)))"
    }

    /// `2026-03-01 07:05:09.250`.
    package var withMilliseconds: String {
        let fraction = timeOfDay.nanoseconds / 1_000_000 % 1000
        return "\(self).\(fraction < 100 ? "0" : "")\(padded(fraction))"
    }

    private func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension LocalTime {
    /// A date, and a time of day if there is one: `2026-03-01`, `2026-03-01 07:05`,
    /// `2026-03-01T07:05:09.250`. Nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(
            maxSplits: 1,
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == " " || $0 == "T" }
        )
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, date[0].utf8.count == 4, let year = Self.number(date[0], 0...9999),
            let month = Self.number(date[1], 1...12), let day = Self.number(date[2], 1...31)
        else { return nil }
        self.init(day: Self.day(year, month, day), timeOfDay: .zero)
        // The 31st of a month that has none.
        guard self.date == (year, month, day) else { return nil }
        guard parts.count == 2 else { return }
        guard let time = Self.timeOfDay(parts[1]) else { return nil }
        let isNextMidnight = time == .days(1)
        self.init(
            day: self.day + (isNextMidnight ? 1 : 0),
            timeOfDay: isNextMidnight ? .zero : time
        )
    }

    /// `07:05`, `07:05:09`, `07:05:09.250`, and `24:00`, at which the day ends; nil for anything
    /// else, and for minutes of one digit: one may be missing.
    package static func timeOfDay(_ text: Substring) -> Interval? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        if text == "24:00" || text == "24:00:00" { return .days(1) }
        guard fields.count == 2 || fields.count == 3, let hour = number(fields[0], 0...23),
            fields[1].utf8.count == 2, let minute = number(fields[1], 0...59)
        else { return nil }
        let time = Interval.hours(hour) + .minutes(minute)
        guard fields.count == 3 else { return time }
        let seconds = fields[2].split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count <= 2, seconds[0].utf8.count == 2,
            let second = number(seconds[0], 0...59)
        else { return nil }
        guard seconds.count == 2 else { return time + .seconds(second) }
        let digits = seconds[1]
        guard (1...3).contains(digits.utf8.count), let number = number(digits, 0...999) else {
            return nil
        }
        let scale: Int64 = [100, 10, 1][digits.utf8.count - 1]
        return time + .seconds(second) + .milliseconds(number * scale)
    }

    /// Digits only.
    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
            range.contains(number)
        else { return nil }
        return number
    }
}

/// As D-Bus and Foundation have dates.
extension WallTime {
    /// The last date that there is, in the year 2255.
    package static let latestSeconds = 9_000_000_000.0

    /// A date beyond those that there are is the nearest of them: "distant future" is a date as
    /// well. Nil: it is no number.
    package init?(secondsSince1970 seconds: Double) {
        guard seconds.isFinite else { return nil }
        let bounded = min(max(seconds, 0), Self.latestSeconds)
        // Apart, so that the fraction keeps its digits.
        let whole = bounded.rounded(.down)
        let rest = ((bounded - whole) * 1e9).rounded()
        self.init(nanoseconds: Int64(whole) * 1_000_000_000 + Int64(rest))
    }

    package var secondsSince1970: Double {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Double(whole) + Double(rest) / 1e9
    }
}
