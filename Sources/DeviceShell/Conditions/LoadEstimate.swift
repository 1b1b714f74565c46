internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The machine's load as an estimate of the condition `idle`, for as long as somebody wants to know
/// (`Effect.watchIdle`): the kernel averages it anyhow, so that nothing is sampled in between.
@safe
final class LoadEstimate {
    private let path: String
    private let report: (Reading) -> Void
    private var timer: TimerSource?
    private var isWatching = false
    /// Per cent of all processors from which on somebody is taken to use the device.
    var limit = Settings().idleLoad

    private static let every = Interval.minutes(1)

    init(
        _ loop: EventLoop,
        _ path: String,
        report: @escaping (Reading) -> Void
    ) throws(LinuxError) {
        (self.path, self.report) = (path, report)
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
        guard let load = try? LoadAverage(readingFrom: path) else { return report(.silent) }
        report(.value(load.percent() < Double(limit) ? 1 : 0))
    }
}
