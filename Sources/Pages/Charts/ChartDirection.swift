/// Which way is better in a chart; marked above it.
enum ChartDirection {
    case up, upAndLeft, left, right

    var mark: String {
        switch self {
        case .up: "↑ better: higher"
        case .upAndLeft: "↖ better: higher, and further left"
        case .left: "← better: shorter"
        case .right: "→ better: longer"
        }
    }

    /// As text of a drawing, whose left end is there.
    func svg(x: Double, y: Double) -> String {
        "<text class=\"better\" x=\"\(x)\" y=\"\(y)\">\(mark)</text>"
    }
}
