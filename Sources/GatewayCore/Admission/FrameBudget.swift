/// How many frames one device has sent lately: so many are fine at once, and a twentieth of them
/// more each second.
package struct FrameBudget: Sendable {
    private var frames = 0
    private var since: Int64 = 0

    package init() {}

    /// Whether it may send one more, which counts from now on.
    package mutating func admit(at second: Int64, atOnce limit: Int) -> Bool {
        if second != since {
            let passed = Int(clamping: second - since)
            let forgotten = passed.multipliedReportingOverflow(by: max(1, limit / 20))
            frames = forgotten.overflow ? 0 : max(0, frames - forgotten.partialValue)
            since = second
        }
        frames += 1
        return frames <= limit
    }
}
