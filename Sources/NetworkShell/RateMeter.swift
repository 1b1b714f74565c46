import Vocabulary

/// Keeps the bytes of several connections together to so many a second.
struct RateMeter {
    /// Bytes a second.
    private let rate: Double
    /// Bytes that have come before their time.
    private var excess = 0.0
    private var countedAt: BootTime

    init(_ rate: Int64, at now: BootTime) { (self.rate, countedAt) = (Double(rate), now) }

    mutating func add(_ bytes: Int, at now: BootTime) {
        excess = excess(at: now) + Double(bytes)
        countedAt = now
    }

    /// More has come than half a second is good for: that is how often somebody looks.
    func isAhead(at now: BootTime) -> Bool { excess(at: now) > rate / 2 }

    private func excess(at now: BootTime) -> Double {
        max(0, excess - rate * Double((now - countedAt).nanoseconds) / 1e9)
    }
}
