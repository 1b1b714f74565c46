import Testing
import Vocabulary

struct TimeTests {
    @Test(
        arguments: [
            ("90s", .seconds(90)), ("15m", .minutes(15)), ("2h", .hours(2)),
            ("1h 30m", .minutes(90)), ("1h30m", .minutes(90)), ("250ms", .milliseconds(250)),
            ("7d", .days(7)), ("2w", .days(14)), (" 1 hour 2 minutes ", .minutes(62)), ("0", .zero),
            ("15MIN", .minutes(15)), ("15M", nil), ("1h 1M", nil), ("1H", .hours(1)),
            ("1s1s", .seconds(2)), ("36525d", .days(36_525)),
            ("", nil), (" ", nil), ("m", nil), ("-5m", nil), ("5-m", nil), ("1.5h", nil),
            ("soon", nil), ("90", nil), ("5", nil), ("00", .zero), (" 0 ", .zero),
            ("1 5m", nil), ("1h 30", nil), ("1 m s", nil), ("5x", nil), ("5 m m", nil), ("٣m", nil),
            ("36525d 1s", nil), ("9223372036854775807w", nil), ("9223372036854775808", nil),
            ("1h\n", nil), ("1\u{301}m", nil),
        ] as [(String, Interval?)]
    )
    func spansAreReadAsPeopleWriteThem(text: String, interval: Interval?) {
        #expect(Interval(text) == interval)
    }

    @Test(arguments: [
        ("5", "has no unit", "Say 5s, 5min, 5h or 5d."),
        (" 15 ", "has no unit", "Say 15s, 15min, 15h or 15d."),
        ("soon", "is not a time", "Write a number and a unit, such as 90s, 15min, 2h or 1d."),
        ("1h 30", "is not a time", "Write a number and a unit, such as 90s, 15min, 2h or 1d."),
        (
            "99999999999999999", "is not a time",
            "Write a number and a unit, such as 90s, 15min, 2h or 1d."
        ),
        ("99999d", "is more than 100 years", "Write 36525d at most."),
        ("99999999999999999999 h", "is more than 100 years", "Write 36525d at most."),
        ("-1h", "is less than nothing", "Write it without the minus sign."),
        ("1M", "is in months, which are not supported", "Write 1min or 30d."),
        ("-x", "is not a time", "Write a number and a unit, such as 90s, 15min, 2h or 1d."),
        (
            "2026-12-24", "is a point in time, not a span",
            "Write a number and a unit, such as 90s, 15min, 2h or 1d."
        ),
        (
            "18:30", "is a point in time, not a span",
            "Write a number and a unit, such as 90s, 15min, 2h or 1d."
        ),
    ])
    func whatIsWrongWithASpanIsSaid(text: String, reason: String, fix: String) {
        #expect(Interval(text) == nil)
        let mistake = Interval.mistake(in: text)
        #expect(mistake.reason == reason && mistake.fix == fix)
    }

    @Test(
        arguments: [
            (.zero, "0ms"), (.milliseconds(250), "250ms"), (.seconds(45), "45s"),
            (.seconds(90), "1m 30s"),
            (.minutes(90), "1h 30m"), (.hours(24), "1d"), (.days(3) + .minutes(5), "3d"),
            (.days(1) + .hours(2) + .minutes(3), "1d 2h"), (.seconds(-90), "-1m 30s"),
            (.forever, "for ever"), (Interval(nanoseconds: .min), "-for ever"),
        ] as [(Interval, String)]
    )
    func spansAreWrittenInTwoUnitsAtMost(interval: Interval, text: String) {
        #expect(interval.description == text)
    }

    @Test func spansAddUpToTheLimitAndStayThere() {
        #expect(.forever + .seconds(1) == .forever)
        #expect(.zero - .forever - .forever == Interval(nanoseconds: .min))
        #expect(Interval.days(.max) == .forever)
        #expect(Interval.days(.min) == Interval(nanoseconds: .min))
        #expect(.forever * -2 == Interval(nanoseconds: .min))
        #expect(Interval(nanoseconds: .min) * -1 == .forever)
        #expect(Interval(nanoseconds: .min) / -1 == .forever)
        #expect(Interval.minutes(3) / 2 == .seconds(90))
        #expect(BootTime.distantFuture + .seconds(1) == .distantFuture)
        #expect(BootTime.distantPast - .seconds(1) == .distantPast)
        #expect(BootTime.distantFuture - BootTime.distantPast == .forever)
        #expect(Interval.milliseconds(-1500).wholeSeconds == -1)
        #expect(Interval.milliseconds(1500).seconds == 1.5)
        var span = Interval.seconds(1)
        span += .seconds(2)
        span -= .milliseconds(500)
        #expect(span == .milliseconds(2500))
    }

    @Test func aDeadlineOfOneClockIsFoundOnAnother() {
        let moment = Moment(
            boot: BootTime(nanoseconds: 1000),
            awake: AwakeTime(nanoseconds: 400),
            wall: WallTime(nanoseconds: 1_000_000),
            utcOffset: 3600
        )
        #expect(moment.boot(of: AwakeTime(nanoseconds: 500)) == BootTime(nanoseconds: 1100))
        #expect(moment.boot(of: WallTime(nanoseconds: 999_990)) == BootTime(nanoseconds: 990))
        #expect(moment.boot(of: WallTime.distantFuture) > BootTime(nanoseconds: 1 << 62))
        #expect(moment.local.hour == 1)
    }

