import Testing

@testable import Pages

/// What all pages are made of.
struct ChartTests {
    private static let foreign = "<a & \"b\">"
    private static let escaped = "&lt;a &amp; &quot;b&quot;&gt;"

    @Test func namesAreTextAndNoMarkup() {
        let point = Chart.Point(x: 1, y: 50, from: 40, to: 60, tooltip: Self.foreign)
        let texts = [
            Page(title: Self.foreign, style: PageStyle(), body: "").text,
            Chart(
                title: Self.foreign,
                xTitle: Self.foreign,
                yTitle: Self.foreign,
                xTicks: [(0, Self.foreign), (2, "")],
                better: .up,
                lines: [Chart.Line(name: "line", points: [point])]
            ).svg,
            BarChart(
                title: Self.foreign,
                unit: "%",
                most: 100,
                better: .right,
                bars: [BarChart.Bar(name: "bar", value: 1, tooltip: Self.foreign)]
            ).svg,
            DayChart(title: Self.foreign, begin: 0, names: [Self.foreign]).markup(""),
        ]
        for text in texts {
            #expect(text.contains(Self.escaped) && !text.contains("<a "), "\(text)")
        }
    }

    @Test func aPageHasTheColoursOfWhatItDrawsAlone() {
        let plain = PageStyle().text
        #expect(plain.contains("--ground:#fff") && !plain.contains("--offstage"))
        let blue = PageStyle.Colour(name: "blue", light: "#00f", dark: "#88f")
        let drawn = PageStyle(series: [ChartSeries(colour: blue)]).text
        #expect(drawn.contains(";--blue:#00f}") && drawn.contains(";--blue:#88f}"))
        #expect(drawn.contains(".blue .line{stroke:var(--blue)}"))
    }

    @Test func timesOfUseThatTouchAreOneBar() {
        let chart = DayChart(title: "", begin: 86_400, names: [])
        func bars(_ hours: [(Double, Double)]) -> [Substring] {
            let uses = hours.map { (chart.begin + $0.0 * 3600, chart.begin + $0.1 * 3600) }
            return chart.bar(uses, at: 0, width: 1).split(separator: "<line")
        }
        // What goes on after midnight ends with the day.
        let day = bars([(-1, 1), (1, 3), (12, 30)])
        #expect(day.count == 2)
        #expect(day.first?.contains("x1=\"0%\" x2=\"12.50%\"") == true)
        #expect(day.last?.contains("x1=\"50%\" x2=\"100%\"") == true)
        #expect(bars([(-3, -1)]).isEmpty && bars([(25, 26)]).isEmpty)
    }

    @Test func labelsKeepApartAndOffTheLines() {
        let bounds = ChartLabels.Box(x: 0, y: 0, width: 400, height: 200)
        var labels = ChartLabels(bounds: bounds)
        let point = (x: 100.0, y: 100.0)
        labels.avoid([(x: 20.0, y: 180.0), point])
        labels.avoid([(x: 90.0, y: 100.0), (x: 200.0, y: 100.0)])
        for name in ["first", "second"] {
            labels.add(name, style: "", size: 12, at: point, isNeeded: true)
        }
        let boxes = labels.labels.map { label in
            let width = 7 * Double(label.text.count)
            let left =
                switch label.anchor {
                case "end": label.x - width
                case "middle": label.x - width / 2
                default: label.x
                }
            return ChartLabels.Box(x: left, y: label.y - 10, width: width, height: 12)
        }
        #expect(boxes.count == 2 && !boxes[0].meets(boxes[1]))
        let line = ChartLabels.Box(x: 90, y: 99, width: 110, height: 2)
        #expect(!boxes.contains { $0.meets(line) })
    }
}
