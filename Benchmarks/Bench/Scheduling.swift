import Glibc

/// Who gets the processor while attackers share the machine with those who are attacked.
enum Scheduling {
    /// Runs `body` with this thread, and what it starts, ahead of all other programs, if this user
    /// may ask for that. Honest senders and devices have machines of their own: without this the
    /// kernel lets an attacker run before them for up to a tick, 4 ms.
    static func goFirst<Result>(_ body: () throws -> Result) rethrows -> Result {
        set(Int32(SCHED_FIFO), priority: 1)
        defer { set(Int32(SCHED_OTHER), priority: 0) }
        return try body()
    }

    private static func set(_ policy: Int32, priority: Int32) {
        var parameters = sched_param()
        parameters.sched_priority = priority
        _ = sched_setscheduler(0, policy, &parameters)
    }
}
