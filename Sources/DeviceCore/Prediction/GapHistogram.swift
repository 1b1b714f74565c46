/// How long an app, or the device, stays unused: time without use, and what became of it, by how
/// long it had lasted.
struct GapHistogram: Hashable, Sendable, Codable {
    /// Where a span begins; each ends where the next begins, the last never. Seconds.
    private let begins: [Double]
    /// In units of the two users of it below.
    private var time: [Double]
    private var events: [Double]

    private init(begins: [Double]) {
        self.begins = begins
        time = [Double](repeating: 0, count: begins.count)
        events = time
    }

    /// From half an hour on, when content is stale.
    static let ofApp = GapHistogram(
        begins: [1800, 3600, 7200, 14_400, 28_800, 57_600, 115_200]
    )
    static let ofDevice = GapHistogram(
        begins: [0, 120, 300, 900, 1800, 3600, 7200, 14_400, 28_800]
    )

    /// `new`: before anything was seen.
    func isValid(as new: GapHistogram) -> Bool {
        begins == new.begins && time.count == begins.count && events.count == begins.count
            && time.allSatisfy(\.isAmount) && events.allSatisfy(\.isAmount)
    }

    private func index(_ seconds: Double) -> Int {
        var index = 0
        while index + 1 < begins.count, seconds > begins[index + 1] { index += 1 }
        return index
    }

    private func end(_ index: Int) -> Double {
        index + 1 < begins.count ? begins[index + 1] : .infinity
    }

    mutating func forget(by factor: Double) {
        for index in begins.indices {
            time[index] *= factor
            events[index] *= factor
        }
    }

    // MARK: An app

    /// It was opened after `gap` seconds. Half hours, and opens.
    mutating func opened(after gap: Double) {
        guard gap > begins[0] else { return }
        forget(by: 0.98)
        for index in begins.indices {
            time[index] += max(0, min(gap, end(index)) - begins[index]) / 1800
        }
        events[index(gap)] += 1
    }

    func opensPerHalfHour(after gap: Double) -> Double {
        var all = (time: 10.0, events: 0.5)
        for index in begins.indices {
            all.time += time[index]
            all.events += events[index]
        }
        let index = index(gap)
        return (events[index] + 3 * (all.events / all.time)) / (time[index] + 3)
    }

    // MARK: The device

    /// It was used again after `gap` seconds. Five minutes, and those that were less than half an
    /// hour before use. More than a day is no habit.
    mutating func used(after gap: Double) {
        let gap = min(86_400, gap)
        for index in begins.indices {
            let end = min(gap, end(index))
            time[index] += max(0, end - begins[index]) / 300
            events[index] += max(0, end - max(begins[index], gap - 1800)) / 300
        }
    }

    func nearShare(after gap: Double) -> Double {
        let index = index(gap)
        return (events[index] + 1.8) / (time[index] + 6)
    }
}
