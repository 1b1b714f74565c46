import Glibc
import Linux

/// Who gets the processor while attackers share the machine with those who are attacked.
enum Scheduling {
    /// Runs `body` with this thread, and what `words` start, ahead of all other programs, if this
    /// user may ask for that. Attackers have machines of their own: without this the kernel lets
    /// them run before the others for up to a tick, 4 ms.
    static func goFirst<Result>(_ body: () throws -> Result) rethrows -> Result {
        set(Int32(SCHED_FIFO), priority: 1)
        defer { set(Int32(SCHED_OTHER), priority: 0) }
        return try body()
    }

    /// A command that runs as this thread does: programs are started by a thread of their own, and
    /// so do not inherit it.
    static func words(_ command: [String]) -> [String] {
        sched_getscheduler(0) == Int32(SCHED_FIFO) ? ["chrt", "-f", "1"] + command : command
    }

    /// The same for all threads of a program that runs.
    static func adopt(_ pid: Int32) throws {
        for thread in try Files.list("/proc/\(pid)/task").compactMap(Int32.init) {
            set(sched_getscheduler(0), priority: 1, of: thread)
        }
    }

    private static func set(_ policy: Int32, priority: Int32, of thread: Int32 = 0) {
        var parameters = sched_param()
        parameters.sched_priority = priority
        _ = sched_setscheduler(thread, policy, &parameters)
    }
}
