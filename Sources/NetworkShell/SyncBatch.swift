import Vocabulary

/// Complete files that wait for each other: one call makes many of them durable as fast as one.
struct SyncBatch {
    private var jobs: [SyncThread.Job] = []
    private var first = BootTime.distantFuture
    private var last = BootTime.distantFuture
    private var isLarge = false
    /// Those that wait here, or are being made durable.
    private(set) var unsettled = 0

    /// None waits longer for the others.
    private static let patience = Interval.milliseconds(100)
    /// With nothing else on its way. The daemon begins others meanwhile.
    private static let shortPatience = Interval.milliseconds(5)
    private static let largest = 128
    /// A file of this size takes long enough by itself.
    private static let largeBytes: Int64 = 1 << 20

    mutating func add(_ job: SyncThread.Job, at now: BootTime) {
        if jobs.isEmpty { first = now }
        last = now
        isLarge = isLarge || job.size >= Self.largeBytes
        jobs.append(job)
        unsettled += 1
    }

    /// Nil: none waits. `isQuiet`: nothing else is received.
    func due(isQuiet: Bool) -> BootTime? {
        guard !jobs.isEmpty else { return nil }
        if isLarge || jobs.count >= Self.largest { return first }
        return min(first + Self.patience, isQuiet ? last + Self.shortPatience : .distantFuture)
    }

    mutating func take() -> [SyncThread.Job] {
        defer { (jobs, isLarge) = ([], false) }
        return jobs
    }

    /// One of them is durable, or cannot be made so.
    mutating func settled() { unsettled -= 1 }
}
