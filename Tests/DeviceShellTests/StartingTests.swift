import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Starting, and being refused: one daemon per state directory, places that cannot be used, a
/// store that is not ours; each with words that say what to do, and nothing touched.
struct StartingTests {
    /// Runs a second `offstaged` on the places of a bench, to its end.
    private func run(
        _ bench: DaemonBench,
        _ more: [String] = [],
        state: String? = nil,
        runtime: String? = nil,
        data: String? = nil,
        as user: User? = nil
    ) throws -> Command.Outcome {
        let scratch = bench.daemon.scratch
        try Files.makeDirectory(scratch("data"), permissions: 0o755, parents: true)
        var command = Command(
            [Products.path(of: "offstaged")] + [
                "--state", state ?? scratch("state"), "--runtime", runtime ?? scratch("run"),
                "--config", scratch("offstage.conf"), "--data", data ?? scratch("data"),
            ] + more
        )
        command.user = user
        return try command.run()
    }

    @Test func `a second daemon for the same state is refused with the number of the first`() throws
    {
        let bench = try DaemonBench()
        let pid = try #require(bench.daemon.identity?.pid)
        let outcome = try run(bench, runtime: bench.daemon.scratch("other"))
        #expect(outcome.status == .exited(1))
        #expect(
            outcome.errors
                == "offstaged: another daemon (process \(pid)) runs for "
                + "\(bench.daemon.scratch("state")). Only one may; choose another directory with "
                + "--state to run a second.\n"
        )
        #expect(try bench.answers())
    }

    /// `kill N; offstage daemon --background`: the first has not come to read the signal.
    @Test func `a daemon that starts waits for one that was told to end`() throws {
        let bench = try DaemonBench()
        let first = try #require(bench.daemon.identity)
        try bench.daemon.send(Signal.stop)
        try bench.daemon.send(Signal.terminate)
        let scratch = bench.daemon.scratch
        let command = Command([
            Products.path(of: "offstaged"), "--state", scratch("state"), "--runtime",
            scratch("run"), "--config", scratch("offstage.conf"), "--data", scratch("data"),
        ])
        let log = scratch("second.log")
        let second = try command.start(logging: log)
        defer {
            try? second.send(Signal.terminate)
            _ = Poll.ready(second.descriptor.number, for: .readable, milliseconds: nil)
        }
        let wait = "offstaged: waits for the daemon before it (process \(first.pid)) to end\n"
        try Wait.until(file: log, "waits") { $0.contains(wait) || $0.contains("another daemon") }
        try bench.daemon.send(Signal.proceed)
        let said = try Wait.until(file: log, "ready") {
            $0.contains("ready at ") || $0.contains("another daemon")
        }
        #expect(said.hasPrefix(wait) && said.contains("ready at \(scratch("run/socket"))"))
        #expect(bench.daemon.ends(within: Wait.limitMilliseconds))
    }

    @Test func `a second daemon at the same socket is refused, and the first one still answers`()
        throws
    {
        let bench = try DaemonBench()
        let outcome = try run(bench, state: bench.daemon.scratch("other"))
        #expect(outcome.status == .exited(1))
        #expect(
            outcome.errors
                == "offstaged: another daemon listens at \(bench.daemon.socket). Choose another "
                + "directory with --runtime to run a second.\n"
        )
        #expect(try bench.answers())
    }

    @Test func `a state directory of its own makes a second daemon possible`() throws {
        let one = try DaemonBench()
        let other = try DaemonBench()
        try one.submit("echo one > mine", id: "same")
        try other.submit("echo other > mine", id: "same")
        try one.wait(for: "mine")
        try other.wait(for: "mine")
        #expect(one.read("mine") == "one\n")
        #expect(other.read("mine") == "other\n")
    }

    @Test func `SIGTERM ends the daemon in order, and its work goes on with the next`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo run >> runs", id: "later", ["after": 3600])
        #expect(try bench.answers())
        let end = try bench.stop()
        #expect(end == .exited(0))
        try bench.daemon.start()
        #expect(try bench.ask("Tasks", "command.later")[0]?["task"] == "later")
    }

    @Test(arguments: [
        (["--data", "/no/where"], "--data: \"/no/where\": there is no such directory"),
        (["--data", "/etc/hostname"], "is not a directory"),
        (["--power", "/no/where"], "--power: \"/no/where\": there is no such directory"),
        (["--pressure", "/no/where"], "there is no such file; use off to do without"),
        (["--pressure", "/"], "is a directory"),
        (["--pressure", "none"], "is not an absolute path"),
    ])
    func `what an option points at must be there`(_ options: [String], _ reason: String) throws {
        let outcome = try run(try DaemonBench(starting: false), options)
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can become somebody else"))
    func `a state directory without rights is refused by its name`() throws {
        let bench = try DaemonBench(starting: false)
        let user = try #require(Command.ordinaryUser)
        let place = ScratchDirectory(owner: user)
        try Files.makeDirectory(place("closed"), permissions: 0o700)
        let outcome = try run(
            bench,
            state: place("closed/state"),
            runtime: place("run"),
            data: place.path,
            as: user
        )
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains(place("closed")), "\(outcome.errors)")
        #expect(outcome.errors.contains("--state"))
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can give a directory away"))
    func `a state directory of somebody else is not used`() throws {
        let bench = try DaemonBench(starting: false)
        let user = try #require(Command.ordinaryUser)
        let state = bench.daemon.scratch("state")
        try Files.setOwner(state, user: user.user, group: user.group)
        let outcome = try run(bench)
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains(state), "\(outcome.errors)")
        #expect(try Files.list(state) == [])
    }

    @Test func `a directory of ours that others may read is closed`() throws {
        let bench = try DaemonBench(starting: false)
        let places = ["state", "run"].map { bench.daemon.scratch($0) }
        for place in places { try Files.setPermissions(place, 0o755) }
        try bench.daemon.start()
        for place in places { #expect(Files.status(place)?.permissions == 0o700) }
    }

    @Test func `what no other directory would mend does not advise to choose one`() {
        let error = LinuxError("epoll_create1", "", .tooManyFiles)
        #expect(DaemonError.directory(error).description.contains("--state"))
        #expect(!DaemonError.system(error).description.contains("--state"))
        let step = DaemonError.step("cgroup v2: not mounted").description
        #expect(step.contains("--step") && step.contains("not mounted"))
    }

    @Test func `a path that is too long for a socket is refused with its length in words`() throws {
        let bench = try DaemonBench(starting: false)
        let long = bench.daemon.scratch(String(repeating: "r", count: 110))
        let outcome = try run(bench, runtime: long)
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains("\(long)/socket"), "\(outcome.errors)")
        #expect(outcome.errors.contains("107") || outcome.errors.contains("too long"))
    }

    @Test(arguments: [
        (["--sate=/x"], "--sate"), (["--state"], "--state"), (["x"], "x"),
        (["--step", "cgroup-v3"], "cgroup-v3"), (["--state", "rel"], "--state: \"rel\""),
        (["--state="], "--state: \"\""),
        (["--cgroup", "/proc/none"], "--cgroup /proc/none: there is no such directory"),
    ])
    func `a mistake in the call is told with exit status 2`(words: [String], named: String) throws {
        let bench = try DaemonBench(starting: false)
        let outcome = try run(bench, words)
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.contains(named), "\(outcome.errors)")
    }

    @Test func `a cgroup is known by the kernel's spelling of its path`() throws {
        let scratch = ScratchDirectory()
        try Files.makeDirectory(scratch("apps"))
        for spelling in ["apps/", "../\(scratch.path.split(separator: "/").last ?? "")/apps//."] {
            let reading = try DaemonOptions.read([
                "--cgroup", scratch.path + "/" + spelling, "--runtime", scratch("run"),
            ])
            guard case .run(let options) = reading else {
                Issue.record("\(reading)")
                return
            }
            #expect(options.scope == Files.resolved(scratch("apps")))
        }
        // Counted in bytes: one character here is more than one in the path.
        let base = "/sys/fs/cgroup/caf\u{65}\u{301}"
        #expect(LaunchName.id(of: base + "/launch-7/1", below: base) == LaunchID(7))
        #expect(LaunchName.id(of: base + "x/launch-7", below: base) == nil)
    }

    // MARK: The store

    @Test func `a database that is not ours is refused and left as it is`() throws {
        for content in ["", "hello", String(repeating: "x", count: 8192)].dropFirst() {
            let bench = try DaemonBench(starting: false)
            try bench.daemon.scratch.write("state/offstage.db", content)
            let outcome = try run(bench)
            #expect(outcome.status == .exited(1))
            #expect(outcome.errors.contains("is not an Offstage database"), "\(outcome.errors)")
            #expect(outcome.errors.contains("It was not changed."))
            #expect(try bench.daemon.scratch.read("state/offstage.db") == content)
        }
    }

    /// A database with something in it, of a daemon that was ended in order.
    private func used() throws -> DaemonBench {
        let bench = try DaemonBench()
        for number in 0..<20 {
            try bench.submit("exit 0", id: "n\(number)", ["after": 3600])
        }
        _ = try bench.stop()
        return bench
    }

    @Test func `a database of a newer version is refused and left as it is`() throws {
        let bench = try used()
        let path = bench.daemon.scratch("state/offstage.db")
        var bytes = try Files.read(path)
        bytes[63] = 99
        bench.daemon.scratch.write(bytes, to: "state/offstage.db")
        let outcome = try run(bench)
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains("newer Offstage (version 99"), "\(outcome.errors)")
        #expect(try Files.read(path) == bytes)
    }

    @Test func `a damaged database is refused and left as it is`() throws {
        let bench = try used()
        let path = bench.daemon.scratch("state/offstage.db")
        var bytes = try Files.read(path)
        for index in 4096..<min(bytes.count, 12_288) { bytes[index] = 0xA5 }
        bench.daemon.scratch.write(bytes, to: "state/offstage.db")
        let outcome = try run(bench)
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains("is damaged"), "\(outcome.errors)")
        #expect(try Files.read(path) == bytes)
    }

    // MARK: The socket

    @Test func `the socket is the user's alone, and one left behind is taken over`() throws {
        let bench = try DaemonBench()
        #expect(Files.status(bench.daemon.socket)?.permissions == 0o600)
        #expect(Files.status(bench.daemon.scratch("run"))?.permissions == 0o700)
        #expect(Files.status(bench.daemon.scratch("state"))?.permissions == 0o700)
        try bench.kill()
        #expect(Files.exists(bench.daemon.socket), "left behind by the kill")
        try bench.daemon.start()
        #expect(try bench.answers())
    }

    @Test func `a socket that is handed over by the service manager is served`() throws {
        let bench = try DaemonBench(starting: false)
        let scratch = bench.daemon.scratch
        let socket = scratch("run/activated")
        try Files.makeDirectory(scratch("data"), permissions: 0o755, parents: true)
        var command = Command(
            "systemd-socket-activate",
            "--listen",
            socket,
            Products.path(of: "offstaged"),
            "--state",
            scratch("state"),
            "--runtime",
            scratch("run"),
            "--config",
            scratch("offstage.conf"),
            "--data",
            scratch("data")
        )
        command.environment = Command.cleanEnvironment(["HOME": scratch("home")])
        let process = try command.start(logging: bench.daemon.logPath)
        defer {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }
        try Wait.until(file: bench.daemon.logPath, "listening") { $0.contains("Listening") }
        #expect(!Files.exists(scratch("state/offstage.db")), "nobody has asked yet")
        let answer = try bench.ask(at: socket, "Version")
        #expect(answer["pid"]?.integerValue == Int64(process.pid))
        #expect(!Files.exists(bench.daemon.socket), "the handed one, not its own")
    }
}
