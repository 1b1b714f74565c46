internal import CLinux
internal import Glibc
package import Vocabulary

/// The clocks of this machine.
package enum Clocks {
    /// All clocks, read together, each ahead by so much. The zone is the one that `readZone()` last
    /// found, with its offset at that time.
    package static func now(ahead: Interval = .zero, slept: Interval = .zero) -> Moment {
        let awake = clinux_clock_nanoseconds(1) + (ahead - slept).nanoseconds
        let boot = clinux_clock_nanoseconds(0) + ahead.nanoseconds
        let wall = clinux_clock_nanoseconds(2) + ahead.nanoseconds
        return Moment(
            boot: BootTime(nanoseconds: boot),
            awake: AwakeTime(nanoseconds: awake),
            wall: WallTime(nanoseconds: wall),
            utcOffset: clinux_utc_offset(wall / 1_000_000_000),
            zone: clinux_utc_offset
        )
    }

    package static func boot() -> BootTime { BootTime(nanoseconds: clinux_clock_nanoseconds(0)) }

    /// Looks at `TZ` and the zone file again; to be called at the start and when they changed.
    package static func readZone() { tzset() }

    /// The file whose change or replacement is a change of zone, unless `TZ` is set.
    package static let zonePath = "/etc/localtime"

    /// Sets the wall clock; needs the right to.
    package static func setWall(_ time: WallTime) throws(LinuxError) {
        try check(clinux_set_wall_clock(time.nanoseconds), "clock_settime")
    }

    /// The kernel's name for this boot, 36 characters. Throws when `/proc` is missing.
    package static func bootID() throws(LinuxError) -> String {
        String(try Files.text("/proc/sys/kernel/random/boot_id", limit: 64).prefix { $0 != "\n" })
    }
}

/// Tells that somebody set the wall clock, or that the machine returned from sleep. Poll the
/// descriptor for reading.
package struct ClockJumps: ~Copyable {
    package let descriptor: FileDescriptor

    package init() throws(LinuxError) {
        descriptor = FileDescriptor(owning: try check(clinux_clock_jump_timer(), "timerfd_create"))
    }

    /// Whether the clock was set since the last call.
    package func happened() throws(LinuxError) -> Bool {
        do {
            _ = try descriptor.read(upTo: 8)
            return true
        } catch  where error.errno == .canceled {
            return true
        } catch  where error.errno == .again {
            return false
        }
    }
}
