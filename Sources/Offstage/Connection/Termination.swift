internal import EventLoop
internal import Linux
internal import Vocabulary

/// SIGTERM, which asks a process to end: the app is told, then the signal does what it does.
final class Termination {
    private let counter: EventCounter
    private var source: DescriptorSource?
    private var timer: TimerSource?
    private let owner: any DaemonListener

    /// As long as the user's patience, and the daemon's: then the process ends, told or not.
    private static let limit = Interval.seconds(5)

    /// Nil when the signal cannot be watched: then it ends the process by itself.
    init?(_ loop: EventLoop, _ owner: any DaemonListener) {
        guard let counter = try? EventCounter() else { return nil }
        self.counter = counter
        self.owner = owner
        do throws(LinuxError) {
            timer = try TimerSource(loop) { Self.end() }
            source = try DescriptorSource(loop, self.counter.descriptor.number, .readable) {
                [unowned self] _ in asked()
            }
            try self.counter.signal(at: Signal.terminate)
        } catch {
            return nil
        }
    }

    private func asked() {
        counter.clear()
        guard owner.willTerminate() else { return Self.end() }
        try? timer?.arm(at: Clocks.boot() + Self.limit)
    }

    /// Ends the process by the signal, so that whoever sent it sees what it did.
    static func end() {
        do throws(LinuxError) {
            try CurrentProcess.end(by: Signal.terminate)
        } catch {
            CurrentProcess.exit(1)
        }
    }
}
