internal import CLinux
internal import Glibc

/// A process that cannot be mistaken for a later one with the same number.
package struct ProcessIdentity: Hashable, Sendable, Codable {
    package var pid: Int32
    /// Clock ticks since boot, field 22 of `/proc/PID/stat`.
    package var startTime: UInt64

    package init(pid: Int32, startTime: UInt64) {
        (self.pid, self.startTime) = (pid, startTime)
    }

    /// Whoever has this number now; nil when nobody has.
    package init?(of pid: Int32) {
        guard let status = ProcessStatus(of: pid) else { return nil }
        self.init(pid: pid, startTime: status.startTime)
    }

    /// Whether it still runs; one that ended and waits to be reaped does not.
    package var isAlive: Bool {
        guard let status = ProcessStatus(of: pid) else { return false }
        return status.startTime == startTime && !status.hasEnded
    }

    /// Whether one of these signals was sent to it and waits there to be taken.
    package func hasPending(_ signals: [Int32]) -> Bool {
        guard let text = try? Files.text("/proc/\(pid)/status", limit: 1 << 16), isAlive,
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ShdPnd:") }),
            let field = line.split(separator: "\t").last, let set = UInt64(field, radix: 16)
        else { return false }
        return signals.contains { set & 1 << UInt64($0 - 1) != 0 }
    }
}

/// `/proc/PID/stat`.
package struct ProcessStatus: Equatable, Sendable {
    package var pid: Int32
    /// Of its program, or of its script; at most 15 bytes of it, and a process may choose another.
    package var name: String
    /// The letter of the state: `R S D T t Z X I`.
    package var state: UInt8
    package var parent: Int32
    package var group: Int32
    package var session: Int32
    /// Clock ticks since boot.
    package var startTime: UInt64
    /// User and system time of its own threads, in nanoseconds, to the clock tick.
    package var processorTime: Int64
    /// The same of its children that ended and were waited for, and of theirs.
    package var childrenProcessorTime: Int64
    /// How one ended that nobody has reaped; nil: it runs, or is not ours to know of.
    package var end: ProcessExit?

    package init?(of pid: Int32) {
        do throws(LinuxError) {
            try self.init(reading: pid)
        } catch {
            return nil
        }
    }

    /// Throws `noEntry` or `noProcess` when nobody has the number, and others when it is not known.
    package init(reading pid: Int32) throws(LinuxError) {
        let path = "/proc/\(pid)/stat"
        guard let status = ProcessStatus(try Files.text(path, limit: 4096)) else {
            throw LinuxError("read", path, .invalid)
        }
        self = status
    }

    /// Reads the line; the name, in parentheses, may hold anything.
    package init?(_ line: String) {
        guard let name = line.utf8.lastIndex(of: UInt8(ascii: ")")),
            let pid = line.split(separator: " ", maxSplits: 1).first.flatMap({ Int32($0) })
        else { return nil }
        // The line that the kernel gives has an end, which is no part of its last field.
        let fields = line[line.utf8.index(after: name)...].split { $0 == " " || $0 == "\n" }
        let first = line.utf8.firstIndex(of: UInt8(ascii: "(")) ?? name
        guard fields.count > 19, let state = fields[0].utf8.first, let parent = Int32(fields[1]),
            let group = Int32(fields[2]), let session = Int32(fields[3]),
            let user = Int64(fields[11]), let system = Int64(fields[12]),
            let childUser = Int64(fields[13]), let childSystem = Int64(fields[14]),
            let start = UInt64(fields[19])
        else { return nil }
        (self.pid, self.state, self.parent, self.group) = (pid, state, parent, group)
        (self.session, startTime) = (session, start)
        self.name = String(line[first..<name].dropFirst())
        let ticksPerSecond = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        let tick = 1_000_000_000 / ticksPerSecond
        processorTime = (user + system) * tick
        childrenProcessorTime = (childUser + childSystem) * tick
        // The one tells whether the other may be read, which is 0 otherwise.
        if hasEnded, fields.count > 49, fields[32] == "1", let status = Int32(fields[49]) {
            end = ProcessExit(waited: status)
        }
    }

    package var identity: ProcessIdentity { ProcessIdentity(pid: pid, startTime: startTime) }

    /// Dead, reaped or not.
    package var hasEnded: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }
    /// Stopped by a signal.
    package var isStopped: Bool { state == UInt8(ascii: "T") }
    /// Waits in the kernel and cannot be interrupted, such as the parent of a vfork whose child
    /// has not come to its exec. A signal that stops takes effect before any further code of its.
    package var isUninterruptible: Bool { state == UInt8(ascii: "D") }
}

