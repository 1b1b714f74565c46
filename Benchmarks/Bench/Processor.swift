import Glibc
import Linux

enum Processor {
    /// What a process has used so far, all its threads, by itself and for itself in the kernel.
    static func seconds(of pid: Int32) throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw LinuxError("clock_getcpuclockid", "process \(pid)", .noProcess)
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
