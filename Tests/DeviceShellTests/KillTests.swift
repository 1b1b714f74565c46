import Linux
import TestKit
import Testing
import Vocabulary

/// A daemon that is killed while it starts. What it is killed in the middle of is the campaign's
/// (`CampaignTests`).
struct KillTests {
    @Test(arguments: [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128])
    func `a daemon killed while it starts leaves nothing behind that stops the next`(
        milliseconds: Int32
    ) throws {
        let bench = try DaemonBench(starting: false)
        try bench.refresh("reader", "echo run >> runs", "RefreshInterval=1h")
        for _ in 0..<3 {
            _ = try bench.daemon.start(killedAfter: milliseconds)
            try bench.kill()
        }
        try bench.daemon.start()
        #expect(try bench.answers())
        try bench.wait(for: "runs")
        _ = try bench.nextRun("reader")
        #expect(bench.read("runs") == "run\n")
    }
}
