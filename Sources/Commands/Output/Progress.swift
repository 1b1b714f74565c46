import CommandTable

/// How far long work has come: a bar on standard error, if that is a terminal.
struct Progress {
    private let total: Int64
    private let console: Console
    private static let width: Int64 = 40

    init(of total: Int64, _ console: Console) {
        (self.total, self.console) = (total, console)
    }

    /// Shows that `done` of all are done.
    func show(_ done: Int64) {
        guard isShown else { return }
        let filled = Int(done * Self.width / total)
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: ".", count: Int(Self.width) - filled)
        console.writeError("\r[\(bar)] \(done) of \(total)")
    }

    /// Takes the bar away again.
    func end() {
        guard isShown else { return }
        console.writeError("\r\u{1B}[K")
    }

    private var isShown: Bool { total > 1 && console.errorsAreSeen }
}
