internal import Vocabulary

/// Lines of points in one drawing (SVG), with a scale on both sides.
struct Chart {
    struct Point {
        var x: Double
        var y: Double
        /// Where 95 % of samples lie.
        var from: Double
        var to: Double
        var tooltip: String
        /// What stands beside it, if there is room; may be empty.
        var note = ""
    }

    struct Line {
        /// Names it, and its colour in the style sheet.
        var name: String
        var points: [Point]
        /// Points of the same policy that are not on its line, as rings.
        var rings: [Point] = []
    }

    var title: String
    var xTitle: String
    var yTitle: String
    /// Of the scale below: value and what stands there.
    var xTicks: [(value: Double, text: String)]
    var better: ChartDirection
    var lines: [Line]
    /// Whether `from` and `to` say anything.
    var hasBands = true

    private static let (width, height) = (400.0, 330.0)
    private static let (left, right, top, bottom) = (46.0, 84.0, 32.0, 48.0)
    /// Of the letters, so that they are readable where the drawing is as wide as a phone.
    static let (letters, noteLetters) = (14.0, 13.0)
    private var xRange: (Double, Double) {
        let values = xTicks.map(\.value)
        return (values.min() ?? 0, max(values.max() ?? 1, (values.min() ?? 0) + 0.001))
    }

    private func x(_ value: Double) -> Double {
        let (low, high) = xRange
        return Self.left + (value - low) / (high - low) * (Self.width - Self.left - Self.right)
    }

    private func y(_ percent: Double) -> Double {
        Self.height - Self.bottom - percent / 100 * (Self.height - Self.top - Self.bottom)
    }

    var svg: String {
        var text = axes + better.svg(x: Self.left, y: 16)
        // Ours last: above the others.
        for line in lines.reversed() { text += drawn(line) }
        for label in labels {
            text +=
                "<text class=\"\(label.style)\" text-anchor=\"\(label.anchor)\" "
                + "x=\"\(label.x.tenths)\" y=\"\(label.y.tenths)\">\(label.text.markup)</text>"
        }
        return Figure(title: title, width: Int(Self.width), height: Int(Self.height), drawing: text)
            .svg
    }

    private var axes: String {
        var text = ""
        for percent in stride(from: 0.0, through: 100, by: 20) {
            let y = y(percent)
            text +=
                "<path class=\"grid\" d=\"M\(Self.left) \(y.tenths)H\(Self.width - Self.right)\"/>"
            text +=
                "<text class=\"scale\" text-anchor=\"end\" x=\"\(Self.left - 8)\" "
                + "y=\"\((y + 4).tenths)\">\(Int(percent))</text>"
        }
        let base = Self.height - Self.bottom
        var last = -Double.infinity
        // Those that would touch the one before are left out.
        for tick in xTicks where x(tick.value) - last >= 22 {
            last = x(tick.value)
            text +=
                "<text class=\"scale\" text-anchor=\"middle\" x=\"\(x(tick.value).tenths)\" "
                + "y=\"\(base + 18)\">\(tick.text.markup)</text>"
        }
        let middle = (Self.left + Self.width - Self.right) / 2
        text +=
            "<text class=\"axis\" text-anchor=\"middle\" x=\"\(middle)\" y=\"\(base + 38)\">"
            + "\(xTitle.markup)</text>"
        let half = (Self.top + base) / 2
        text +=
            "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(14 \(half)) "
            + "rotate(-90)\">\(yTitle.markup)</text>"
        return text
    }

    private func drawn(_ line: Line) -> String {
        var text = "<g class=\"\(line.name)\">"
        let upper = line.points.map { "\(x($0.x).tenths) \(y($0.to).tenths)" }
        let lower = line.points.reversed().map { "\(x($0.x).tenths) \(y($0.from).tenths)" }
        if hasBands {
            text += "<path class=\"band\" d=\"M\((upper + lower).joined(separator: "L"))Z\"/>"
        }
        let middle = line.points.map { "\(x($0.x).tenths) \(y($0.y).tenths)" }
        text += "<path class=\"line\" d=\"M\(middle.joined(separator: "L"))\"/>"
        for point in line.points {
            text +=
                circle(point, "r=\"\(line.rings.isEmpty ? 4 : 2.5)\"")
        }
        for ring in line.rings { text += circle(ring, "class=\"ring\" r=\"4.5\"") }
        return text + "</g>"
    }

    private func circle(_ point: Point, _ look: String) -> String {
        "<circle \(look) cx=\"\(x(point.x).tenths)\" cy=\"\(y(point.y).tenths)\">"
            + "<title>\(point.tooltip.markup)</title></circle>"
    }

    /// The names of the lines at their ends, and what stands at points.
    private var labels: [ChartLabels.Label] {
        var labels = ChartLabels(
            bounds: ChartLabels.Box(
                x: Self.left + 2,
                y: 20,
                width: Self.width - Self.left - 2,
                height: Self.height - Self.bottom - 22
            )
        )
        let drawn = lines.map { line in line.points.map { (x: x($0.x), y: y($0.y)) } }
        for points in drawn { labels.avoid(points) }
        // One by one: no line goes through them.
        for ring in lines.flatMap(\.rings) { labels.avoid([(x: x(ring.x), y: y(ring.y))]) }
        let ends = zip(lines, drawn).compactMap { line, points in
            points.last.map { (name: line.name, point: $0) }
        }
        for end in ends.sorted(by: { $0.point.y < $1.point.y }) {
            labels.add(
                end.name,
                style: "name \(end.name)",
                size: Self.letters,
                at: end.point,
                isNeeded: true
            )
        }
        for line in lines {
            for point in line.rings + line.points where !point.note.isEmpty {
                labels.add(
                    point.note,
                    style: "note \(line.name)",
                    size: Self.noteLetters,
                    at: (x: x(point.x), y: y(point.y)),
                    isNeeded: false
                )
            }
        }
        return labels.labels
    }
}
