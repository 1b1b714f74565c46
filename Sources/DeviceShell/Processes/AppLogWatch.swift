internal import EventLoop
internal import Linux
internal import Vocabulary

/// Says to the daemon which logs have grown; nothing wakes us while nobody writes. While a keeper
/// holds them to their limit (`LogKeeping`) this only checks now and then that it does. Without one
/// this cuts them itself, on threads, so that the daemon does not wait for the disk.
@safe
final class AppLogWatch {
    private let inotify: Inotify
    private var bounds: LogBounds
    private let floods: LogFloods
    private var source: DescriptorSource?
    private var endSource: DescriptorSource?
    private var timer: TimerSource?
    /// Whether there is a keeper.
    var isKept = false
    /// It does not do its work, though it is there: its place is taken until then.
    private var standsInUntil = BootTime.distantPast

    private static let interval = Interval.milliseconds(100)
    private static let standIn = Interval.minutes(1)

    init(
        _ loop: EventLoop,
        directory: String,
        limit: Int,
        report: @escaping (_ path: String, LinuxError) -> Void
    ) throws(LinuxError) {
        inotify = try Inotify()
        bounds = LogBounds(directory, limit: limit, report: report)
        floods = try LogFloods(directory)
        floods.set(limit: limit)
        _ = try inotify.add(directory, .modified)
        timer = try TimerSource(loop) { [unowned self] in
            bounds.settle(at: Clocks.boot())
            try? source?.setEnabled(true)
            try? timer?.arm(at: bounds.due)
        }
        source = try DescriptorSource(loop, inotify.descriptor.number, .readable) {
            [unowned self] _ in
            guard let events = try? inotify.events(readings: 1), !events.isEmpty else { return }
            let isComplete = events.allSatisfy { !$0.mask.contains(.overflowed) }
            look(at: isComplete ? Set(events.map(\.name)) : nil)
            rest()
        }
        endSource = try DescriptorSource(loop, floods.descriptor, .readable) {
            [unowned self] _ in
            look(at: floods.takeOver())
        }
        // What grew while nobody looked.
        bounds.look(at: nil, floods: floods)
    }

    var limit: Int {
        get { bounds.limit }
        set {
            bounds.limit = newValue
            floods.set(limit: newValue)
        }
    }

    /// Whether the keeper must be taken to do its work.
    var isKeptNow: Bool { isKept && Clocks.boot() >= standsInUntil }

    /// Whether a thread of ours cuts this log.
    func isFlooded(_ name: String) -> Bool { floods.has(name) }

    private func look(at names: Set<String>?) {
        guard isKeptNow else {
            bounds.look(at: names, floods: floods)
            return
        }
        if bounds.look(at: names, above: Int64(limit) + LogBounds.slack, floods: floods) {
            standsInUntil = Clocks.boot() + Self.standIn
        }
    }

    private func rest() {
        do throws(LinuxError) {
            let end = Clocks.boot() + (isKeptNow ? Self.interval : LogKeeping.rest)
            try timer?.arm(at: end)
            try source?.setEnabled(false)
        } catch {
            // Then every write wakes us: a cost, no loss.
        }
    }
}
