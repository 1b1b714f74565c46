internal import Vocabulary

/// A bar for each of a few, one below the other (SVG).
struct BarChart {
    struct Bar {
        /// Names it, and its colour in the style sheet.
        var name: String
        var value: Double
        /// Where 95 % of samples lie; nil: not known.
        var range: (from: Double, to: Double)?
        var tooltip: String
    }

    var title: String
    /// What follows a value.
    var unit: String
    /// Where the scale ends.
    var most: Double
    var better: ChartDirection
    var bars: [Bar]

    private static let (left, width, right, row) = (84.0, 400.0, 70.0, 34.0)
    private static let top = 26.0

    private func x(_ value: Double) -> Double {
        Self.left + value / max(most, 0.001) * (Self.width - Self.left - Self.right)
    }

    var svg: String {
        let height = Int(Self.top + Self.row * Double(bars.count)) + 4
        var text = "<path class=\"grid\" d=\"M\(Self.left) \(Self.top - 4)V\(height - 4)\"/>"
        text += better.svg(x: Self.left, y: 14)
        for (index, bar) in bars.enumerated() {
            let y = Double(index) * Self.row + Self.top
            let end = bar.range.map { max($0.to, bar.value) } ?? bar.value
            text +=
                "<g class=\"\(bar.name)\"><title>\(bar.tooltip.markup)</title>"
                + "<rect class=\"bar\" x=\"\(Self.left)\" y=\"\(y + 3)\" "
                + "width=\"\((x(bar.value) - Self.left).tenths)\" height=\"20\"/></g>"
                + "<text class=\"\(bar.name)\" text-anchor=\"end\" x=\"\(Self.left - 8)\" "
                + "y=\"\(y + 18)\">\(bar.name)</text>"
            if let range = bar.range { text += interval(range, y: y + 13) }
            text +=
                "<text x=\"\((x(end) + 8).tenths)\" y=\"\(y + 18)\">"
                + "\(bar.value.tenths)\(unit.isEmpty ? "" : " \(unit)")</text>"
        }
        return Figure(title: title, width: Int(Self.width), height: height, drawing: text).svg
    }

    /// With ends, on a ground of its own: it is seen inside the bar as well as beyond it.
    private func interval(_ range: (from: Double, to: Double), y: Double) -> String {
        let (from, to) = (x(range.from).tenths, x(range.to).tenths)
        let path = "d=\"M\(from) \(y - 5)V\(y + 5)M\(from) \(y)H\(to)M\(to) \(y - 5)V\(y + 5)\""
        return "<path class=\"halo\" \(path)/><path class=\"range\" \(path)/>"
    }
}
