internal import Linux
internal import Synchronization
internal import Vocabulary

/// The keeper's other work: holds logs to their limit, whether a daemon lives, stands still or is
/// gone. It has threads for it, since they may wait long for a disk, and a process of its own, so
/// that nothing else waits with them.
enum LogKeeping {
    /// Where the daemon writes the limit, in bytes; in the directory of the logs, which is watched
    /// anyhow.
    static let limitName = "limit"

    /// The rest between two looks. At some gigabytes a second a program writes a few megabytes
    /// meanwhile; one that never stops wakes us 500 times a second.
    static let rest = Interval.milliseconds(2)
    /// Looks again after so long where the kernel does not tell of changes.
    private static let blindInterval = Interval.seconds(10)

    static func begin(_ directory: String) throws(LinuxError) {
        let floods = try LogFloods(directory)
        try CurrentProcess.startThread(named: "offstage-logs") {
            var bounds = LogBounds(directory)
            while true {
                try? watch(directory, &bounds, floods)
                readLimit(directory, &bounds, floods)
                bounds.look(at: nil, floods: floods)
                pause(blindInterval)
            }
        }
    }

    /// Until the directory goes, or cannot be watched.
    private static func watch(
        _ directory: String,
        _ bounds: inout LogBounds,
        _ floods: LogFloods
    ) throws(LinuxError) {
        let inotify = try Inotify()
        _ = try inotify.add(directory, [.modified, .movedTo, .selfMoved, .selfRemoved])
        // After that, so that no change falls between.
        readLimit(directory, &bounds, floods)
        bounds.look(at: nil, floods: floods)
        var looked = Clocks.boot()
        while true {
            let ready = try Poll.wait(
                for: [
                    (inotify.descriptor.number, .readable), (floods.descriptor, .readable),
                ],
                milliseconds: bounds.due.map { milliseconds(until: $0) }
            )
            if !ready[0].isEmpty {
                // One that writes now and then is looked at when it does, and we are woken once.
                pause(looked + rest - Clocks.boot())
                let events = try inotify.events(readings: 1)
                let ends: Inotify.Mask = [.selfMoved, .selfRemoved, .ignored]
                guard events.allSatisfy({ $0.mask.isDisjoint(with: ends) }) else { return }
                look(events, in: directory, &bounds, floods)
                looked = Clocks.boot()
            }
            if !ready[1].isEmpty { bounds.look(at: floods.takeOver(), floods: floods) }
            bounds.settle(at: Clocks.boot())
        }
    }

    private static func look(
        _ events: [Inotify.Event],
        in directory: String,
        _ bounds: inout LogBounds,
        _ floods: LogFloods
    ) {
        var names: Set<String>? = Set(events.map(\.name))
        if names?.contains(limitName) == true {
            readLimit(directory, &bounds, floods)
            names = nil
        }
        if events.contains(where: { $0.mask.contains(.overflowed) }) { names = nil }
        bounds.look(at: names, floods: floods)
    }

    private static func readLimit(
        _ directory: String,
        _ bounds: inout LogBounds,
        _ floods: LogFloods
    ) {
        let text = try? Files.text(directory + "/" + limitName, limit: 64)
        bounds.limit = text.flatMap { Int($0.prefix { $0 != "\n" }) } ?? AppLog.usualLimit
        floods.set(limit: bounds.limit)
    }

    /// The calling thread rests.
    static func pause(_ interval: Interval) {
        let left = milliseconds(until: Clocks.boot() + interval)
        if left > 0 { _ = try? Poll.wait(for: [], milliseconds: left) }
    }

    private static func milliseconds(until instant: BootTime) -> Int32 {
        // Rounded up: too early would be one more time around.
        let left = (instant - Clocks.boot()).nanoseconds + 999_999
        return Int32(clamping: max(0, left / 1_000_000))
    }
}

/// Logs that are flooded, or take long to shorten; each has a thread of its own. Freeing memory
/// takes about as long as filling it, so one thread would fall behind a few programs that never
/// stop writing.
final class LogFloods: Sendable {
    private struct State {
        var limit = AppLog.usualLimit
        /// Those that have a thread.
        var names: Set<String> = []
        /// Those that have had one since `takeOver`.
        var ended: Set<String> = []
    }

    private let directory: String
    private let state = Mutex(State())
    private let counter: EventCounter

    /// More are cut by whoever finds them.
    private static let threadLimit = 32

    init(_ directory: String) throws(LinuxError) {
        self.directory = directory
        counter = try EventCounter()
    }

    /// Readable when a flood has ended.
    var descriptor: Int32 { counter.descriptor.number }

    func set(limit: Int) { state.withLock { $0.limit = limit } }

    /// Those whose floods have ended: to be looked at, as nobody else did.
    func takeOver() -> Set<String> {
        counter.clear()
        return state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
    }

    func has(_ name: String) -> Bool { state.withLock { $0.names.contains(name) } }

    /// False: it cannot have a thread.
    func take(_ name: String, _ isFlooded: Bool) -> Bool {
        let isTaken = state.withLock { state in
            state.names.count < Self.threadLimit && state.names.insert(name).inserted
        }
        guard isTaken else { return false }
        do throws(LinuxError) {
            try CurrentProcess.startThread(named: "offstage-flood") { [self] in
                if isFlooded { follow(name) } else { try? log(name).bound() }
                state.withLock { state in
                    state.names.remove(name)
                    state.ended.insert(name)
                }
                counter.signal()
            }
            return true
        } catch {
            state.withLock { _ = $0.names.remove(name) }
            return false
        }
    }

    /// Until it has been calm for a while. What cannot be done now is tried again by whoever looks
    /// next.
    private func follow(_ name: String) {
        guard let file = try? log(name).openForCutting() else { return }
        var end: [UInt8] = []
        var flooded = Clocks.boot()
        var kept = flooded
        while Clocks.boot() - flooded < LogBounds.endInterval {
            let log = log(name)
            if let size = try? file.status().size, size > log.limit {
                guard let cut = try? log.cut(file, keeping: LogBounds.endSize) else { return }
                (end, flooded) = (cut, Clocks.boot())
            }
            if !end.isEmpty, Clocks.boot() - kept >= LogBounds.endInterval {
                try? log.keep(end: end)
                (end, kept) = ([], Clocks.boot())
            }
            LogKeeping.pause(LogKeeping.rest)
        }
        if !end.isEmpty { try? log(name).keep(end: end) }
    }

    private func log(_ name: String) -> AppLog {
        AppLog(directory + "/" + name, limit: state.withLock { $0.limit })
    }
}
