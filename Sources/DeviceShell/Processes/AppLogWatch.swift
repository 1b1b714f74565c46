internal import EventLoop
internal import Linux
internal import Vocabulary

/// Says which logs have grown, at most once a second for all of them; nothing wakes us while
/// nobody writes.
@safe
final class AppLogWatch {
    private let inotify: Inotify
    private var source: DescriptorSource?
    private var timer: TimerSource?

    /// A flood wakes us once in so long.
    private static let interval = Interval.seconds(1)

    /// `grown` gets the names of the files; nil: any of them may have grown.
    init(
        _ loop: EventLoop,
        directory: String,
        grown: @escaping ([String]?) -> Void
    ) throws(LinuxError) {
        inotify = try Inotify()
        _ = try inotify.add(directory, .modified)
        timer = try TimerSource(loop) { [unowned self] in try? source?.setEnabled(true) }
        source = try DescriptorSource(loop, inotify.descriptor.number, .readable) {
            [unowned self] _ in
            guard let events = try? inotify.events(), !events.isEmpty else { return }
            let isComplete = events.allSatisfy { !$0.mask.contains(.overflowed) }
            grown(isComplete ? Set(events.map(\.name)).sorted() : nil)
            rest()
        }
    }

    private func rest() {
        do throws(LinuxError) {
            try timer?.arm(at: Clocks.boot() + Self.interval)
            try source?.setEnabled(false)
        } catch {
            // Then every write wakes us: a cost, no loss.
        }
    }
}
