import AppProtocol
import DeviceShell
import Linux
import TestKit
import Testing

enum Unprivileged {
    static let isPossible: Bool = {
        guard Command.runsAsRoot, let user = Command.ordinaryUser else { return false }
        var command = Command(Products.path(of: "offstaged"), "--version")
        command.user = user
        return (try? command.run())?.succeeded == true
    }()
}

/// The daemon of somebody without any rights: other steps, the same behaviour.
@Suite(
    .enabled(
        if: Unprivileged.isPossible,
        "needs root, a user nobody, and a build that it may read"
    )
)
struct UnprivilegedDaemonTests {
    private func call(_ bench: DaemonBench, _ words: String...) throws -> String {
        var command = Command(
            [
                "busctl", "--address=unix:path=\(bench.daemon.socket)", "call", Control1.busName,
                Control1.path, Control1.name,
            ] + words
        )
        command.user = bench.daemon.user
        let outcome = try command.run()
        #expect(outcome.succeeded, "\(words): \(outcome.errors)")
        return outcome.output
    }

    @Test func `a command runs, freezes by the step in force, is adopted and goes on`() throws {
        let bench = try DaemonBench(as: Command.ordinaryUser, starting: false)
        try bench.script(
            "backup.sh",
            "id -u > user; echo $$ >> pid; while :; do echo tick >> ticks; sleep 0.1; done"
        )
        try bench.manifest(
            "backup",
            "BackgroundModes=processing;\nProcessingCommand=sh backup.sh\n"
                + "ProcessingNeeds=power;\nWhenInterrupted=freeze"
        )
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        #expect(bench.read("user") == "\(bench.daemon.user?.user ?? 0)\n")
        #expect(try call(bench, "Doctor").contains(bench.step?.rawValue ?? "no step"))
        _ = try call(bench, "Set", "ssa{sv}", "power", "off", "0")
        try bench.waitUntilFrozen(process)
        let ticks = bench.lines("ticks").count
        try bench.kill()
        try bench.daemon.start()
        #expect(try bench.isFrozen(process))
        #expect(try call(bench, "Status").contains("\"pid\" x \(process.pid)"))
        #expect(bench.lines("ticks").count == ticks)
        _ = try call(bench, "Set", "ssa{sv}", "power", "on", "0")
        try bench.wait(for: "ticks") { $0.split(separator: "\n").count > ticks }
        _ = try call(bench, "Cancel", "sa{sv}", "backup", "0")
        try Wait.untilGone(process)
        #expect(bench.lines("pid").first == "\(process.pid)")
    }

    @Test func `its socket and its files are its own`() throws {
        let bench = try DaemonBench(as: Command.ordinaryUser)
        let user = try #require(bench.daemon.user)
        for path in [bench.daemon.socket, bench.daemon.scratch("state/offstage.db")] {
            let status = try #require(Files.status(path))
            #expect(status.user == user.user)
            #expect(status.permissions & 0o077 == 0, "\(path)")
        }
    }
}
