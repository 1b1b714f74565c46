internal import CLinux
internal import Glibc

/// The process that we are.
package enum CurrentProcess {
    package static var pid: Int32 { getpid() }
    package static var user: UInt32 { geteuid() }
    package static var group: UInt32 { getegid() }

    /// The permissions that new files do not get. Nil: the kernel does not say; who asks umask(2)
    /// changes it.
    package static var fileMask: UInt32? {
        let lines = (try? Files.text("/proc/self/status"))?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("Umask:") }) else { return nil }
        return UInt32(line.dropFirst("Umask:".count).filter { !$0.isWhitespace }, radix: 8)
    }

    package static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// All of the environment, `NAME=value`.
    package static func environment() -> [String] {
        var entries: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            unsafe entries.append(String(cString: entry))
            unsafe next += 1
        }
        return entries
    }

    /// Orphans below this process become its children, to be reaped by it.
    package static func setSubreaper(_ on: Bool) throws(LinuxError) {
        try check(clinux_set_subreaper(on ? 1 : 0), "prctl", "PR_SET_CHILD_SUBREAPER")
    }

    /// Hands what is free on the heap back to the system: worth it after a peak, not often.
    package static func releaseFreeMemory() { clinux_release_free_memory() }

    /// Unmaps the program's code and constants. The kernel maps a page again, from the cache of the
    /// file, when it is needed. For the end of a start, most of whose code never runs again.
    package static func releaseProgram() { clinux_release_program() }

    /// From now on memory that is freed stays with the process: of blocks of up to `size` bytes,
    /// and `total` bytes in all. For who frees and takes the same all the time.
    package static func keepFreeMemory(ofBlocksUpTo size: Int32, total: Int32) {
        clinux_keep_free_memory(size, total)
    }

    /// For the calling thread and those that it starts later: call before the first thread.
    package static func block(signals: [Int32]) throws(LinuxError) {
        try check(unsafe clinux_block_signals(signals, signals.count), "pthread_sigmask")
    }

    /// Becomes another user for good, without further groups.
    package static func become(_ user: User) throws(LinuxError) {
        try check(clinux_become(user.user, user.group), "setresuid", user.name)
    }

    /// What `print` writes is written line by line, as to a terminal, wherever it goes.
    package static func printByLines() { clinux_print_by_lines() }

    /// Names the calling thread, as `top` and `ps` show it; 15 bytes count.
    package static func nameThread(_ name: String) { _ = unsafe clinux_name_thread(name) }

    /// A signal to a process by number; to be sure who it is, send by `PidFD`.
    package static func send(_ signal: Int32, to pid: Int32) throws(LinuxError) {
        try check(kill(pid, signal), "kill", "process \(pid)")
    }

    package static var pageSize: Int64 { Int64(sysconf(Int32(_SC_PAGESIZE))) }

    /// Asks again until it holds, for two milliseconds or so: for what the kernel has done by then
    /// in all but a few cases, and tells late or not at all.
    package static func confirm(_ condition: () -> Bool) -> Bool {
        for attempt in 0..<24 {
            if condition() { return true }
            usleep(attempt < 8 ? 20 : 100)
        }
        return condition()
    }

    /// Ends this process with an exit status.
    package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }

    package static func ignore(signal: Int32) throws(LinuxError) {
        try check(clinux_ignore_signal(signal), "sigaction", "signal \(signal)")
    }
}

/// Signals by their names; the numbers are the machine's.
package enum Signal {
    package static let hangUp = SIGHUP
    package static let interrupt = SIGINT
    package static let kill = SIGKILL
    package static let pipe = SIGPIPE
    package static let terminate = SIGTERM
    package static let child = SIGCHLD
    package static let proceed = SIGCONT
    package static let stop = SIGSTOP
    package static let processorTime = SIGXCPU
    package static let badCall = SIGSYS

    /// `SIGTERM`; for a number without a name `signal 40`.
    package static func name(_ number: Int32) -> String {
        let names: [Int32: String] = [
            SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL",
            SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2",
            SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGCHLD: "SIGCHLD",
            SIGCONT: "SIGCONT", SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN",
            SIGTTOU: "SIGTTOU", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
            SIGWINCH: "SIGWINCH",
        ]
        return names[number] ?? "signal \(number)"
    }
}

/// A limit of `setrlimit`.
package struct ResourceLimit: Equatable, Sendable {
    package enum Kind: Int32, Sendable {
        case core, data, openFiles, addressSpace, processes
        var number: Int32 { clinux_resource(rawValue) }
    }

    package static let unlimited = UInt64.max

    package var kind: Kind
    package var soft: UInt64
    package var hard: UInt64

    package init(_ kind: Kind, soft: UInt64, hard: UInt64) {
        (self.kind, self.soft, self.hard) = (kind, soft, hard)
    }

    /// What holds for this process now.
    package init(current kind: Kind) throws(LinuxError) {
        var soft: UInt64 = 0
        var hard: UInt64 = 0
        try check(unsafe clinux_get_limit(kind.number, &soft, &hard), "getrlimit", "\(kind)")
        self.init(kind, soft: soft, hard: hard)
    }

    /// Holds for this process from now on, and for what it starts.
    package func apply() throws(LinuxError) {
        try check(clinux_set_limit(kind.number, soft, hard), "setrlimit", "\(kind)")
    }
}

/// A row of the user database.
package struct User: Equatable, Sendable {
    package var name: String
    package var user: UInt32
    package var group: UInt32
    package var home: String
    package var shell: String

    /// The user that this process runs as; nil without a row.
    package static func current() -> User? {
        unsafe lookUp { unsafe getpwuid_r(geteuid(), $0, $1, $2, $3) }
    }

    /// Whether its processes outlive its last session; nil: no systemd-logind runs here.
    package var lingers: Bool? {
        guard Files.exists("/run/systemd/system") else { return nil }
        return Files.exists("/var/lib/systemd/linger/\(name)")
    }

    package static func named(_ name: String) -> User? {
        unsafe lookUp { unsafe getpwnam_r(name, $0, $1, $2, $3) }
    }

    private static func lookUp(
        _ call: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) -> User? {
        var row = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let result = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            return unsafe call(&row, base, buffer.count, &found)
        }
        // The strings live in the buffer, which is still there.
        return withExtendedLifetime(buffer) {
            guard result == 0, unsafe found != nil else { return nil }
            return unsafe User(
                name: String(cString: row.pw_name),
                user: row.pw_uid,
                group: row.pw_gid,
                home: String(cString: row.pw_dir),
                shell: String(cString: row.pw_shell)
            )
        }
    }
}

extension CurrentProcess {
    /// Becomes another program: `path`, in `directory` if one is named. Returns only by throwing;
    /// then the working directory may be the new one.
    package static func replace(
        _ path: String,
        arguments: [String],
        environment: [String],
        directory: String? = nil
    ) throws(LinuxError) -> Never {
        if let directory { try check(unsafe chdir(directory), "chdir", directory) }
        let argumentStrings = CStrings(arguments)
        let environmentStrings = CStrings(environment)
        try check(
            unsafe execve(path, argumentStrings.pointers, environmentStrings.pointers),
            "execve",
            path
        )
        fatalError("execve returned without an error")
    }
}
