internal import CLinux
internal import Glibc

/// A program to be started: everything that its process will have.
///
/// Between the birth of the process and execve only C runs. Signals are back at their defaults,
/// and no descriptor but those named here goes over.
package struct Program: Sendable {
    /// The file to run; the caller has searched `PATH` (`Files.executable`).
    package var path: String
    /// With the program's name first.
    package var arguments: [String]
    /// `NAME=value`.
    package var environment: [String]
    /// nil: the caller's.
    package var directory: String?
    /// Descriptors that become 0, 1 and 2; nil is `/dev/null`.
    package var input: Int32?
    package var output: Int32?
    package var error: Int32?
    /// Descriptors that become 3, 4, …; at most 16.
    package var passed: [Int32] = []
    /// An open file that gets `PID STARTTIME\n` just before execve (ARCHITECTURE.md, One run).
    /// Whoever finds nobody in it and wants it to stay so calls `voidMarker`, or deletes it.
    package var marker: Int32?
    /// The directory of a cgroup v2 in which the process is born.
    package var cgroup: String?
    /// Paths of cgroups of v1 hierarchies; the process moves itself in before execve.
    package var joining: [String] = []
    package var limits: [ResourceLimit] = []
    package var newSession = true
    /// Makes `input` the terminal of the new session.
    package var controlsTerminal = false
    /// Becomes this user, without further groups; nil: the caller.
    package var user: (user: UInt32, group: UInt32)?
    /// How long to wait for execve to succeed or fail (a file system that hangs does neither).
    /// Then the start counts as done, and a later failure is `failedStatus` and a second line in
    /// the marker.
    package var patienceMilliseconds: Int32 = 2000
    /// False: the start counts as done as soon as the process is about to call execve. The kernel
    /// reports an execve late if the program keeps our processor busy.
    package var waitsForExecve = true

    /// How the process exits that could not execute its program.
    package static let failedStatus = Int32(CLINUX_FAILED_STATUS)

    package init(_ path: String, arguments: [String], environment: [String]) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
    }

    /// Starts it; the process is our child and must be reaped. A failure names its step, such as
    /// `clone3`, `tasks`, `chdir` or `execve`; then no process is left.
    package func start() throws(LinuxError) -> PidFD {
        var started = clinux_started()
        let strings = CStrings([path, directory ?? ""])
        let argumentStrings = CStrings(arguments)
        let environmentStrings = CStrings(environment)
        let limits = limits.map {
            clinux_limit(resource: $0.kind.number, soft: $0.soft, hard: $0.hard)
        }
        let joining = Descriptors()
        for path in self.joining { try joining.open(path + "/tasks", .writing) }
        let cgroup = Descriptors()
        if let path = self.cgroup { try cgroup.open(path, [.reading, .directory]) }
        defer {
            // Only their numbers and pointers are used below.
            withExtendedLifetime((strings, argumentStrings, environmentStrings)) {}
            withExtendedLifetime((joining, cgroup)) {}
        }
        let result = unsafe passed.withUnsafeBufferPointer { passed in
            unsafe joining.numbers.withUnsafeBufferPointer { joining in
                unsafe limits.withUnsafeBufferPointer { limits in
                    var start = unsafe clinux_start()
                    unsafe start.path = UnsafePointer(strings.pointers[0])
                    unsafe start.arguments = UnsafePointer(argumentStrings.pointers)
                    unsafe start.environment = UnsafePointer(environmentStrings.pointers)
                    unsafe start.directory =
                        directory == nil ? nil : UnsafePointer(strings.pointers[1])
                    unsafe (start.input, start.output, start.error) =
                        (input ?? -1, output ?? -1, error ?? -1)
                    unsafe (start.passed, start.passed_count) = (passed.baseAddress, passed.count)
                    unsafe (start.marker, start.cgroup) = (marker ?? -1, cgroup.numbers.first ?? -1)
                    unsafe (start.join, start.join_count) = (joining.baseAddress, joining.count)
                    unsafe (start.limits, start.limit_count) = (limits.baseAddress, limits.count)
                    unsafe start.new_session = newSession ? 1 : 0
                    unsafe start.controlling_terminal = controlsTerminal ? 1 : 0
                    if let user {
                        unsafe (start.change_user, start.user, start.group) =
                            (1, user.user, user.group)
                    }
                    unsafe start.wait_milliseconds = patienceMilliseconds
                    unsafe start.returns_before_execve = waitsForExecve ? 0 : 1
                    return unsafe clinux_start(&start, &started)
                }
            }
        }
        guard result == 0 else {
            throw LinuxError(
                Self.step(started.stage),
                started.stage == 9 ? directory ?? "" : path,
                Errno(started.error)
            )
        }
        return PidFD(
            owning: FileDescriptor(owning: started.pidfd),
            pid: started.pid,
            startTime: started.start_time == 0 ? nil : started.start_time
        )
    }

    /// From now on no program is executed with this marker. Whoever has written an identity into it
    /// by now may execute, and is found by reading it after.
    package static func voidMarker(_ path: String) throws(LinuxError) {
        try Files.setPermissions(path, 0o600 | UInt32(CLINUX_VOID_MARKER))
    }

    /// The step of a start by its number, as markers hold it.
    package static func step(_ number: Int32) -> String {
        let names = [
            "start", "pipe2", "clone3", "tasks", "setsid", "setrlimit", "setresuid", "dup2",
            "TIOCSCTTY", "chdir", "write marker", "execve",
        ]
        return names.indices.contains(Int(number)) ? names[Int(number)] : "start"
    }
}

/// Open files for the length of a start.
private final class Descriptors {
    private(set) var numbers: [Int32] = []

    func open(_ path: String, _ mode: FileDescriptor.Mode) throws(LinuxError) {
        numbers.append(try FileDescriptor(opening: path, mode).release())
    }

    deinit { for number in numbers { close(number) } }
}

/// An array of C strings, ended by null.
@safe
final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        unsafe pointers = .allocate(capacity: count + 1)
        for index in 0..<count { unsafe pointers[index] = strdup(strings[index]) }
        unsafe pointers[count] = nil
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
