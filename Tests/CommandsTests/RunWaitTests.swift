import Linux
import TestKit
import Testing
import Vocabulary

/// `offstage run --wait` against a real daemon.
struct RunWaitTests {
    let daemon: ScratchDaemon

    init() throws { daemon = try ScratchDaemon(settings: DaemonTests.calm) }

    private func command(_ arguments: [String], socket: String? = nil) -> Command {
        var command = Command([Products.path(of: "offstage")] + arguments)
        let socket = socket ?? daemon.socket
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": socket])
        return command
    }

    private func offstage(_ line: String) throws -> Command.Outcome {
        try command(line.split(separator: " ").map(String.init)).run()
    }

    /// A command that is held until it is run by hand.
    private func submit(_ id: String, _ script: String) throws {
        _ = try offstage("set idle off")
        let words = [
            "submit", "--processing", "--every", "1d", "--id", id, "--", "sh", "-c", script,
        ]
        #expect(try command(words).run().succeeded)
    }

    @Test func `it returns when the run has ended, with its result`() throws {
        try daemon.start()
        let gate = daemon.scratch("gate")
        #expect(try Command("mkfifo", gate).run().succeeded)
        try submit("good", "read line < \(gate); echo $line > \(daemon.scratch("line"))")
        let log = daemon.scratch("said")
        let waiting = try command(["run", "--wait", "good"]).start(logging: log)
        // Opened for writing when the run reads it.
        try FileDescriptor(opening: gate, .writing).writeAll("read\n")
        #expect(try waiting.wait(block: true) == .exited(0))
        #expect(try daemon.scratch.read("line") == "read\n")
        let said = try Files.text(log)
        #expect(said.hasPrefix("command.good: completed: exit status 0, after "), "\(said)")
    }

    @Test func `one that fails gives the status 1, also as JSON`() throws {
        try daemon.start()
        try submit("bad", "exit 3")
        let failed = try offstage("run --wait bad")
        #expect(failed.status == .exited(1))
        #expect(
            failed.errors.hasPrefix(
                "offstage: the run of command.bad has not succeeded: failed: exit status 3\n"
            ),
            "\(failed)"
        )
        let again = try offstage("run --wait --json bad")
        let line = try ValueJSON.parse(again.output)
        #expect(line["outcome"] == "failed" && line["task"] == "bad", "\(again)")
        try JSONTests.expect("run", again.output)
        #expect(try ValueJSON.parse(again.errors)["status"] == 1)
    }

    @Test func `who cannot be run is refused as without it`() throws {
        try daemon.start()
        let outcome = try offstage("run --wait nobody")
        #expect(outcome.status == .exited(3) && outcome.errors.contains("no app of that name"))
        // What to do is a field of its own for programs, and in brackets for people.
        try submit("good", "true")
        let told = try offstage("run command.goood")
        #expect(
            told.errors
                == "offstage: no app of that name: command.goood (did you mean command.good?)\n",
            "\(told)"
        )
        let error = try ValueJSON.parse(try offstage("run command.goood --json").errors)
        #expect(error["error"] == "no app of that name: command.goood", "\(error)")
        #expect(error["fix"] == "did you mean command.good?", "\(error)")
    }

    @Test func `it waits for a run that goes on while the daemon is started again`() throws {
        try daemon.start()
        let gate = daemon.scratch("gate")
        #expect(try Command("mkfifo", gate).run().succeeded)
        try submit("long", "echo > \(daemon.scratch("up")); read line < \(gate)")
        let log = daemon.scratch("said")
        let relay = try Relay(daemon.scratch("relay"))
        let waiting = try command(["run", "--wait", "long"], socket: relay.path)
            .start(logging: log)
        // Only who has heard that the run begins knows what to wait for.
        try relay.accept(for: daemon.socket).passAll()
        try Wait.until(file: daemon.scratch("up"), "the run")
        try daemon.restart()
        // From here on it speaks with the next daemon itself.
        #expect(try Command("ln", "-sfT", daemon.socket, relay.path).run().succeeded)
        try FileDescriptor(opening: gate, .writing).writeAll("read\n")
        // The next daemon is not its parent: it sees the end, and the exit status if the kernel
        // tells it.
        let isKnown = try waiting.wait(block: true) == .exited(0)
        #expect(isKnown || !ProcessEnds.areTold)
        let words = isKnown ? "command.long: completed" : "command.long: unknown: it exited "
        #expect(try Files.text(log).contains(words))
    }
}
