internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The clocks as the device knows them: the machine's, or with `--virtual-clock` ones that are
/// ahead of them. A virtual clock goes on with the machine's, and only `Advance` moves it further.
///
/// Timers of the kernel, and processes, know the machine's alone: what goes to them is converted.
@safe
final class DaemonClock {
    /// How far ahead the clocks are, all by the same.
    private(set) var ahead = Interval.zero
    /// Where that is kept; nil: these are the machine's own.
    private let file: String?

    var isVirtual: Bool { file != nil }

    /// `isVirtual`: continues at least where the last daemon of this state directory stopped.
    init(_ paths: DaemonPaths, isVirtual: Bool) throws(DaemonError) {
        let file = paths.virtualClock
        self.file = isVirtual ? file : nil
        if Files.exists(file) {
            guard isVirtual else { throw .virtualClock(state: paths.state) }
            ahead = try Self.kept(file)
        }
        do throws(LinuxError) {
            // From the start: its times are never real ones again.
            try keep()
        } catch {
            throw .directory(error)
        }
    }

    private static func kept(_ file: String) throws(DaemonError) -> Interval {
        let text = try? Files.text(file, limit: 64)
        guard let number = text.flatMap({ Int64($0.prefix { $0 != "\n" }) }),
            (0...limit.nanoseconds).contains(number)
        else { throw .noVirtualClock(file) }
        return Interval(nanoseconds: number)
    }

    /// A hundred years, as for all spans that are typed.
    static let limit = Interval.days(36_525)

    func now() -> Moment { Clocks.now(ahead: ahead) }

    /// Moves the clocks on to this boot time; not back. Kept first: what is stored with a time must
    /// not be later than the clock of the next daemon.
    func move(to instant: BootTime) throws(LinuxError) {
        let new = instant - Clocks.boot()
        guard new > ahead else { return }
        let old = ahead
        ahead = new
        do throws(LinuxError) {
            try keep()
        } catch {
            ahead = old
            throw error
        }
    }

    /// Writes it down, again where the state directory is a new one.
    func keep() throws(LinuxError) {
        guard let file else { return }
        let bytes = Array("\(ahead.nanoseconds)\n".utf8)
        try Files.replace(file, with: bytes.span, synchronized: false)
    }

    // MARK: As the machine has it

    func onMachine<Clock>(_ instant: Instant<Clock>) -> Instant<Clock> {
        instant == .distantFuture ? instant : instant - ahead
    }
}

extension AppMessage {
    /// The same for a process, whose clocks are the machine's.
    func onMachine(_ clock: DaemonClock) -> AppMessage {
        guard clock.ahead > .zero else { return self }
        return switch self {
        case .go(let id, let end): .go(id, until: clock.onMachine(end))
        case .expire(let id, let reason, let end):
            .expire(id, reason, until: clock.onMachine(end))
        case .expireTask(let task, let holder, let reason, let end):
            .expireTask(task: task, to: holder, reason, until: clock.onMachine(end))
        case .didEnterBackground(let end, let work):
            .didEnterBackground(
                until: clock.onMachine(end),
                work: work.map { DeliveryEnd($0.delivery, clock.onMachine($0.end)) }
            )
        case .offer, .willEnterForeground, .didBecomeActive, .memoryWarning, .refreshChanged: self
        }
    }
}

extension ProcessSpec {
    func onMachine(_ clock: DaemonClock) -> ProcessSpec {
        var spec = self
        spec.deadline = deadline.map(clock.onMachine)
        return spec
    }
}

extension BegunTask {
    func onMachine(_ ahead: Interval) -> BegunTask {
        BegunTask(task: task, deadline: deadline.map { $0 - ahead.seconds })
    }
}

extension Limits {
    func onMachine(_ ahead: Interval) -> Limits {
        var limits = self
        limits.deadline = deadline.map { $0 - ahead.seconds }
        return limits
    }
}

extension PendingRequest {
    func onMachine(_ ahead: Interval) -> PendingRequest {
        var request = self
        request.earliest = earliest.map { $0 - ahead.seconds }
        return request
    }
}