/// How a process ended.
package enum ProcessExit: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// It was not our child, or somebody else reaped it, and the kernel does not tell.
    case unknown
}

/// A process by descriptor: never another one, readable once it has ended.
package struct PidFD: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    package let pid: Int32
    /// Clock ticks since boot, of a child that has told it; nil: it must be read.
    private let startTime: UInt64?

    package init(
        owning descriptor: consuming FileDescriptor,
        pid: Int32,
        startTime: UInt64? = nil
    ) {
        self.descriptor = descriptor
        (self.pid, self.startTime) = (pid, startTime)
    }

    /// Of a child that has not told its start time only until it is reaped.
    package var identity: ProcessIdentity? {
        startTime.map { ProcessIdentity(pid: pid, startTime: $0) } ?? ProcessIdentity(of: pid)
    }

    /// Throws `noProcess` when nobody has the number.
    package init(of pid: Int32) throws(LinuxError) {
        let number = try check(clinux_pidfd_open(pid), "pidfd_open", "process \(pid)")
        self.init(owning: FileDescriptor(owning: number), pid: pid)
    }

    /// The process that was meant, not one that has its number by now; throws `noProcess`.
    package init(of identity: ProcessIdentity) throws(LinuxError) {
        let process = try PidFD(of: identity.pid)
        // Read after the descriptor was opened: if the times agree it is that process.
        guard ProcessIdentity(of: identity.pid) == identity else {
            throw LinuxError("pidfd_open", "process \(identity.pid)", .noProcess)
        }
        self = process
    }

    /// The process that a pidfd from elsewhere stands for; nil when it has been reaped.
    package static func pid(of descriptor: borrowing FileDescriptor) -> Int32? {
        guard let text = try? Files.text("/proc/self/fdinfo/\(descriptor.number)", limit: 4096)
        else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Pid:") {
            let pid = Int32(line.dropFirst(4).drop { $0 == " " || $0 == "\t" })
            return pid.flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }

    /// Gives the descriptor away; the caller closes it.
    package consuming func release() -> Int32 { descriptor.release() }

    package func send(_ signal: Int32) throws(LinuxError) {
        try check(
            clinux_pidfd_send_signal(descriptor.number, signal),
            "pidfd_send_signal",
            "process \(pid)"
        )
    }

    package var hasExited: Bool {
        Poll.ready(descriptor.number, for: .readable, milliseconds: 0)
    }

    /// How it ended, whoever its parent is: once it is readable. Nil: not known, or not yet.
    package var end: ProcessExit? {
        if let end = endWhenReaped { return end }
        // Nobody else has its number as long as it has it.
        if let end = ProcessStatus(of: pid)?.end, Self.pid(of: descriptor) == pid { return end }
        // Reaped meanwhile.
        return endWhenReaped
    }

    /// Nil: nobody has reaped it, or the kernel does not tell.
    private var endWhenReaped: ProcessExit? {
        var status: Int32 = 0
        let isTold = unsafe clinux_pidfd_end(descriptor.number, &status) == 1
        return isTold ? ProcessExit(waited: status) : nil
    }

    /// Reaps our own child: nil while it runs (never with `block`), `unknown` when it is not ours.
    package func wait(block: Bool) throws(LinuxError) -> ProcessExit? {
        var code: Int32 = 0
        var status: Int32 = 0
        do throws(LinuxError) {
            try check(
                unsafe clinux_pidfd_wait(descriptor.number, block ? 1 : 0, &code, &status),
                "waitid",
                "process \(pid)"
            )
        } catch  where error.errno == .noChild {
            return hasExited ? .unknown : nil
        }
        if code == 0 { return nil }
        return ProcessExit(code: code, status: status)
    }
}

extension ProcessExit {
    /// From `si_code` and `si_status` of a child's siginfo.
    package init(code: Int32, status: Int32) {
        self = code == Int32(CLD_EXITED) ? .exited(status) : .signalled(status)
    }

    /// From the status that waitpid gives.
    fileprivate init(waited status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}
