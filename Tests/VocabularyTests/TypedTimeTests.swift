import Testing
import Vocabulary

/// Points in time as users type them, in zones whose clocks are set forward and back.
struct TypedTimeTests {
    /// Central Europe in 2026: clocks are set forward on 29 March and back on 25 October, both at
    /// 01:00 UTC.
    private static func berlin(_ time: WallTime) -> Int32 {
        let utc = LocalTime(time, utcOffset: 0)
        let isSummer =
            utc.description >= "2026-03-29 01:00:00" && utc.description < "2026-10-25 01:00:00"
        return isSummer ? 7200 : 3600
    }

    /// São Paulo in 2018: midnight of 4 November is skipped.
    private static func saoPaulo(_ time: WallTime) -> Int32 {
        LocalTime(time, utcOffset: 0).description >= "2018-11-04 03:00:00" ? -7200 : -10_800
    }

    private func utc(_ text: String) throws -> WallTime {
        try #require(LocalTime(text)).wall(utcOffset: 0)
    }

    @Test(
        arguments: [
            ("2h", .span(.hours(2))), ("0", .span(.zero)),
            ("18:30", .timeOfDay(.hours(18) + .minutes(30))),
            ("07:00:30", .timeOfDay(.hours(7) + .seconds(30))),
            ("2026-12-24", .date(LocalTime(day: 20_811, timeOfDay: .zero))),
            ("2026-12-24T18:30", .date(LocalTime(day: 20_811, timeOfDay: .minutes(18 * 60 + 30)))),
            ("24:00", .timeOfDay(.days(1))), (" 18:30 ", .timeOfDay(.minutes(18 * 60 + 30))),
            ("2026-12-24 24:00", .date(LocalTime(day: 20_812, timeOfDay: .zero))),
            ("tomorrow 14:00", .day(1, .hours(14))), ("Today 18:30", .day(0, .minutes(1110))),
            ("yesterday", .day(-1, .zero)), ("Fri 07:00", .weekday(4, .hours(7))),
            (
                "2026-11-28T14:06:07+00:00",
                .instant(WallTime(nanoseconds: 1_795_874_767_000_000_000))
            ),
            // One digit of the minutes may be missing.
            ("14:0", nil), ("14:00:5", nil), ("24:01", nil), ("tomorrow 14:0", nil), ("Fri", nil),
            ("2026-02-30T14:06:07Z", nil), ("2026-02-20T25:06:07Z", nil),
            ("tomorrow at 14:00", nil),
            ("", nil), ("soon", nil), ("-1h", nil), ("25:00", nil), ("18:60", nil), ("18", nil),
            ("2026-02-30", nil), ("24.12.2026", nil), ("12:30pm", nil),
        ] as [(String, TypedTime?)]
    )
    func `a span, a date or a time of day`(text: String, typed: TypedTime?) {
        #expect(TypedTime(text) == typed)
    }

    /// Now in UTC, what is typed, and what it is in UTC: the next one, and the last one.
    @Test(arguments: [
        ("2026-11-27 22:00", "2h", "2026-11-28 00:00", "2026-11-27 20:00"),
        // 23:00 in Berlin.
        ("2026-11-27 22:00", "23:30", "2026-11-27 22:30", "2026-11-26 22:30"),
        ("2026-11-27 22:00", "07:30", "2026-11-28 06:30", "2026-11-27 06:30"),
        ("2026-11-27 22:00", "23:00", "2026-11-28 22:00", "2026-11-27 22:00"),
        // Midnight has passed there, and not in UTC.
        ("2026-11-27 23:30", "00:15", "2026-11-28 23:15", "2026-11-27 23:15"),
        // Friday.
        ("2026-11-27 22:00", "tomorrow 07:30", "2026-11-28 06:30", "2026-11-28 06:30"),
        ("2026-11-27 22:00", "yesterday", "2026-11-25 23:00", "2026-11-25 23:00"),
        ("2026-11-27 22:00", "Fri 22:30", "2026-12-04 21:30", "2026-11-27 21:30"),
        ("2026-11-27 22:00", "Fri 23:30", "2026-11-27 22:30", "2026-11-20 22:30"),
        ("2026-11-27 22:00", "24:00", "2026-11-27 23:00", "2026-11-26 23:00"),
        (
            "2026-11-27 22:00", "2026-11-01T00:00:00-05:00", "2026-11-01 05:00",
            "2026-11-01 05:00"
        ),
        ("2026-11-27 22:00", "2026-12-24", "2026-12-23 23:00", "2026-12-23 23:00"),
        ("2026-11-27 22:00", "2026-07-01 12:00", "2026-07-01 10:00", "2026-07-01 10:00"),
        // The day on which clocks are set forward has no 02:30: it comes an hour later.
        ("2026-03-28 22:00", "02:30", "2026-03-29 01:30", "2026-03-28 01:30"),
        ("2026-03-28 22:00", "07:00", "2026-03-29 05:00", "2026-03-28 06:00"),
        // The day on which they are set back has two.
        ("2026-10-24 22:30", "02:30", "2026-10-25 00:30", "2026-10-24 00:30"),
        ("2026-10-25 00:45", "02:30", "2026-10-25 01:30", "2026-10-25 00:30"),
        ("2026-10-25 01:45", "02:30", "2026-10-26 01:30", "2026-10-25 01:30"),
        ("2026-10-24 12:00", "2026-10-25 02:30", "2026-10-25 00:30", "2026-10-25 00:30"),
        ("2026-10-25 03:00", "2026-10-25 02:30", "2026-10-25 01:30", "2026-10-25 01:30"),
    ])
    func `it is by the clock on the wall`(
        now: String,
        text: String,
        next: String,
        last: String
    ) throws {
        let now = try utc(now)
        let typed = try #require(TypedTime(text))
        let zone = Self.berlin
        #expect(typed.wall(.future, of: now, zone: zone) == (try utc(next)))
        #expect(typed.wall(.past, of: now, zone: zone) == (try utc(last)))
    }

    @Test func `a date whose midnight is skipped begins an hour later`() throws {
        let date = try #require(LocalTime("2018-11-04"))
        #expect(date.walls(zone: Self.saoPaulo) == [try utc("2018-11-04 03:00")])
    }

    /// Each point in time is found again by what the clock shows then.
    @Test func `what a clock shows is when it shows it`() throws {
        var time = try utc("2026-01-01 00:10")
        let end = try utc("2027-01-01 00:00")
        while time < end {
            let shown = LocalTime(time, utcOffset: Self.berlin(time))
            let walls = shown.walls(zone: Self.berlin)
            #expect(walls.contains(time), "\(shown)")
            #expect(walls == walls.sorted() && walls.count <= 2)
            for wall in walls {
                #expect(LocalTime(wall, utcOffset: Self.berlin(wall)) == shown)
            }
            time = time + .minutes(30)
        }
    }

    @Test func `dates at the ends of the scale do not trap`() throws {
        for text in ["9999-12-31 23:59", "0000-01-01"] {
            let typed = try #require(TypedTime(text))
            for now in [WallTime.distantPast, WallTime(nanoseconds: 0), .distantFuture] {
                for side in [TypedTime.Side.future, .past] {
                    _ = typed.wall(side, of: now, zone: Self.berlin)
                    _ = TypedTime.timeOfDay(.hours(1)).wall(side, of: now, zone: Self.berlin)
                }
            }
        }
    }
}
