import Linux
import TestKit
import Testing
import Vocabulary

/// A daemon that could not run for a while: stopped, or without processor time.
struct StandstillTests {
    /// The first exit must not make the daemon expire the other runs.
    @Test func `commands that ended while the daemon stood still are not taken for expired`() throws
    {
        let bench = try DaemonBench("expiry-warning = 1s\nwake-grant = 3s\n")
        let names = ["one", "two", "three"]
        for name in names {
            try bench.submit(
                "echo > began.\(name); while [ ! -e go ]; do sleep 0.01; done; "
                    + "echo > ended.\(name); exit 1",
                id: name,
                kind: "refresh"
            )
        }
        for name in names { try bench.wait(for: "began.\(name)") }
        let began = Clocks.boot()
        try bench.daemon.send(Signal.stop)
        try Files.replace(bench.home("go"), with: "")
        for name in names { try bench.wait(for: "ended.\(name)") }
        try Wait.until("the grant is over") { Clocks.boot() - began > .seconds(4) }
        try bench.daemon.send(Signal.proceed)
        for name in names {
            let run = try bench.nextRun("command.\(name)")
            #expect(run["result"] == "failed", "\(run)")
        }
    }
}
