internal import Linux

/// The daemon's own words, one line each, on standard error (the journal, under systemd).
enum DaemonLog {
    static func write(_ text: String, named: Bool = true) {
        let error = FileDescriptor(owning: 2)
        // Nobody can be told that nobody can be told.
        try? error.writeAll(named ? "offstaged: \(text)\n" : "\(text)\n")
        _ = error.release()
    }
}
