/// Lines of points in one drawing (SVG), with a scale on both sides.
struct Chart {
    struct Point {
        var x: Double
        var y: Double
        /// Where 95 % of samples lie.
        var from: Double
        var to: Double
        var words: String
    }

    struct Line {
        /// Names it, and its colour in the style sheet.
        var name: String
        var points: [Point]
    }

    var title: String
    var xTitle: String
    var yTitle: String
    /// Of the scale below: value and what stands there.
    var xTicks: [(value: Double, text: String)]
    var lines: [Line]

    private static let (width, height) = (560.0, 360.0)
    private static let (left, right, top, bottom) = (48.0, 96.0, 16.0, 48.0)
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
        var text =
            "<figure><figcaption>\(title.markup)</figcaption><svg viewBox=\"0 0 \(Int(Self.width)) "
            + "\(Int(Self.height))\" role=\"img\" aria-label=\"\(title.markup)\">"
        text += axes
        // Ours last: above the others.
        for line in lines.reversed() { text += drawn(line) }
        for label in labels {
            text +=
                "<text class=\"name \(label.name)\" x=\"\((label.x + 9).tenths)\" "
                + "y=\"\((label.y + 4).tenths)\">\(label.name)</text>"
        }
        return text + "</svg></figure>\n"
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
        for tick in xTicks {
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
        guard let first = line.points.first else { return "" }
        var text = "<g class=\"\(line.name)\">"
        let upper = line.points.map { "\(x($0.x).tenths) \(y($0.to).tenths)" }
        let lower = line.points.reversed().map { "\(x($0.x).tenths) \(y($0.from).tenths)" }
        if line.points.count > 1 {
            text += "<path class=\"band\" d=\"M\((upper + lower).joined(separator: "L"))Z\"/>"
        } else {
            text +=
                "<path class=\"line\" d=\"M\(x(first.x).tenths) \(y(first.from).tenths)"
                + "V\(y(first.to).tenths)\"/>"
        }
        let middle = line.points.map { "\(x($0.x).tenths) \(y($0.y).tenths)" }
        text += "<path class=\"line\" d=\"M\(middle.joined(separator: "L"))\"/>"
        for point in line.points {
            text +=
                "<circle cx=\"\(x(point.x).tenths)\" cy=\"\(y(point.y).tenths)\" r=\"4\">"
                + "<title>\(point.words.markup)</title></circle>"
        }
        return text + "</g>"
    }

    /// Beside the ends of the lines; those that end close to each other one below the other.
    private var labels: [(name: String, x: Double, y: Double)] {
        var labels = lines.compactMap { line in
            line.points.last.map { (name: line.name, x: x($0.x), y: y($0.y)) }
        }.sorted { $0.y < $1.y }
        for place in labels.indices {
            for other in labels[..<place] where abs(other.x - labels[place].x) < 72 {
                labels[place].y = max(labels[place].y, other.y + 16)
            }
        }
        return labels
    }
}

extension String {
    /// As text of a page.
    var markup: String {
        var text = ""
        for character in self {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(character)
            }
        }
        return text
    }
}
