import Commands
import Testing
import Vocabulary

/// Times, spans and columns as a person reads them.
struct TextTests {
    let now = TestTerminal().now

    @Test(arguments: [
        (Interval.zero, "now"), (.milliseconds(-999), "just now"), (.seconds(45), "in 45 s"),
        (.seconds(-45), "45 s ago"), (.minutes(12), "in 12 min"), (.seconds(-3599), "59 min ago"),
        (.hours(2), "today 14:00"), (.hours(-12), "today 00:00"), (.hours(12), "tomorrow 00:00"),
        (.hours(-13), "yesterday 23:00"), (.days(2), "Thu 12:00"), (.days(6), "Mon 12:00"),
        (.days(7), "2026-03-10 12:00"), (.days(-2), "2026-03-01 12:00"),
    ])
    func timesAreSaidAsPeopleSayThem(_ distance: Interval, _ words: String) {
        #expect(Times.text(now.wall + distance, at: now) == words)
    }

    @Test func stampsNameTheDayUnlessItIsToday() {
        #expect(Times.stamp(now.wall, at: now) == "12:00:00")
        #expect(Times.stamp(now.wall - .days(1), at: now) == "2026-03-02 12:00:00")
    }

    @Test(arguments: [
        (0.0, "0 s"), (0.25, "0.2 s"), (9.99, "9.9 s"), (10, "10 s"), (200, "3 min 20 s"),
        (7200, "2 h"), (7500, "2 h 5 min"), (90_000, "1 d 1 h"), (-1, "–"), (.infinity, "–"),
    ])
    func spansAreShort(_ seconds: Double, _ words: String) {
        #expect(Times.span(seconds) == words)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0)), ("2026-03-03T12:00:00+01:00", 1_772_535_600),
        ("2024-02-29T23:59:59-05:30", 1_709_270_999), ("1969-12-31T23:59:59+00:00", -1),
    ])
    func timesOfReportsAreRead(_ text: String, _ seconds: Int64) {
        #expect(WallTime(rfc3339: text)?.nanoseconds == seconds * 1_000_000_000)
    }

    @Test(arguments: [
        "", "2026", "2026-03-03 12:00:00Z", "2026-13-03T12:00:00Z", "2026-03-03T12:00:00",
        "2026-03-03T12:00:00+0100", "2026-03-03T12:00:00Zx", "２０２６-03-03T12:00:00Z",
    ])
    func otherTextIsNoTime(_ text: String) { #expect(WallTime(rfc3339: text) == nil) }
}
