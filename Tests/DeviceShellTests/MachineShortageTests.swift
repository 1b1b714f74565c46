import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A machine that cannot start a program: the work waits, and nobody is blamed. As an ordinary
/// user, since nothing of the kind holds back root.
@Suite(
    .enabled(
        if: Unprivileged.isPossible,
        "needs root, a user nobody, and a build that it may read"
    )
)
struct MachineShortageTests {
    private static let commands = 5

    /// What `offstage` prints, as the daemon's user.
    private func offstage(_ bench: DaemonBench, _ arguments: String...) throws -> String {
        var command = Command([Products.path(of: "offstage")] + arguments)
        command.environment = Command.cleanEnvironment([
            "OFFSTAGE_SOCKET": bench.daemon.socket, "HOME": bench.home(""),
        ])
        command.directory = bench.home("")
        command.user = bench.daemon.user
        let outcome = try command.run()
        #expect(outcome.succeeded, "\(arguments): \(outcome.errors)")
        return outcome.output
    }

    /// Submits some commands while the machine is short of something, and looks on.
    private func submitAll(_ bench: DaemonBench, gate: String) throws {
        for number in 0..<Self.commands {
            _ = try offstage(
                bench,
                "submit",
                "--refresh",
                "--id",
                "c\(number)",
                "--",
                "sh",
                "-c",
                "echo \(number) >> ran"
            )
        }
        for number in 0..<Self.commands {
            var explained = ""
            // Not while it is just being tried again.
            try Wait.until("held: \(explained)") {
                explained = try offstage(bench, "explain", "--json", "command.c\(number)")
                return explained.contains("\"gate\": \"\(gate)\"")
            }
        }
        #expect(bench.read("ran") == "")
        #expect(try offstage(bench, "history", "--json").contains("\"what\": \"run\"") == false)
    }

    private func expectAllRun(_ bench: DaemonBench) throws {
        try Wait.until(
            file: bench.home("ran"),
            "written by all",
            { $0.split(separator: "\n").count >= Self.commands }
        )
        #expect(Set(bench.lines("ran")).count == Self.commands)
        #expect(bench.lines("ran").count == Self.commands)
    }

    @Test func `without a free process, commands wait until there is one`() throws {
        let bench = try DaemonBench(as: Command.ordinaryUser)
        let daemon = try #require(bench.daemon.identity).pid
        func limit(_ count: String) throws {
            // Of one's own processes everybody sets the limits.
            var command = Command("prlimit", "--pid", "\(daemon)", "--nproc=\(count)")
            command.user = bench.daemon.user
            let limited = try command.run()
            try #require(limited.succeeded, "\(limited.errors)")
        }
        // The user has the daemon and its keeper already.
        try limit("1:")
        try submitAll(bench, gate: "processes")
        try limit("1000:")
        try expectAllRun(bench)
    }

    @Test(arguments: ["ln -s nowhere", "mkdir", "mkfifo"])
    func `what lies in the place of one app's log keeps nobody from running`(
        making: String
    ) throws {
        let bench = try DaemonBench()
        let log = bench.daemon.scratch("state/logs/command.blocked.log")
        // The log of an app that nobody knows is swept away.
        try bench.submit("true", id: "blocked", kind: "refresh")
        _ = try bench.nextRun("command.blocked")
        #expect(try Command("sh", "-c", "rm \(log) && \(making) \(log)").run().succeeded)
        for name in ["blocked", "other"] {
            try bench.submit("echo ran; echo ran > \(name)", id: name, kind: "refresh")
            #expect(try bench.wait(for: name) == "ran\n")
        }
        _ = try? bench.ask("Logs", "command.blocked", [:])
        #expect(try bench.answers())
    }

    @Test func `who attaches where no marker can be written is refused, and lives`() throws {
        let bench = try DaemonBench(as: Command.ordinaryUser)
        try bench.manifest("reader", exec: "sleep 1000", "BackgroundModes=fetch;")
        try bench.ask("Reload")
        try Files.setPermissions(bench.daemon.scratch("state/launches"), 0o500)
        var command = Command(Products.path(of: "offstage"), "open", "--attach", "reader")
        command.user = bench.daemon.user
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
        let outcome = try command.run()
        #expect(outcome.status == .exited(1), "\(outcome)")
        #expect(outcome.errors.contains("launches"), "\(outcome)")
    }

    @Test(arguments: ["launches", "logs"])
    func `a directory that takes no new files holds commands back until it does`(
        name: String
    ) throws {
        let bench = try DaemonBench(as: Command.ordinaryUser)
        let directory = bench.daemon.scratch("state/" + name)
        try Files.setPermissions(directory, 0o500)
        try submitAll(bench, gate: "storage")
        try Files.setPermissions(directory, 0o700)
        try expectAllRun(bench)
    }
}
