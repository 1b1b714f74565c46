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

    /// A daemon with a suspended app, whose keeper was killed just before it is asked to end, and
    /// what is done to its state directory meanwhile. Returns once it has ended.
    private func stop(
        _ step: ControlStep.Kind,
        _ meanwhile: (_ state: String, _ away: String) throws -> Void
    ) throws -> (bench: DaemonBench, app: ProcessIdentity) {
        let bench = try DaemonBench(
            "suspend-delay = 0s\n",
            options: ["--step", step.rawValue.replacing(" ", with: "-")],
            starting: false
        )
        try bench.script("app.sh", "echo $$ > pid; while :; do sleep 0.1; done")
        try bench.installReader("sh app.sh")
        try bench.daemon.start()
        let app = try bench.suspendReader(writing: "pid")
        let keeper = try #require(bench.keeper)
        let daemon = try #require(bench.daemon.identity)
        try PidFD(of: daemon).send(Signal.stop)
        try PidFD(of: keeper).send(Signal.kill)
        try Wait.untilGone(keeper)
        let state = bench.daemon.scratch("state")
        try Files.rename(state, to: state + ".away")
        try meanwhile(state, state + ".away")
        try PidFD(of: daemon).send(Signal.terminate)
        try PidFD(of: daemon).send(Signal.proceed)
        #expect(try bench.stop() == .exited(0))
        return (bench, app)
    }

    /// As it was, so that the bench finds what is left.
    private func putBack(_ bench: DaemonBench) throws {
        let state = bench.daemon.scratch("state")
        try Files.removeTree(state)
        try Files.rename(state + ".away", to: state)
    }

    @Test(arguments: ProcessBench.steps)
    func `where no keeper can be had, a daemon that ends leaves nothing frozen`(
        step: ControlStep.Kind
    ) throws {
        let (bench, app) = try stop(step) { _, _ in }
        #expect(app.isAlive)
        #expect(try !bench.isFrozen(app, step))
        try Files.rename(bench.daemon.scratch("state.away"), to: bench.daemon.scratch("state"))
    }

    @Test(arguments: ProcessBench.steps)
    func `a copy in the place of the state directory gets a keeper`(
        step: ControlStep.Kind
    ) throws {
        let (bench, app) = try stop(step) { state, away in
            let copied = try Command("cp", "-a", away, state).run()
            #expect(copied.succeeded)
        }
        #expect(app.isAlive)
        let lock = try DaemonLock(bench.daemon.scratch("state/lock"))
        try Wait.until("a keeper", { try lock.keeperLives() })
        #expect(bench.step == step)
        try putBack(bench)
    }

    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup1), "no freezer that we may use"))
    func `a state directory with another scope is left alone, and nothing stays frozen`() throws {
        let other = "cgroup v1\n/sys/fs/cgroup/freezer/offstage-test-none\n"
        let (bench, app) = try stop(.cgroup1) { state, _ in
            try Files.makeDirectory(state + "/launches", parents: true)
            _ = try DaemonLock(state + "/lock")
            try Files.replace(state + "/launches/step", with: other)
        }
        #expect(app.isAlive)
        #expect(try !bench.isFrozen(app, .cgroup1))
        #expect(try Files.text(bench.daemon.scratch("state/launches/step")) == other)
        #expect(try DaemonLock(bench.daemon.scratch("state/lock")).keeperLives() == false)
        try putBack(bench)
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
