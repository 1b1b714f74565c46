internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The machine's load, and how long tasks wait for a processor, as an estimate of the condition
/// `idle`, for as long as somebody wants to know (`Effect.watchIdle`): the kernel averages both
/// anyhow, so that nothing is sampled in between.
@safe
final class LoadEstimate {
    private let load: String
    private let pressure: String?
    private let report: (Reading) -> Void
    private var timer: TimerSource?
    private var isWatching = false
    /// Per cent. From it on somebody is taken to use the device: of the load of all processors, or
    /// of the share of the last minute in which tasks waited for one.
    var limit = Settings().idleLoad

    private static let every = Interval.minutes(1)

    /// `pressure`: nil, or a file that cannot be read: the load decides alone.
    init(
        _ loop: EventLoop,
        _ load: String,
        _ pressure: String?,
        report: @escaping (Reading) -> Void
    ) throws(LinuxError) {
        (self.load, self.pressure, self.report) = (load, pressure, report)
        timer = try TimerSource(loop) { [unowned self] in look() }
    }

    func watch(_ watches: Bool) {
        isWatching = watches
        if watches { return look() }
        try? timer?.arm(at: nil)
        // It grows old; the next one who asks gets a new one.
        report(.silent)
    }

    private func look() {
        guard isWatching else { return }
        try? timer?.arm(at: Clocks.boot() + Self.every)
        guard let load = try? LoadAverage(readingFrom: load) else { return report(.silent) }
        let isIdle = max(load.percent(), waiting) < Double(limit)
        report(.value(isIdle ? 1 : 0))
    }

    private var waiting: Double {
        pressure.flatMap { try? Pressure(readingFrom: $0) }?.some.average60 ?? 0
    }
}
