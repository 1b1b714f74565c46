internal import Linux

/// The daemon's own words, one line each, on standard error (the journal, under systemd).
enum DaemonLog {
    static func write(_ text: String) {
        let error = FileDescriptor(owning: 2)
        // Nobody can be told that nobody can be told.
        try? error.writeAll("offstaged: \(text)\n")
        _ = error.release()
    }
}
