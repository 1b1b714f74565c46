import Linux
import TestKit
import Testing
import Vocabulary

/// SIGTERM that comes in one turn of the loop with something that the daemon would act on.
struct LastTurnTests {
    /// What else comes with the signal, while one command runs and ten wait for its slot.
    enum Company: CaseIterable {
        case exit, submit
    }

    @Test(arguments: Company.allCases)
    func `nothing that waits is started, or used up, by a stop`(_ company: Company) throws {
        let bench = try DaemonBench("run-slots = 2\n")
        try bench.submit("echo $$ > pid; while [ ! -e go ]; do sleep 0.1; done", id: "first")
        let process = try bench.process(from: "pid")
        for number in 0..<10 { try bench.submit("echo \(number) >> ran", id: "w\(number)") }
        let daemon = try PidFD(of: try #require(bench.daemon.identity))
        try daemon.send(Signal.stop)
        switch company {
        case .exit:
            try bench.daemon.scratch.write("home/go", "")
            let exited = try PidFD(of: process)
            try Wait.until(readable: exited.descriptor.number, "end of the command")
        case .submit:
            try bench.sendSubmit("echo late >> ran", id: "late", kind: "refresh")
        }
        try daemon.send(Signal.terminate)
        try daemon.send(Signal.proceed)
        #expect(try bench.stop() == .exited(0))
        #expect(bench.read("ran") == "")
        #expect(!bench.daemon.log.contains("Stale file handle"), "\(bench.daemon.log)")
        if company == .submit { try bench.daemon.scratch.write("home/go", "") }
        try bench.daemon.start()
        try bench.wait(until: "all have run") {
            try (0..<10).allSatisfy { try bench.runs("command.w\($0)").count == 1 }
        }
        for number in 0..<10 {
            #expect(try bench.runs("command.w\(number)")[0]["result"] == "completed")
            #expect(bench.lines("ran").filter { $0 == "\(number)" }.count == 1)
        }
        guard company == .submit else { return }
        try bench.wait(for: "ran") { $0.contains("late") }
    }

    /// The daemon learns of both at once.
    @Test func `what had ended before it could be interrupted has ended`() throws {
        let bench = try DaemonBench("run-slots = 20\nback-off = 0s\n")
        let ids = (0..<8).map { "w\($0)" }
        for id in ids {
            let script = "echo $$ > pid-\(id); while [ ! -e go ]; do sleep 0.1; done; exit 1"
            try bench.submit(script, id: id, kind: "refresh")
        }
        let runs = try ids.map { try bench.process(from: "pid-\($0)") }
        let daemon = try PidFD(of: try #require(bench.daemon.identity))
        try daemon.send(Signal.stop)
        try bench.daemon.scratch.write("home/go", "")
        try Wait.untilGone(runs)
        try bench.send("Pause", [[:]])
        try daemon.send(Signal.proceed)
        try bench.wait(until: "the pause") { try bench.ask("Status")["paused"] != nil }
        for id in ids {
            #expect(try bench.runs("command.\(id)").map { $0["result"] } == ["failed"])
        }
    }
}
