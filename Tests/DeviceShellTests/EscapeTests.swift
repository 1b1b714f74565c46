import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Programs that try to outlive their time, where the kernel has no groups to hold them by.
struct EscapeTests {
    private static let signals = ["--step", "signals"]

    /// The processes whose numbers are in a file and that still run.
    private func living(_ bench: DaemonBench, _ name: String) -> [ProcessIdentity] {
        bench.lines(name).compactMap { Int32($0) }.compactMap { ProcessIdentity(of: $0) }
            .filter(\.isAlive)
    }

    private func waitUntilNoneLives(_ bench: DaemonBench, _ name: String) throws {
        try Wait.until(
            "the end of \(living(bench, name).map(\.pid))",
            { living(bench, name).isEmpty }
        )
    }

    @Test func `whatever left the session of a command ends with it`() throws {
        let bench = try DaemonBench(options: Self.signals)
        // Half of them lose their parent as well.
        try bench.submit(
            """
            i=0
            while [ $i -lt 50 ]; do
                setsid sh -c 'echo $$ >> pids; exec sleep 1000' &
                (setsid sh -c 'echo $$ >> pids; exec sleep 1000' &)
                i=$((i+1))
            done
            while [ $(wc -l < pids) -lt 100 ]; do sleep 0.1; done
            """,
            id: "flock"
        )
        _ = try bench.nextRun("command.flock")
        #expect(bench.lines("pids").count == 100)
        try waitUntilNoneLives(bench, "pids")
    }

    @Test func `what gives up its environment too ends once no launch is left`() throws {
        let bench = try DaemonBench(options: Self.signals)
        try bench.submit(
            """
            (setsid env -i sh -c 'echo $$ >> pids; exec sleep 1000' &)
            while [ ! -s pids ]; do sleep 0.1; done
            """,
            id: "hider"
        )
        _ = try bench.nextRun("command.hider")
        try waitUntilNoneLives(bench, "pids")
    }

    @Test func `while another launch lives, doctor names what left its own`() throws {
        let bench = try DaemonBench(options: Self.signals)
        try bench.submit(
            "echo $$ > other; while [ ! -e go ]; do sleep 0.1; done",
            id: "other",
            kind: "refresh"
        )
        try bench.wait(for: "other")
        // One that the daemon happens to see before it has left ends with its run.
        var hidden: ProcessIdentity?
        for number in 0..<20 where hidden == nil {
            try bench.submit(
                """
                (setsid env -i sh -c 'echo $$ > pid; exec sleep 1000' &)
                while [ ! -s pid ]; do sleep 0.1; done
                """,
                id: "hider\(number)"
            )
            _ = try bench.nextRun("command.hider\(number)")
            hidden = try bench.process(ended: "pid").first
            if hidden == nil { try Files.remove(bench.home("pid")) }
        }
        let process = try #require(hidden)
        let found = try bench.ask("Doctor").listValue?.first { $0["check"] == "strays" }
        #expect(found?["found"]?.stringValue?.contains("sleep (process \(process.pid))") == true)
        try bench.daemon.scratch.write("home/go", "")
        _ = try bench.nextRun("command.other")
        try waitUntilNoneLives(bench, "pid")
    }

    @Test func `a daemon that is killed ends what left the session, when it starts again`() throws {
        let bench = try DaemonBench(options: Self.signals)
        try bench.submit(
            """
            (setsid sh -c 'echo $$ >> pids; exec sleep 1000' &)
            while [ ! -s pids ]; do sleep 0.1; done
            echo $$ > main
            while [ ! -e go ]; do sleep 0.1; done
            """,
            id: "flock"
        )
        let main = try bench.process(from: "main")
        try bench.kill()
        try PidFD(of: main).send(Signal.kill)
        try Wait.untilGone(main)
        #expect(living(bench, "pids").count == 1)
        try bench.daemon.start()
        try waitUntilNoneLives(bench, "pids")
    }

    @Test(arguments: Self.steps)
    func `a program that is asked for a result does not outlive a killed daemon`(_ step: String)
        throws
    {
        let bench = try DaemonBench(options: ["--step", step], starting: false)
        try bench.script("news.sh", "echo $$ >> pids; exec sleep 1000")
        try bench.refresh("reader", "echo run >> ran", "NewDataFrom=command:sh news.sh")
        for _ in 0..<3 {
            let before = bench.lines("pids").count
            try bench.daemon.start()
            try bench.wait(for: "pids") { $0.split(separator: "\n").count > before }
            try bench.kill()
        }
        try bench.script("news.sh", "echo again >> asked")
        try bench.daemon.start()
        try bench.wait(for: "asked")
        try waitUntilNoneLives(bench, "pids")
    }

    /// Those that work here, as `--step` names them.
    static let steps = ProcessBench.steps.map { step in
        switch step {
        case .cgroup2: "cgroup-v2"
        case .cgroup1: "cgroup-v1"
        case .signals: "signals"
        }
    }

    /// The daemon is asked to end while a command that it has asked to end goes on.
    @Test(arguments: Self.steps)
    func `a command that ignores its end has no more time when the daemon stops`(_ step: String)
        throws
    {
        let bench = try DaemonBench(
            "wake-grant = 7s\nstop-timeout = 5s\n",
            options: ["--step", step]
        )
        try bench.submit(
            "trap 'echo term >> asked' TERM; echo $$ > pid; while :; do sleep 0.1; done",
            id: "deaf",
            kind: "refresh"
        )
        let process = try bench.process(from: "pid")
        try bench.wait(for: "asked")
        let exited = try PidFD(of: process)
        #expect(try bench.stop() == .exited(0))
        try Wait.until(readable: exited.descriptor.number, "the keeper ends it")
        try bench.daemon.start()
        #expect(try bench.nextRun("command.deaf")["outcome"] == "expired")
    }

    /// The command ends the daemon, its parent, before that can know that it was started.
    @Test func `a command ends in its time when the daemon is killed in its first moment`() throws {
        let bench = try DaemonBench("wake-grant = 7s\n")
        try bench.submit(
            "kill -KILL $PPID; echo $$ > pid; while :; do sleep 0.1; done",
            id: "first",
            kind: "refresh"
        )
        let exited = try PidFD(of: try bench.process(from: "pid"))
        try bench.kill()
        try Wait.until(readable: exited.descriptor.number, "the keeper ends it")
        try bench.daemon.start()
        #expect(try bench.nextRun("command.first")["outcome"] == "unknown")
    }

    /// The same, before it was asked: the keeper asks it.
    @Test func `a command whose time ends while no daemon lives is asked to end, and ended`() throws
    {
        let bench = try DaemonBench("wake-grant = 7s\n")
        try bench.submit(
            "trap 'echo term >> asked' TERM; echo $$ > pid; while :; do sleep 0.1; done",
            id: "deaf",
            kind: "refresh"
        )
        let process = try bench.process(from: "pid")
        let exited = try PidFD(of: process)
        try bench.kill()
        try Wait.until(readable: exited.descriptor.number, "the keeper ends it")
        #expect(bench.read("asked") == "term\n")
        try bench.daemon.start()
        #expect(try bench.nextRun("command.deaf")["outcome"] == "unknown")
    }
}