    /// Seconds since 1970, offset, and what the clock on the wall shows.
    @Test(arguments: [
        (0, 0, "1970-01-01 00:00:00", 3), (-1, 0, "1969-12-31 23:59:59", 2),
        (951_782_400, 0, "2000-02-29 00:00:00", 1), (951_868_799, 1, "2000-03-01 00:00:00", 2),
        (1_709_164_800, 3600, "2024-02-29 01:00:00", 3),
        (4_107_542_400, 0, "2100-03-01 00:00:00", 0),
        (1_772_348_709, -18_000, "2026-03-01 02:05:09", 6),
        (-2_203_891_200, 0, "1900-03-01 00:00:00", 3),
        (9_223_372_036, 0, "2262-04-11 23:47:16", 4), (-9_223_372_036, 0, "1677-09-21 00:12:44", 1),
    ])
    func datesFollowTheCalendar(seconds: Int64, offset: Int32, text: String, weekday: Int) {
        let local = LocalTime(
            WallTime(nanoseconds: seconds * 1_000_000_000),
            utcOffset: offset
        )
        #expect(local.description == text)
        #expect(local.weekday == weekday)
        #expect(local.wall(utcOffset: offset).nanoseconds == seconds * 1_000_000_000)
    }

    @Test func everyDayFollowsTheOneBefore() {
        var date: (year: Int64, month: Int64, day: Int64) = (1967, 12, 31)
        for day in Int64(-731)..<Int64(60_000) {
            let next = LocalTime(day: day, timeOfDay: .zero).date
            let isSameMonth = next == (date.year, date.month, date.day + 1)
            let isNextMonth = next == (date.year, date.month + 1, 1)
            let isNextYear = next == (date.year + 1, 1, 1) && date.month == 12 && date.day == 31
            #expect(isSameMonth && next.day <= 31 || isNextMonth && date.day >= 28 || isNextYear)
            date = next
        }
        #expect(date == (2134, 4, 10))
    }

    @Test(arguments: [
        ("2026-03-01", "2026-03-01 00:00:00.000"), ("2026-03-01 07:05", "2026-03-01 07:05:00.000"),
        ("2026-03-01T07:05:09", "2026-03-01 07:05:09.000"),
        ("2026-03-01 07:05:09.25", "2026-03-01 07:05:09.250"),
        ("2024-02-29 23:59:59.007", "2024-02-29 23:59:59.007"),
        ("2024-02-29 24:00", "2024-03-01 00:00:00.000"),
    ])
    func `a date is read as it is printed, and shorter`(text: String, printed: String) {
        #expect(LocalTime(text)?.withMilliseconds == printed)
    }

    @Test(arguments: [
        "", " ", "2026", "2026-03", "26-03-01", "2026-02-30", "2026-13-01", "2026-03-01 ",
        "2026-03-01 7", "2026-03-01 24:01", "2026-03-01 07:5", "2026-03-01 07:05:9",
        "2026-03-01 07:60", "2026-03-01 07:05:60",
        "2026-03-01 07:05:09.", "2026-03-01 07:05:09.1234", "2026-03-01 07:05 ", "+026-03-01",
        "2026-03-01Z", "2026-03-01 07:05:09Z", "2026--3-01",
    ])
    func `what is no date is none`(text: String) { #expect(LocalTime(text) == nil) }

    @Test func timesAtTheEndsOfTheScaleDoNotTrap() {
        for wall in [WallTime.distantPast, .distantFuture] {
            for offset in [Int32.min, 0, .max] {
                let local = LocalTime(wall, utcOffset: offset)
                _ = local.description
                _ = local.wall(utcOffset: offset)
            }
        }
        let last = LocalTime(.distantFuture, utcOffset: 0)
        #expect(last.wall(utcOffset: -3600) == .distantFuture)
        let first = LocalTime(.distantPast, utcOffset: 0)
        #expect(first.wall(utcOffset: 3600) == .distantPast)
    }

    @Test func identifiersAreToldApartByTheirBytes() throws {
        #expect(AppID("é") != AppID("e\u{301}"))
        #expect(AppID("a") < AppID("b") && AppID("Z") < AppID("a"))
        #expect(LaunchID(9) < LaunchID(10))
        #expect("\(AppID("x")) \(RequestID(3))" == "x 3")
        let table = [AppID("b"): 1, AppID("a"): 2]
        #expect(try ValueEncoder().encode(table) == ["a": 2, "b": 1])
        #expect(try ValueDecoder().decode([AppID: Int].self, from: ["a": 2, "b": 1]) == table)
        let launches = [LaunchID(7): "x"]
        #expect(try ValueEncoder().encode(launches) == ["7": "x"])
        #expect(try ValueDecoder().decode([LaunchID: String].self, from: ["7": "x"]) == launches)
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode([LaunchID: String].self, from: ["x": "x"])
        }
    }
}
