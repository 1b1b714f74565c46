@testable import DeviceShell
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// What happens to apps when no daemon lives, with a real keeper.
struct KeeperTests {
    let one = LaunchID(1)
    @Test(arguments: ProcessBench.steps)
    func `when a daemon is killed its apps live on, are thawed, and can be adopted`(
        step: ControlStep.Kind
    ) throws {
        #expect(Orphans.areOurs)
        let scratch = ScratchDirectory()
        let outcome = try Command(
            Products.path(of: "ProcessPeer"),
            "daemon",
            step.rawValue,
            scratch.path,
            Products.path(of: "offstaged")
        ).run()
        #expect(outcome == .init(status: .signalled(Signal.kill), output: "", errors: ""))
        let bench = try ProcessBench(step, in: scratch)
        #expect(bench.control.discover() == [one])
        let main = try #require(bench.markers.process(of: one))
        #expect(main.isAlive, "it outlived its daemon")
        let process = try PidFD(of: main)
        #expect(try bench.control.launch(of: main.pid) == one)
        // The keeper thaws it: it changes its file, again and again.
        for _ in 0..<2 {
            let before = try scratch.read("pulse")
            try Wait.until(file: scratch("pulse"), "thawed by the keeper") { $0 != before }
        }
        let lock = try DaemonLock(scratch("lock"))
        #expect(try lock.keeperLives())
        #expect(try lock.takeForDaemon(), "a daemon can start beside the keeper")
        try Wait.until("frozen", { try bench.control.freeze(one) })
        try bench.control.kill(one)
        try Wait.until(readable: process.descriptor.number)
        let keeper = try #require(try lock.keeper())
        #expect(keeper.isAlive, "it stays as long as a daemon lives")
        try PidFD(of: keeper).send(Signal.kill)
        try Wait.untilGone([main, keeper])
    }

    @Test(arguments: ProcessBench.steps)
    func `a keeper ends when neither a daemon nor a launch is left`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        let path = bench.lockPath
        let process = try bench.launch(1, "exec sleep 1000")
        try bench.control.freeze(one)
        let identity: ProcessIdentity
        do {
            let lock = try DaemonLock(path)
            #expect(try lock.takeForDaemon())
            identity = try startOnlyKeeper(bench, lock)
            try bench.letOthersWork()
            #expect(identity.isAlive)
            #expect(ProcessStatus(of: process.pid)?.hasEnded == false)
        }
        // Our lock is gone, as if we had died; the launch still lives.
        try Wait.until("thawed", { !bench.isFrozen(process.pid) })
        #expect(identity.isAlive, "a launch lives")
        try process.send(Signal.kill)
        #expect(try process.wait(block: true) == .signalled(9))
        try Wait.untilGone(identity)
        #expect(try DaemonLock(path).keeperLives() == false)
    }

    /// To ask again starts no other.
    private func startOnlyKeeper(
        _ bench: ProcessBench,
        _ lock: borrowing DaemonLock
    ) throws -> ProcessIdentity {
        let identity = try bench.startKeeper(lock)
        let same = try bench.ensureKeeper(lock)
        #expect(same.isOurs == false)
        #expect(same.process.pid == identity.pid)
        return identity
    }

    @Test func `a second daemon is refused and told of the first`() throws {
        let scratch = ScratchDirectory()
        let first = try DaemonLock(scratch("lock"))
        #expect(try first.takeForDaemon())
        let second = try DaemonLock(scratch("lock"))
        #expect(try !second.takeForDaemon())
        #expect(try second.holder() == ProcessIdentity(of: CurrentProcess.pid))
        #expect(try second.daemonLives())
        #expect(try second.whileNoDaemon {} == nil)
    }

    @Test func `a daemon that says it ends is waited for`() throws {
        let scratch = ScratchDirectory()
        var first: DaemonLock? = try DaemonLock(scratch("lock"))
        #expect(try first?.takeForDaemon() == true)
        try first?.sayEnding()
        let second = try DaemonLock(scratch("lock"))
        var waited: [ProcessIdentity] = []
        let isTaken = try second.takeForDaemon {
            waited.append($0)
            first = nil
        }
        #expect(isTaken)
        #expect(waited == [ProcessIdentity(of: CurrentProcess.pid)])
    }

    @Test func `a daemon that has read its signal and not said so is given half a second`() throws {
        for (moment, isWaitedFor) in [(Int32(400), true), (600, false)] {
            let scratch = ScratchDirectory()
            var first: DaemonLock? = try DaemonLock(scratch("lock"))
            #expect(try first?.takeForDaemon() == true)
            let second = try DaemonLock(scratch("lock"))
            var waited: Int32 = 0
            let isTaken = try second.takeForDaemon(
                { _ in first = nil },
                pause: {
                    waited += $0
                    if waited >= moment { try? first?.sayEnding() }
                }
            )
            #expect(isTaken == isWaitedFor, "\(waited) of \(moment) ms")
        }
    }

    @Test func `while the keeper works no daemon starts`() throws {
        let scratch = ScratchDirectory()
        let keeper = try DaemonLock(scratch("lock"))
        let worked: Void? = try keeper.whileNoDaemon {
            // The daemon would wait for this lock without a limit: only tried here.
            let other = try? LockFile(scratch("lock"))
            #expect((try? other?.tryLock(1)) == false)
        }
        #expect(worked != nil)
        #expect(try DaemonLock(scratch("lock")).takeForDaemon())
    }

    @Test func `a second keeper ends at once, and leaves the name of the first`() throws {
        let bench = try ProcessBench(.signals)
        let lock = try DaemonLock(bench.scratch("lock"))
        #expect(try lock.takeForDaemon())
        let first = try bench.startKeeper(lock)
        let second = try Command(
            Products.path(of: "offstaged"),
            "--keeper",
            "--lock",
            lock.path,
            "--launches",
            bench.markers.directory,
            "--patience",
            "1"
        ).run()
        #expect(second.status == .exited(0))
        #expect(try lock.keeper() == first)
        try PidFD(of: first).send(Signal.kill)
        try Wait.untilGone(first)
    }

    @Test(arguments: [[], ["--keeper"], ["--keeper", "--lock", "/x"], ["--keeper", "--what"]])
    func `a keeper without its options ends with a usage error`(words: [String]) {
        #expect(Keeper.main(words) == 2)
    }

    @Test func `a keeper that cannot start is tried again, and doctor knows`() throws {
        let bench = try DaemonBench(starting: false)
        let step = bench.daemon.scratch("state/launches/step")
        try Files.makeDirectory(step, parents: true)
        try bench.daemon.start()
        func keeper() throws -> Value? {
            try bench.ask("Doctor").listValue?.first { $0["check"] == "keeper" }
        }
        #expect(try keeper()?["ok"] == false)
        try Files.removeDirectory(step)
        try Wait.until(file: bench.daemon.scratch("state/lock")) { _ in bench.keeper != nil }
        #expect(try keeper()?["ok"] == true)
    }
}
