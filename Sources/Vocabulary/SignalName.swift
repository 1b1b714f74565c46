/// Signals by name, for those who may not ask the system: the numbers are those of Linux on every
/// architecture that Swift knows.
package enum SignalName {
    private static let names: [Int32: String] = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT",
        7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2",
        13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGSTKFLT", 17: "SIGCHLD",
        18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU", 23: "SIGURG",
        24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH",
        29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
    ]

    /// `SIGTERM`; for a number without a name `signal 40`.
    package static func text(_ number: Int32) -> String { names[number] ?? "signal \(number)" }
}
