import Linux
import TestKit

/// Many transfers that wait: what it takes to ask for them, and what they cost then.
struct WaitingTransfers {
    private static let count = 10_000
    private static let idleSeconds: Int32 = 30

    func run() throws -> [Figure] {
        let daemon = try TransferDaemon(in: BenchWeb.disk, trusting: "")
        try daemon.set(network: false)
        let urls = (0..<Self.count).map { "https://example.org/episodes/2026/\($0).mp3" }
        // The first question of this kind, which brings in code.
        _ = try daemon.enqueue(["https://example.org/first"])
        pause(8)
        let before = ProcessFields(of: daemon.pid)["VmRSS"]
        let enqueue = try timed { try daemon.enqueue(urls) } / 1e6
        pause(8)
        let cost = (ProcessFields(of: daemon.pid)["VmRSS"] - before) / 1024
        let wakeUps = ProcessFields(of: daemon.pid).wakeUps
        pause(Self.idleSeconds)
        let woken = ProcessFields(of: daemon.pid).wakeUps - wakeUps
        var starts: [Double] = []
        for _ in 0..<5 {
            try daemon.daemon.kill()
            starts.append(try daemon.start())
        }
        let name = "\(Self.count) waiting transfers"
        return [
            Figure(
                name: "\(Self.count) transfers enqueued in one call",
                unit: "ms",
                ours: enqueue,
                limit: .atMost(1000)
            ),
            Figure(name: "\(name), memory", unit: "MB", ours: cost, limit: .atMost(10)),
            Figure(
                name: "\(name), wake-ups in \(Self.idleSeconds) s",
                unit: "",
                ours: woken,
                limit: .atMost(0)
            ),
            Figure(
                name: "ready after start with \(name)",
                unit: "ms",
                ours: starts.median,
                limit: .atMost(500)
            ),
        ]
    }
}
