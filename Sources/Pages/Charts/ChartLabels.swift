/// Finds room for words in a drawing: where they cover the least of what is there already.
struct ChartLabels {
    struct Box {
        var x: Double
        var y: Double
        var width: Double
        var height: Double

        func meets(_ other: Box) -> Bool {
            x < other.x + other.width && other.x < x + width && y < other.y + other.height
                && other.y < y + height
        }
    }

    struct Label {
        var text: String
        var style: String
        /// Which of its ends is at `x`, on its base line: the one beside its point, so that it
        /// stays there in smaller letters.
        var anchor: String
        var x: Double
        var y: Double
    }

    /// What it may stand on.
    let bounds: Box
    private(set) var labels: [Label] = []
    private var lines: [Box] = []
    private var points: [Box] = []
    private var taken: [Box] = []

    init(bounds: Box) { self.bounds = bounds }

    mutating func avoid(_ points: [(x: Double, y: Double)]) {
        for point in points {
            self.points.append(Box(x: point.x - 5, y: point.y - 5, width: 10, height: 10))
        }
        for (from, to) in zip(points, points.dropFirst()) {
            let steps = max(1, Int(max(abs(to.x - from.x), abs(to.y - from.y)) / 3))
            for step in 0...steps {
                let part = Double(step) / Double(steps)
                let (x, y) = (from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part)
                lines.append(Box(x: x - 3, y: y - 3, width: 6, height: 6))
            }
        }
    }

    /// Puts it beside a point. `isNeeded`: somewhere even if nothing is free.
    mutating func add(
        _ text: String,
        style: String,
        size: Double,
        at point: (x: Double, y: Double),
        isNeeded: Bool
    ) {
        let (width, height) = (Double(text.count) * size * 0.6, size)
        let (right, left) = (point.x + 8, point.x - 8 - width)
        let (middle, level) = (point.x - width / 2, point.y - height / 2)
        let (above, below) = (point.y - height - 7, point.y + 7)
        var places = [
            (right, level), (right, level + 9), (right, level - 9), (left, level),
            (left, level - 9), (left, level + 9), (middle, above), (middle, below),
            (right, above), (right, below), (left, above), (left, below),
        ]
        if isNeeded { places += [(right, level + 16), (right, level - 16), (right, level + 32)] }
        let boxes = places.map { Box(x: $0.0, y: $0.1, width: width, height: height) }
        let costs = boxes.map(cost)
        guard let least = costs.min(), isNeeded || least < 1,
            let best = costs.firstIndex(of: least)
        else { return }
        let box = boxes[best]
        taken.append(box)
        let (anchor, x) =
            box.x == left
            ? ("end", box.x + width)
            : box.x == middle ? ("middle", point.x) : ("start", box.x)
        labels.append(
            Label(text: text, style: style, anchor: anchor, x: x, y: box.y + height * 0.85)
        )
    }

    private func cost(_ box: Box) -> Int {
        let isOutside =
            box.x < bounds.x || box.y < bounds.y || box.x + box.width > bounds.x + bounds.width
            || box.y + box.height > bounds.y + bounds.height
        return (isOutside ? 1000 : 0) + 100 * taken.count(where: box.meets)
            + 20 * points.count(where: box.meets) + lines.count(where: box.meets)
    }
}
