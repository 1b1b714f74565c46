/// Where the times of a day are, in percent of a width: hours of the night are folded, that is
/// drawn narrower than the others.
struct DayScale: Hashable {
    /// An hour of the night is as wide as this part of another one.
    static let fold = 0.25

    /// Where each hour begins and the day ends, in percent.
    private let edges: [Double]
    private let folded: Set<Int>

    /// The hours that are folded, 0 to 23.
    init(folding hours: [Int] = []) {
        folded = Set(hours)
        var edges = [0.0]
        for hour in 0..<24 { edges.append(edges[hour] + (folded.contains(hour) ? Self.fold : 1)) }
        let whole = edges[24]
        self.edges = edges.map { $0 * 100 / whole }
    }

    func percent(ofHour hour: Double) -> Double {
        let whole = min(23, max(0, Int(hour)))
        return edges[whole] + (hour - Double(whole)) * (edges[whole + 1] - edges[whole])
    }

    /// The hours with a line: every third one by day, and where the night begins and ends.
    var marks: [Int] {
        (0...24).filter { hour in
            let (before, after) = (folded.contains(hour - 1), folded.contains(hour))
            if hour == 0 || hour == 24 { return true }
            return before != after || (!before && hour % 3 == 0)
        }
    }

    /// Those of the marks that have room for a number, even on a phone.
    var labels: [Int] {
        let isEdge = { (hour: Int) in
            (1...23).contains(hour) && folded.contains(hour - 1) != folded.contains(hour)
        }
        // Where the night ends says more than midnight does.
        let ranked = marks.sorted { (isEdge($0) ? 0 : 1, $0) < (isEdge($1) ? 0 : 1, $1) }
        var labels: [Int] = []
        for hour in ranked where labels.allSatisfy({ abs(edges[$0] - edges[hour]) >= 7.5 }) {
            labels.append(hour)
        }
        return labels.sorted()
    }

    /// From which hour to which the night goes.
    var nights: [Range<Int>] {
        marks.filter { folded.contains($0) && !folded.contains($0 - 1) }.map { start in
            start..<((start..<24).first { !folded.contains($0) } ?? 24)
        }
    }
}
