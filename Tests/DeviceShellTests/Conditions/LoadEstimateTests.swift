import Linux
import TestKit
import Testing
import Vocabulary

/// A machine whose use nobody reports: the kernel's load, and its processor pressure, stand in.
struct LoadEstimateTests {
    private static let quiet = "0.01 64.00 64.00 1/100 1\n"
    private static let busy = "64.00 64.00 64.00 1/100 1\n"

    private func pressure(_ share: String) -> String {
        """
        some avg10=0.00 avg60=\(share) avg300=0.00 total=1
        full avg10=0.00 avg60=0.00 avg300=0.00 total=0

        """
    }

    private func gates(_ bench: DaemonBench, of id: String) throws -> [String] {
        let held = try bench.ask("Explain", .string(id), .map([:])).listValue?.first
        return held?["holds"]?.listValue?.compactMap { $0["gate"]?.stringValue } ?? []
    }

    private func check(_ bench: DaemonBench) throws -> Value {
        let checks = try bench.ask("Doctor").listValue ?? []
        return checks.first { $0["check"] == "processor pressure" } ?? .null
    }

    /// Another request to know reads anew.
    private func submitAnew(_ bench: DaemonBench) throws {
        _ = try? bench.ask("Cancel", "command.once", .map([:]))
        try bench.submit("echo ran >> ran", id: "once")
    }

    @Test func `a busy machine runs no processing, a quiet one does`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.daemon.scratch.write("loadavg", Self.busy)
        try bench.daemon.start()
        try submitAnew(bench)
        #expect(try gates(bench, of: "once") == ["device-in-use"])
        #expect(try bench.condition("idle")["source"] == "estimated")
        try bench.daemon.scratch.write("loadavg", Self.quiet)
        try submitAnew(bench)
        try bench.wait(for: "ran")
    }

    @Test func `nor does one on which tasks wait for a processor`() throws {
        let bench = try DaemonBench(starting: false)
        let file = bench.daemon.scratch("pressure")
        try bench.daemon.scratch.write("pressure", pressure("20.00"))
        bench.daemon.options += ["--cpu-pressure", file]
        try bench.daemon.start()
        try submitAnew(bench)
        #expect(try gates(bench, of: "once") == ["device-in-use"])
        #expect(try check(bench)["ok"] == true)
        try bench.daemon.scratch.write("pressure", pressure("19.99"))
        try submitAnew(bench)
        try bench.wait(for: "ran")
        // Where the kernel does not tell, the load decides.
        try Files.remove(file)
        try submitAnew(bench)
        try bench.wait(for: "ran") { $0 == "ran\nran\n" }
        #expect(try check(bench)["ok"] == false)
        #expect(try check(bench)["lost"]?.stringValue?.contains("load alone") == true)
    }

    /// Nobody is asked what it takes of the processors: while it runs, nothing reads the load.
    @Test func `work that raises the load goes on, and the next waits for the load`() throws {
        let bench = try DaemonBench(starting: false)
        let file = bench.daemon.scratch("pressure")
        try bench.daemon.scratch.write("pressure", pressure("0.00"))
        bench.daemon.options += ["--cpu-pressure", file]
        try bench.daemon.start()
        try bench.submit("echo on >> on; until [ -e end ]; do :; done", id: "busy")
        try bench.wait(for: "on")
        try bench.daemon.scratch.write("loadavg", Self.busy)
        try bench.daemon.scratch.write("pressure", pressure("99.00"))
        try bench.submit("true", id: "next")
        #expect(try gates(bench, of: "next") == ["run-slots"])
        #expect(try bench.running("command.busy")?["state"] != nil)
        try bench.daemon.scratch.write("home/end", "")
        let run = try bench.nextRun("command.busy")
        #expect(run["result"] == "completed")
        #expect(bench.lines("on") == ["on"])
        #expect(try gates(bench, of: "next") == ["device-in-use"])
    }
}
