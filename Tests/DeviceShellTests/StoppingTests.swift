@testable import DeviceShell
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

    @Test func `a keeper that was killed just before is replaced by a daemon that ends`() throws {
        let bench = try DaemonBench()
        try bench.submit("trap '' TERM; echo $$ > pid; while :; do sleep 1; done", id: "stubborn")
        let process = try bench.process(from: "pid")
        defer { try? PidFD(of: process).send(Signal.kill) }
        let keeper = try #require(bench.keeper)
        try PidFD(of: keeper).send(Signal.kill)
        try Wait.untilGone(keeper)
        #expect(try bench.stop() == .exited(0))
        #expect(process.isAlive)
        let lock = try DaemonLock(bench.daemon.scratch("state/lock"))
        try Wait.until(file: lock.path, "a keeper") { _ in
            (try? lock.keeper()).map { $0 != keeper && $0?.isAlive == true } ?? false
        }
    }

    @Test(arguments: ProcessBench.steps)
    func `a program that reads a result ends with the daemon`(step: ControlStep.Kind) throws {
        let bench = try DaemonBench(options: ["--step", step.rawValue.replacing(" ", with: "-")])
        try bench.script("look", "echo $$ > pid; exec sleep 1000")
        try bench.manifest(
            "reader",
            "BackgroundModes=fetch;\nRefreshCommand=true\nNewDataFrom=command:sh look"
        )
        let process = try bench.process(from: "pid")
        #expect(try bench.stop() == .exited(0))
        try Wait.untilGone(process)
    }
}
