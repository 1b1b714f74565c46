internal import CSystemd
internal import Glibc
package import Linux
package import Vocabulary

/// One thread's event loop (sd-event): descriptors, timers, signals, processes, watched paths.
///
/// It is driven in turns, so that the owner can commit, perform effects and answer once for all
/// that a turn brought (ARCHITECTURE.md, Durable before visible). Not for use by another thread.
/// Signals that it handles, and SIGCHLD, must be blocked before the first thread exists
/// (`CurrentProcess.block`). Errors name the call of sd-event.
@safe
package final class EventLoop {
    /// The `sd_event`, for wrappers that attach to it.
    @unsafe package let handle: OpaquePointer
    let descriptors: DescriptorTable
    let children = ChildTable()
    /// How long a turn may take. One that hangs longer is ended, with the whole process, by
    /// SIGALRM, for a service manager to start it again. The alarm stands only while something
    /// runs: an idle loop is not woken for it. Nil: as long as it takes. For one loop of a process.
    package var turnLimit: Interval?

    package init() throws(LinuxError) {
        var event: OpaquePointer?
        try check(unsafe sd_event_new(&event), "sd_event_new")
        guard let event = unsafe event else { throw LinuxError("sd_event_new", "", .invalid) }
        unsafe handle = event
        do throws(LinuxError) {
            descriptors = unsafe try DescriptorTable(event)
        } catch {
            unsafe sd_event_unref(event)
            throw error
        }
    }

    deinit { unsafe sd_event_unref(handle) }

    /// Waits until something is ready, then lets at most `limit` handlers run; a source that is
    /// always ready cannot keep the turn from ending. With `once` no descriptor is served twice,
    /// so that a busy one keeps nobody from what the turn brought. False when the loop has ended.
    package func runTurn(limit: Int = 64, once: Bool = false) throws(LinuxError) -> Bool {
        guard !hasEnded else { return false }
        descriptors.beginTurn(once: once)
        var count = max(1, try runSome(waiting: .max, limit))
        while count < limit, !hasEnded, !descriptors.isServed {
            let more = try runSome(waiting: 0, limit - count)
            guard more > 0 else { break }
            count += more
        }
        return !hasEnded
    }

    /// Runs what is ready now, without waiting; how many handlers ran.
    @discardableResult
    package func runReady(limit: Int = 64) throws(LinuxError) -> Int {
        descriptors.beginTurn(once: false)
        var count = 0
        while count < limit, !hasEnded {
            let more = try runSome(waiting: 0, limit - count)
            guard more > 0 else { break }
            count += more
        }
        return count
    }

    /// Lets one source of sd-event run, or up to `limit` descriptors; how many it were.
    private func runSome(waiting time: UInt64, _ limit: Int) throws(LinuxError) -> Int {
        descriptors.begin(limit: limit)
        var isReady = try check(unsafe sd_event_prepare(handle), "sd_event_prepare") > 0
        if !isReady {
            if time > 0 { setAlarm(.zero) }
            isReady = try check(unsafe sd_event_wait(handle, time), "sd_event_wait") > 0
        }
        if time > 0 { setAlarm(turnLimit) }
        guard isReady else { return 0 }
        try check(unsafe sd_event_dispatch(handle), "sd_event_dispatch")
        return max(1, descriptors.ran)
    }

    private func setAlarm(_ time: Interval?) {
        guard turnLimit != nil, let time else { return }
        var timer = itimerval()
        timer.it_value.tv_sec = Int(time.wholeSeconds)
        unsafe setitimer(Int32(ITIMER_REAL.rawValue), &timer, nil)
    }

    /// Ends the loop after the handler that runs now.
    package func exit() {
        // Fails only for a loop that has ended already.
        unsafe sd_event_exit(handle, 0)
        descriptors.isEnding = true
    }

    /// A descriptor that is readable when the loop has something to do.
    package var descriptor: Int32 { unsafe sd_event_get_fd(handle) }

    /// Whether a source here reaps this child once it has ended.
    package func reaps(_ pid: Int32) -> Bool { children.pids.contains(pid) }

    private var hasEnded: Bool {
        unsafe sd_event_get_state(handle) == Int32(SD_EVENT_FINISHED)
    }
}

/// The children that sources of a loop reap.
final class ChildTable {
    var pids: Set<Int32> = []
}

/// Turns the negative error numbers of libsystemd into errors.
@discardableResult
func check(
    _ result: Int32,
    _ operation: String,
    _ subject: @autoclosure () -> String = ""
) throws(LinuxError) -> Int32 {
    guard result < 0 else { return result }
    throw LinuxError(operation, subject(), Errno(-result))
}
