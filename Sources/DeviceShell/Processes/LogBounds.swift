internal import Linux
internal import Vocabulary

/// Holds the logs of a directory to their limit while programs write to them.
///
/// Nothing can stop a program in the middle of one `write`, and the logs are files that programs
/// write themselves. So what bounds a log is how soon it is looked at after it has grown: at once
/// by the keeper (`LogKeeping`), or by the daemon while it has none (`AppLogWatch`).
struct LogBounds {
    private let directory: String
    /// Bytes of each log.
    var limit: Int
    /// The last that was written to logs that are flooded, on its way to `PATH.1`.
    private var ends: [String: End] = [:]
    /// Logs that could not be shortened when they were looked at last.
    private var failed: Set<String> = []
    /// Told once for each log, until it can be shortened again.
    private let report: (_ path: String, LinuxError) -> Void

    private struct End {
        var bytes: [UInt8]
        var due: BootTime
    }

    /// A log that has outgrown its limit by more than this is taken for one that no keeper bounds.
    static let slack: Int64 = 64 << 20
    /// A log that has outgrown its limit by so much is flooded. To copy its half each time would
    /// take longer than to fill it again.
    private var floodMargin: Int64 { min(3 * Int64(limit), 16 << 20) }
    /// To copy the half of more takes so long that other logs must not wait for it.
    private static let quickLimit = 8 << 20
    /// Of a flood, so much is kept, and written no oftener than this.
    static let endSize = 64 << 10
    static let endInterval = Interval.milliseconds(100)

    init(
        _ directory: String,
        limit: Int = AppLog.usualLimit,
        report: @escaping (_ path: String, LinuxError) -> Void = { _, _ in }
    ) {
        (self.directory, self.limit, self.report) = (directory, limit, report)
    }

    /// Shortens those that are above their limit, or above `size` where that is more. True: one of
    /// them was. `names` are of files in the directory; nil: all. `floods` has those that are not
    /// ours, and takes what is flooded.
    @discardableResult
    mutating func look(
        at names: Set<String>?,
        above size: Int64 = 0,
        floods: LogFloods? = nil
    ) -> Bool {
        var found = false
        for name in names?.sorted() ?? (try? Files.list(directory)) ?? []
        where name.hasSuffix(DaemonPaths.logSuffix) && floods?.has(name) != true {
            let log = AppLog(directory + "/" + name, limit: limit)
            let grown = log.size
            guard grown > max(size, Int64(limit)) else { continue }
            found = true
            let isFlooded = grown > Int64(limit) + floodMargin
            if isFlooded || limit > Self.quickLimit, floods?.take(name, isFlooded) == true {
                continue
            }
            perform(name, log) { (bounds) throws(LinuxError) in
                try bounds.shorten(name, log, isFlooded: isFlooded)
            }
        }
        return found
    }

    private mutating func shorten(
        _ name: String,
        _ log: AppLog,
        isFlooded: Bool
    ) throws(LinuxError) {
        guard isFlooded else {
            // What is copied comes after that.
            ends[name] = nil
            return try log.bound()
        }
        let end = try log.cut(log.openForCutting(), keeping: Self.endSize)
        // Somebody else has cut it meanwhile.
        guard !end.isEmpty else { return }
        ends[name, default: End(bytes: [], due: Clocks.boot() + Self.endInterval)].bytes = end
    }

    /// When `settle` has something to do; nil: not before the next look.
    var due: BootTime? { ends.values.lazy.map(\.due).min() }

    /// Writes what is due of the ends of floods.
    mutating func settle(at now: BootTime) {
        for (name, end) in ends.sorted(by: { $0.key < $1.key }) where end.due <= now {
            ends[name] = nil
            let log = AppLog(directory + "/" + name, limit: limit)
            perform(name, log) { (_) throws(LinuxError) in try log.keep(end: end.bytes) }
        }
    }

    private mutating func perform(
        _ name: String,
        _ log: AppLog,
        _ body: (inout LogBounds) throws(LinuxError) -> Void
    ) {
        do throws(LinuxError) {
            try body(&self)
            failed.remove(name)
        } catch {
            if failed.insert(name).inserted { report(log.path, error) }
        }
    }
}
