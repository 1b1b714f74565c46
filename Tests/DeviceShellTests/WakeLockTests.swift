@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Held awake while a run lasts, and never for ever. This machine may have no wake locks: the
/// kernel's two files are ordinary ones here.
struct WakeLockTests {
    private func power(_ scratch: ScratchDirectory) throws -> String {
        try scratch.write("power/wake_lock", "")
        try scratch.write("power/wake_unlock", "")
        return scratch("power")
    }

    private func daemon() throws -> DaemonBench {
        let bench = try DaemonBench(starting: false)
        bench.daemon.options += ["--power", try power(bench.daemon.scratch)]
        return bench
    }

    private func name(_ bench: DaemonBench) -> String {
        ControlProbe.name(forState: bench.daemon.scratch("state"))
    }

    @Test func `the machine is held awake while a run lasts`() throws {
        let bench = try daemon()
        try bench.daemon.start()
        try bench.submit("while [ ! -e go ]; do sleep 0.1; done", id: "long")
        try Wait.until(file: bench.daemon.scratch("power/wake_lock")) { $0 == name(bench) }
        try bench.daemon.scratch.write("power/wake_unlock", "")
        try bench.daemon.scratch.write("home/go", "")
        try Wait.until(file: bench.daemon.scratch("power/wake_unlock")) { $0 == name(bench) }
    }

    @Test func `a daemon gives back what one that was killed held, but not for a run`() throws {
        let bench = try daemon()
        try bench.daemon.start()
        #expect(try bench.daemon.scratch.read("power/wake_unlock") == name(bench))
        try bench.submit("echo $$ > pid; exec sleep 1000", id: "long")
        let process = try bench.process(from: "pid")
        try bench.kill()
        try bench.daemon.scratch.write("power/wake_unlock", "")
        try bench.daemon.scratch.write("power/wake_lock", "")
        try bench.daemon.start()
        #expect(try bench.daemon.scratch.read("power/wake_lock") == name(bench), "it goes on")
        #expect(try bench.daemon.scratch.read("power/wake_unlock") == "")
        try bench.kill()
        try PidFD(of: process).send(Signal.kill)
        try Wait.untilGone(process)
        try bench.daemon.start()
        #expect(try bench.daemon.scratch.read("power/wake_unlock") == name(bench))
    }

    @Test func `a daemon that ends holds nothing`() throws {
        let bench = try daemon()
        try bench.daemon.start()
        try bench.submit("echo $$ > pid; exec sleep 1000", id: "long")
        try bench.wait(for: "pid")
        try bench.daemon.scratch.write("power/wake_unlock", "")
        _ = try bench.stop()
        #expect(try bench.daemon.scratch.read("power/wake_unlock") == name(bench))
    }

    @Test func `the keeper gives back what a daemon held that is gone`() throws {
        let bench = try ProcessBench(.signals)
        let wakeLock = WakeLock(name: "offstage-test", directory: try power(bench.scratch))
        let identity: ProcessIdentity
        do {
            let lock = try DaemonLock(bench.scratch("lock"))
            #expect(try lock.takeForDaemon())
            identity = try bench.startKeeper(lock, wakeLock)
            #expect(try bench.scratch.read("power/wake_unlock") == "")
        }
        try Wait.untilGone(identity)
        #expect(try bench.scratch.read("power/wake_unlock") == "offstage-test")
    }
}
