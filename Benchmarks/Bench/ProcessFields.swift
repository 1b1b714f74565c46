import Linux

/// The numbers of `/proc/PID/status`, as they are now.
struct ProcessFields {
    private let lines: [Substring]

    init(of pid: Int32) {
        lines = ((try? Files.text("/proc/\(pid)/status")) ?? "").split(separator: "\n")
    }

    /// Sizes are in KB; 0: there is no such field, or no such process.
    subscript(_ field: String) -> Double {
        guard let line = lines.first(where: { $0.hasPrefix(field + ":") }) else { return 0 }
        return Double(line.filter(\.isNumber)) ?? 0
    }

    /// It blocks after each. What another program preempts was awake.
    var wakeUps: Double { self["voluntary_ctxt_switches"] }
}
