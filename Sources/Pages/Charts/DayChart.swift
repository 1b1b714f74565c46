internal import Vocabulary

/// A chart of one day, as wide as the page: hours on top, then one lane for the device and one
/// for each of a few names (SVG in HTML).
struct DayChart {
    /// What it shows, for those who do not see it.
    let title: String
    /// Midnight; times are seconds.
    let begin: Double
    /// From above.
    let names: [String]
    var scale = DayScale()

    /// Where the use of the device is drawn.
    static let device = 31.0
    /// Where upright lines through the whole day begin.
    static let head = 18.0

    private static let (top, row) = (38.0, 14.0)
    private static let length = 86_400.0

    var end: Double { begin + Self.length }
    var height: Double { Self.top + Double(names.count) * Self.row + 4 }

    /// The middle of a line.
    func y(_ line: Int) -> Double { Self.top + (Double(line) + 0.5) * Self.row }

    /// In percent of the width, so that a whole day is seen on any screen.
    func x(_ time: Double) -> Double { scale.percent(ofHour: (time - begin) / 3600) }

    func place(_ time: Double) -> String { Self.text(percent: x(time)) }

    private static func text(percent: Double) -> String {
        let hundredths = Int((percent * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100)" + (rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)") + "%"
    }

    /// The whole, with what is drawn on its lines.
    func markup(_ drawing: String) -> String {
        "<div class=\"day\">\(labels)<div class=\"hours\"><svg class=\"stripes\" "
            + "height=\"\(Int(height))\">\(stripes)</svg><svg width=\"100%\" "
            + "height=\"\(Int(height))\" role=\"img\" aria-label=\"\(title.markup)\">"
            + "\(nights)\(hours)\(drawing)</svg></div></div>\n"
    }

    /// Behind every second line, so that the eye finds its name.
    private var stripes: String {
        stride(from: 0, to: names.count, by: 2).map { line in
            "<path class=\"stripe\" d=\"M0 \(y(line))h4000\"/>"
        }.joined()
    }

    /// As text and not as part of the drawing: what does not fit is cut off, with three dots.
    private var labels: String {
        let names = names.map { name in
            "<span title=\"\(name.markup)\">\(name.markup)</span>"
        }
        return "<div class=\"apps\"><span class=\"faint\">device</span>\(names.joined())</div>"
    }

    private var hours: String {
        let labels = scale.labels
        return scale.marks.map { hour in
            let x = place(begin + Double(hour) * 3600)
            let label =
                "<text class=\"scale\" text-anchor=\"middle\" x=\"\(x)\" "
                + "y=\"12\">\(hour)</text>"
            return upright("grid", at: x, Self.head, height)
                + (labels.contains(hour) ? label : "")
        }.joined()
    }

    private var nights: String {
        scale.nights.map { night in
            let from = scale.percent(ofHour: Double(night.lowerBound))
            let width = scale.percent(ofHour: Double(night.upperBound)) - from
            return "<rect class=\"night\" x=\"\(Self.text(percent: from))\" y=\"\(Self.head)\" "
                + "width=\"\(Self.text(percent: width))\" height=\"\(height - Self.head)\">"
                + "<title>night, folded: \(night.lowerBound) to \(night.upperBound)</title></rect>"
        }.joined()
    }

    func upright(
        _ style: String,
        at x: String,
        _ from: Double,
        _ to: Double,
        _ inside: String = ""
    ) -> String {
        "<line class=\"\(style)\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(from)\" y2=\"\(to)\""
            + (inside.isEmpty ? "/>" : ">\(inside)</line>")
    }

    /// Times of use, those that touch in the drawing as one.
    func bar(_ uses: [(Double, Double)], at y: Double, width: Int) -> String {
        var parts: [(from: Double, to: Double)] = []
        for (start, end) in uses where start < self.end && end >= begin {
            let from = x(max(start, begin))
            // Short ones are seen, too.
            let to = max(from + 0.15, x(min(end, self.end)))
            if let last = parts.last, from <= last.to {
                parts[parts.count - 1].to = max(last.to, to)
            } else {
                parts.append((from, to))
            }
        }
        return parts.map { part in
            "<line class=\"use\" stroke-width=\"\(width)\" x1=\"\(Self.text(percent: part.from))\" "
                + "x2=\"\(Self.text(percent: part.to))\" y1=\"\(y)\" y2=\"\(y)\"/>"
        }.joined()
    }

    /// What drawings of 16 by 16 mean.
    static func key(_ rows: [(drawing: String, label: String)]) -> String {
        "<ul class=\"key\">"
            + rows.map { drawing, label in
                "<li><svg width=\"16\" height=\"16\">\(drawing)</svg>\(label)</li>"
            }.joined() + "</ul>\n"
    }

    // MARK: Style

    static let colours = [
        PageStyle.Colour(name: "use", light: "#b9c3cf", dark: "#55616e"),
        PageStyle.Colour(name: "shade", light: "#f7f8fa", dark: "#1b1f24"),
        PageStyle.Colour(name: "stripe", light: "#eef1f4", dark: "#22272d"),
    ]

    static let rules = """
        .day{display:flex;background:var(--shade);overflow:hidden;padding-right:12px}\
        .day>.apps{flex:none;width:128px;font-size:11px;line-height:14px}\
        .apps span{display:block;height:14px;padding:0 4px;overflow:hidden;white-space:nowrap;\
        text-overflow:ellipsis}.apps span:first-child{height:14px;padding-top:24px}\
        .apps span:nth-child(even){background:var(--stripe)}\
        .hours{position:relative;flex:1;min-width:0;padding-left:12px}\
        .hours svg{overflow:visible;display:block;position:relative}\
        .hours .stripes{position:absolute;left:0;width:1px}.day text{font-size:11px}
        .key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.8rem 0;padding:0;list-style:none;\
        font-size:14px}.key svg{vertical-align:middle;margin-right:.3rem}
        .stripe{stroke:var(--stripe);stroke-width:14}
        .use{stroke:var(--use);fill:none}.night{fill:var(--grid);opacity:.75}
        @media(max-width:600px){.day>.apps{width:84px}}
        """
}
