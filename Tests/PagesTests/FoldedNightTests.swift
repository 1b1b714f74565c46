import Testing

@testable import Pages

/// A day is drawn so that its night takes little room.
struct FoldedNightTests {
    @Test func withoutANightAllHoursAreAsWide() {
        let scale = DayScale()
        for hour in 0...24 {
            #expect(abs(scale.percent(ofHour: Double(hour)) - Double(hour) / 0.24) < 1e-9)
        }
        #expect(scale.labels == [0, 3, 6, 9, 12, 15, 18, 21, 24] && scale.nights.isEmpty)
    }

    @Test func anHourOfTheNightIsAQuarterAsWide() {
        let scale = DayScale(folding: [0, 1, 2, 3, 4, 5, 23])
        let width = { (hour: Double) in
            scale.percent(ofHour: hour + 1) - scale.percent(ofHour: hour)
        }
        #expect(abs(width(3) * 4 - width(12)) < 1e-9 && abs(width(23) - width(0)) < 1e-9)
        #expect(scale.percent(ofHour: 0) == 0 && abs(scale.percent(ofHour: 24) - 100) < 1e-9)
        // Nothing is left out, and nothing changes its order.
        let places = (0...240).map { scale.percent(ofHour: Double($0) / 10) }
        #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 })
        #expect(scale.nights == [0..<6, 23..<24])
    }

    @Test func whereTheNightEndsIsWritten() {
        for night in 1...11 {
            let scale = DayScale(folding: Array(0..<night))
            #expect(scale.labels.contains(night), "\(scale.labels)")
            let places = scale.labels.map { scale.percent(ofHour: Double($0)) }
            #expect(zip(places, places.dropFirst()).allSatisfy { $1 - $0 >= 7.5 }, "\(places)")
        }
    }

    private static let days = Array(0..<20)

    /// Each day from `start` to `end` o'clock.
    private func uses(_ start: Double, _ end: Double) -> [(start: Double, end: Double)] {
        Self.days.map { day in
            ((Double(day) * 24 + start) * 3600, (Double(day) * 24 + end) * 3600)
        }
    }

    @Test func theNightIsTheLongestTimeWithoutUse() {
        let lunch = uses(7.5, 12) + uses(17, 22.5)
        #expect(TimelineLife.night(lunch, Self.days) == [0, 1, 2, 3, 4, 5, 6, 23])
        // Who is up at 2 on two days of twenty has a night all the same, and on three none then.
        let late = Array(uses(2, 2.1).prefix(3))
        #expect(TimelineLife.night(lunch + late.prefix(2), Self.days).contains(2))
        #expect(!TimelineLife.night(lunch + late, Self.days).contains(2))
        // No use at all, or no long time without: no night.
        #expect(TimelineLife.night([], Self.days).isEmpty)
        #expect(TimelineLife.night(uses(2, 24), Self.days).isEmpty)
    }

    @Test func theDayShowsItsNight() {
        let scale = DayScale(folding: [0, 1, 2, 3, 4, 5])
        let chart = DayChart(title: "", begin: 0, names: ["mail"], scale: scale)
        let drawn = chart.markup("")
        #expect(drawn.contains("class=\"night\" x=\"0%\""))
        #expect(drawn.contains("<title>night, folded: 0 to 6</title>"))
        #expect(!DayChart(title: "", begin: 0, names: ["mail"]).markup("").contains("night"))
        #expect(abs(chart.x(6 * 3600) - 7.692) < 0.001)
    }
}
