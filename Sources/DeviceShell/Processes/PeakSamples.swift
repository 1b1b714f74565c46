internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The most memory that launches were seen to have, where the kernel does not count it for all
/// processes of one. It is looked at soon after the beginning, then ever more rarely, so that a run
/// was last looked at when half of it was over; what goes on for longer is measured by the core.
@safe
final class PeakSamples {
    private let measure: (LaunchID) -> Usage?
    private var timer: TimerSource?
    private var samples: [LaunchID: Sample] = [:]
    /// The kernel has been seen to count: it does so for every launch.
    private var isCounted = false

    private struct Sample {
        var peak: Int64 = 0
        var wait = PeakSamples.firstWait
        /// Nil: not looked at by time any more.
        var next: BootTime?
    }

    static let firstWait = Interval.milliseconds(50)
    static let lastWait = Interval.seconds(15)

    init(_ loop: EventLoop, measure: @escaping (LaunchID) -> Usage?) throws(LinuxError) {
        self.measure = measure
        timer = try TimerSource(loop) { [unowned self] in sampleDue() }
    }

    /// It begins, or goes on after it stood still.
    func begin(_ id: LaunchID) {
        guard !isCounted else { return }
        var sample = Sample(peak: samples[id]?.peak ?? 0)
        sample.next = Clocks.boot() + sample.wait
        samples[id] = sample
        arm()
    }

    func end(_ id: LaunchID) {
        guard samples.removeValue(forKey: id) != nil else { return }
        arm()
    }

    /// What was measured, with the most that was seen before.
    func merged(_ id: LaunchID, _ usage: Usage?) -> Usage? {
        guard var usage, usage.isPeakSampled || usage.peak == nil else {
            if usage != nil { forgetAll() }
            return usage
        }
        let peak = max(samples[id]?.peak ?? 0, usage.peak ?? usage.memory)
        samples[id]?.peak = peak
        (usage.peak, usage.isPeakSampled) = (peak > 0 ? peak : nil, true)
        return usage
    }

    private func forgetAll() {
        guard !isCounted else { return }
        isCounted = true
        samples = [:]
        arm()
    }

    private func sampleDue() {
        let now = Clocks.boot()
        for id in samples.keys.sorted() {
            guard let next = samples[id]?.next, next <= now else { continue }
            guard merged(id, measure(id)) != nil, let wait = samples[id]?.wait else {
                samples[id]?.next = nil
                continue
            }
            samples[id]?.next = wait < Self.lastWait ? now + wait * 2 : nil
            samples[id]?.wait = wait * 2
        }
        arm()
    }

    private func arm() { try? timer?.arm(at: samples.values.compactMap(\.next).min()) }
}
