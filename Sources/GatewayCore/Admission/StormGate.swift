package import Vocabulary

/// Spreads devices that come back all at once.
package struct StormGate {
    private var second: Int64 = 0
    private var welcomed = 0
    private var refused = 0

    package init() {}

    /// Whether one more is welcome in this second; else within how long it should come back.
    package mutating func admit(at second: Int64, perSecond limit: Int) -> Interval? {
        if second != self.second {
            let passed = max(1, second - self.second)
            self.second = second
            welcomed = 0
            // Those that were sent away come back in time; they are not counted for ever.
            let gone = limit.multipliedReportingOverflow(by: Int(clamping: passed))
            refused = max(0, refused - (gone.overflow ? refused : gone.partialValue))
        }
        if welcomed < limit {
            welcomed += 1
            return nil
        }
        refused += 1
        return .seconds(Int64(refused / max(1, limit)) + 2)
    }
}
