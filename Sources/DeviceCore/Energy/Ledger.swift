package import Vocabulary

/// What was spent on one local day. A new day, or a calendar that was set back, starts over.
package struct Ledger: Hashable, Sendable, Codable, Defaulted {
    package static let defaultValue = Ledger()

    package private(set) var day: Int64 = .min
    package private(set) var wakes: Int64 = 0
    @OmittedIfDefault package private(set) var runTime = Interval.zero
    @OmittedIfDefault package private(set) var cpu = Interval.zero
    /// Of these, what counts against the quotas: begun, or ended, on battery.
    @OmittedIfDefault package private(set) var wakesOnBattery: Int64 = 0
    @OmittedIfDefault package private(set) var runTimeOnBattery = Interval.zero

    package init() {}

    var isValid: Bool { wakes.isCount && wakesOnBattery.isCount }

    func spent(on day: Int64) -> Ledger { day == self.day ? self : Ledger() }

    mutating func wakeBegan(on day: Int64, onBattery: Bool) {
        self = spent(on: day)
        self.day = day
        wakes += 1
        if onBattery { wakesOnBattery += 1 }
    }

    /// A wake that was counted on that day never began.
    mutating func wakeWasNone(on day: Int64, onBattery: Bool) {
        guard day == self.day else { return }
        wakes = max(0, wakes - 1)
        if onBattery { wakesOnBattery = max(0, wakesOnBattery - 1) }
    }

    mutating func wakeEnded(on day: Int64, runTime: Interval, cpu: Interval, onBattery: Bool) {
        self = spent(on: day)
        self.day = day
        self.runTime += runTime
        self.cpu += cpu
        if onBattery { runTimeOnBattery += runTime }
    }
}
