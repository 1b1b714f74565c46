internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The most memory that launches were seen to have in a run, where the kernel does not say it: it
/// may not count, or count what is cached of files as well, and it counts earlier runs of the same
/// launch. It is looked at soon after the beginning, then ever more rarely, so that a run was last
/// looked at when half of it was over; what goes on for longer is measured by the core. What has
/// grown by much is told at once, so that it outlives this daemon.
@safe
final class PeakSamples {
    private let measure: (LaunchID) -> Usage?
    private let report: (LaunchID, Int64) -> Void
    private var timer: TimerSource?
    private var samples: [LaunchID: Sample] = [:]

    private struct Sample {
        /// The peak of the launch when this run began; nil: it is the first.
        var before: Int64?
        var most: Int64 = 0
        var told: Int64 = 0
        var wait = PeakSamples.firstWait
        /// Nil: not looked at by time any more.
        var next: BootTime?
    }

    static let firstWait = Interval.milliseconds(50)
    static let lastWait = Interval.seconds(15)
    /// Less is not worth a commit.
    static let leastGrowth: Int64 = 1 << 20

    init(
        _ loop: EventLoop,
        measure: @escaping (LaunchID) -> Usage?,
        report: @escaping (LaunchID, Int64) -> Void
    ) throws(LinuxError) {
        (self.measure, self.report) = (measure, report)
        timer = try TimerSource(loop) { [unowned self] in sampleDue() }
    }

    func begin(_ id: LaunchID) { begin(id, Sample()) }

    /// After it stood still, or under another daemon.
    func goOn(_ id: LaunchID) { begin(id, Sample(before: measure(id)?.peak ?? 0)) }

    private func begin(_ id: LaunchID, _ sample: Sample) {
        samples[id] = sample
        samples[id]?.next = Clocks.boot() + sample.wait
        arm()
    }

    /// It stands still.
    func rest(_ id: LaunchID) {
        samples[id]?.next = nil
        arm()
    }

    func end(_ id: LaunchID) {
        guard let sample = samples.removeValue(forKey: id) else { return }
        if sample.most > sample.told { report(id, sample.most) }
        arm()
    }

    /// It was measured because the core asked, perhaps since another run of it begins.
    func told(_ id: LaunchID, _ usage: Usage) {
        samples[id]?.most = usage.memory
        samples[id]?.told = usage.memory
    }

    func recordUsage(_ id: LaunchID, _ usage: Usage) {
        guard var sample = samples[id] else { return }
        // All that the kernel counted is of this run.
        if sample.before == nil, usage.peak != nil, !usage.isPeakSampled { return }
        let peak = usage.peak ?? 0
        sample.most = max(sample.most, usage.memory, peak > sample.before ?? 0 ? peak : 0)
        let isTold = sample.most >= sample.told + max(sample.told / 4, Self.leastGrowth)
        if isTold { sample.told = sample.most }
        samples[id] = sample
        if isTold { report(id, sample.most) }
    }

    private func sampleDue() {
        let now = Clocks.boot()
        for id in samples.keys.sorted() {
            guard let next = samples[id]?.next, next <= now else { continue }
            guard let usage = measure(id), let wait = samples[id]?.wait else {
                samples[id]?.next = nil
                continue
            }
            recordUsage(id, usage)
            samples[id]?.next = wait < Self.lastWait ? now + wait * 2 : nil
            samples[id]?.wait = wait * 2
        }
        arm()
    }

    private func arm() { try? timer?.arm(at: samples.values.compactMap(\.next).min()) }
}
