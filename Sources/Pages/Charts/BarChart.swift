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
    var bars: [Bar]

    private static let (left, width, right, row) = (84.0, 560.0, 84.0, 34.0)

    private func x(_ value: Double) -> Double {
        Self.left + value / max(most, 0.001) * (Self.width - Self.left - Self.right)
    }

    var svg: String {
        let height = Int(Self.row) * bars.count + 12
        var text = "<path class=\"grid\" d=\"M\(Self.left) 2V\(height - 4)\"/>"
        for (index, bar) in bars.enumerated() {
            let y = Double(index) * Self.row + 6
            let end = bar.range.map { max($0.to, bar.value) } ?? bar.value
            text +=
                "<g class=\"\(bar.name)\"><title>\(bar.tooltip.markup)</title>"
                + "<rect class=\"bar\" x=\"\(Self.left)\" y=\"\(y + 3)\" "
                + "width=\"\((x(bar.value) - Self.left).tenths)\" height=\"20\"/></g>"
                + "<text class=\"\(bar.name)\" text-anchor=\"end\" x=\"\(Self.left - 8)\" "
                + "y=\"\(y + 17)\">\(bar.name)</text>"
            if let range = bar.range {
                text +=
                    "<path class=\"range\" d=\"M\(x(range.from).tenths) \(y + 13)"
                    + "H\(x(range.to).tenths)\"/>"
            }
            text +=
                "<text x=\"\((x(end) + 8).tenths)\" y=\"\(y + 17)\">"
                + "\(bar.value.tenths) \(unit)</text>"
        }
        return Figure(title: title, width: Int(Self.width), height: height, drawing: text).svg
    }
}
