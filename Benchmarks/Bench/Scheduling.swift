import Glibc
import Linux
import TestKit

/// Who gets the processor while attackers share the machine with those who are attacked.
///
/// Attackers have machines of their own. Beside them the kernel lets an ordinary program wait for
/// up to a tick, 4 ms. So attackers run on the last processor, and only when nobody else wants it
/// (`SCHED_IDLE`). The thread that they keep busy has the first processor. It stays an ordinary
/// one: the kernel stops a real-time thread that never sleeps for 50 ms of each second. All others
/// that are measured sleep, and run in real time (`SCHED_FIFO`).
enum Scheduling {
    /// Runs `body` with this thread, and what `words` start, ahead of all other programs, if this
    /// user may ask for that.
    static func goFirst<Result>(_ body: () throws -> Result) rethrows -> Result {
        set(Int32(SCHED_FIFO), priority: 1)
        defer { set(Int32(SCHED_OTHER), priority: 0) }
        return try body()
    }

    private static var isFirst: Bool { sched_getscheduler(0) == Int32(SCHED_FIFO) }

    /// A command that runs as this thread does: programs are started by a thread of their own, and
    /// so do not inherit it.
    static func words(_ command: [String]) -> [String] {
        isFirst ? ["chrt", "-f", "1"] + command : command
    }

    /// The same for a server that runs, but for its main thread: that is the one that attackers
    /// keep busy.
    static func adopt(_ server: Int32) throws {
        guard isFirst else { return }
        for thread in try Files.list("/proc/\(server)/task").compactMap(Int32.init)
        where thread != server {
            set(Int32(SCHED_FIFO), priority: 1, of: thread)
            // Else it stops the main thread for as long as it writes.
            try bind(thread, to: last)
        }
        try bind(server, to: 0)
    }

    private static func bind(_ thread: Int32, to processor: Int) throws {
        guard try Command("taskset", "-cp", "\(processor)", "\(thread)").run().succeeded else {
            throw DidNotHappen(description: "thread \(thread) bound to processor \(processor)")
        }
    }

    private static var last: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1 }

    /// A command that keeps to the last processor.
    static func attackerWords(_ command: [String]) -> [String] {
        ["taskset", "-c", "\(last)"] + command
    }

    private static func set(_ policy: Int32, priority: Int32, of thread: Int32 = 0) {
        var parameters = sched_param()
        parameters.sched_priority = priority
        _ = sched_setscheduler(thread, policy, &parameters)
    }
}
