import Linux
import TestKit
import Testing
import Vocabulary

/// The daemon is asked to end.
struct StoppingTests {
    @Test func `what happened by the time it ends is not forgotten`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo $$ > pid; while [ ! -e go ]; do sleep 0.1; done", id: "work")
        let process = try bench.process(from: "pid")
        let daemon = try #require(bench.daemon.identity)
        try PidFD(of: daemon).send(Signal.stop)
        try bench.daemon.scratch.write("home/go", "")
        // The daemon, its parent, cannot reap it yet.
        let exited = try PidFD(of: process)
        try Wait.until(readable: exited.descriptor.number, "end of the command")
        try PidFD(of: daemon).send(Signal.terminate)
        try PidFD(of: daemon).send(Signal.proceed)
        #expect(try bench.stop() == .exited(0))
        try bench.daemon.start()
        #expect(try bench.nextRun("command.work")["result"] == "completed")
    }
}
