internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The clocks as the device knows them: the machine's, or with `--virtual-clock` ones that are
/// ahead of them. A virtual clock goes on with the machine's, and only `Advance` moves it further,
/// awake or asleep.
///
/// Timers of the kernel, and processes, know the machine's alone: what goes to them is converted.
@safe
final class DaemonClock {
    /// How far ahead boot time and wall time are.
    private(set) var ahead = Interval.zero
    /// How much of that the device has slept: awake time is so much less ahead.
    private var slept = Interval.zero
    /// Where that is kept; nil: these are the machine's own.
    private let file: String?

    var isVirtual: Bool { file != nil }

    /// `isVirtual`: continues at least where the last daemon of this state directory stopped.
    init(_ paths: DaemonPaths, isVirtual: Bool) throws(DaemonError) {
        let file = paths.virtualClock
        self.file = isVirtual ? file : nil
        if Files.exists(file) {
            guard isVirtual else { throw .virtualClock(state: paths.state) }
            (ahead, slept) = try Self.kept(file)
        } else if isVirtual, Files.exists(paths.database) {
            throw .realClock(state: paths.state)
        }
        do throws(LinuxError) {
            // From the start: its times are never real ones again.
            try keep()
        } catch {
            throw .directory(error)
        }
    }

    /// The second number is there once it has slept.
    private static func kept(
        _ file: String
    ) throws(DaemonError) -> (ahead: Interval, slept: Interval) {
        let text = (try? Files.text(file, limit: 64)) ?? ""
        let words = text.prefix { $0 != "\n" }.split(separator: " ")
        let numbers = words.compactMap { Int64($0) }
        guard (1...2).contains(words.count), numbers.count == words.count,
            numbers.allSatisfy({ (0...limit.nanoseconds).contains($0) })
        else { throw .noVirtualClock(file) }
        let slept = numbers.count > 1 ? numbers[1] : 0
        guard slept <= numbers[0] else { throw .noVirtualClock(file) }
        return (Interval(nanoseconds: numbers[0]), Interval(nanoseconds: slept))
    }

    /// A hundred years, as for all spans that are typed.
    static let limit = Interval.days(36_525)

    /// How far ahead awake time is.
    var awakeAhead: Interval { ahead - slept }

    func now() -> Moment { Clocks.now(ahead: ahead, slept: slept) }

    /// Moves the clocks on to this boot time; not back. `asleep`: awake time stands still. Kept
    /// first: what is stored with a time must not be later than the clock of the next daemon.
    func move(to instant: BootTime, asleep: Bool) throws(LinuxError) {
        let new = instant - Clocks.boot()
        guard new > ahead else { return }
        let old = (ahead, slept)
        if asleep { slept += new - ahead }
        ahead = new
        do throws(LinuxError) {
            try keep()
        } catch {
            (ahead, slept) = old
            throw error
        }
    }

    /// Writes it down, again where the state directory is a new one.
    func keep() throws(LinuxError) {
        guard let file else { return }
        let rest = slept > .zero ? " \(slept.nanoseconds)" : ""
        let bytes = Array("\(ahead.nanoseconds)\(rest)\n".utf8)
        try Files.replace(file, with: bytes.span, synchronized: false)
    }

    // MARK: As the machine has it

    func onMachine<Clock>(_ instant: Instant<Clock>) -> Instant<Clock> {
        instant == .distantFuture ? instant : instant - ahead
    }

    func onMachine(_ instant: AwakeTime) -> AwakeTime {
        instant == .distantFuture ? instant : instant - awakeAhead
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
        // No instant of ours, or the server's.
        case .offer, .willEnterForeground, .didBecomeActive, .memoryWarning, .refreshChanged,
            .conditionsChanged, .taskEnded, .taskProgress, .taskAsked, .openURLs:
            self
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
    func onMachine(_ awakeAhead: Interval) -> BegunTask {
        BegunTask(task: task, deadline: deadline.map { $0 - awakeAhead.seconds })
    }
}

extension Limits {
    func onMachine(_ awakeAhead: Interval) -> Limits {
        var limits = self
        limits.deadline = deadline.map { $0 - awakeAhead.seconds }
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
