@testable import DeviceShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// The programs on a state directory that another version has left.
struct UpgradeDaemonTests {
    /// Nothing that is due runs while the test looks.
    private func daemon(on fixture: StateFixture) throws -> ScratchDaemon {
        let daemon = try ScratchDaemon(settings: "pause-after-start = 1d\ndropped-after = 365d\n")
        try fixture.copy(to: daemon.scratch("state"))
        let applications = StateFixture.root + "/applications"
        for file in try Files.list(applications) {
            let text = try Files.text(applications + "/" + file)
            try daemon.write(manifest: String(file.dropLast(".desktop".count)), text)
        }
        return daemon
    }

    private func offstage(_ daemon: ScratchDaemon, _ words: String...) throws -> Value {
        var command = Command([Products.path(of: "offstage")] + words + ["--json"])
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        let outcome = try command.run()
        try #require(outcome.succeeded, "\(words): \(outcome.errors)")
        return try ValueJSON.parse(outcome.output)
    }

    /// Of the first version and of the last. With those in between `UpgradeTests` goes on.
    private static let ends = [StateFixture.lives.first, StateFixture.lives.last].compactMap(\.self)

    @Test(arguments: ends)
    func `the daemon starts on it, and tells what was known`(_ fixture: StateFixture) throws {
        let daemon = try daemon(on: fixture)
        try daemon.start()
        let known = try fixture.known()

        let status = try offstage(daemon, "status")
        let failing = try #require(status["failing"]?.listValue?.first { $0["app"] == "weather" })
        #expect(failing["failures"]?["count"] == known["apps"]?["weather"]?["failures"]?["count"])
        #expect(failing["failures"]?["reason"] == "exit status 1")
        let metered = status["conditions"]?.listValue?.first { $0["condition"] == "metered" }
        #expect(metered?["source"] == "set by hand" && metered?["value"] == "on")
        #expect(status["running"] == [], "another boot")
        let waiting = try #require(status["waiting"]?.listValue?.map { [$0["app"], $0["task"]] })
        #expect(
            waiting.contains(["backup", "processing"]) && waiting.contains(["radio", "fetch"])
        )

        let lines = try #require(try offstage(daemon, "history", "-n", "100").listValue)
        for (name, what) in [("radio", "ended"), ("mail", "run"), ("command.sync", "run")] {
            let line = lines.first { $0["app"] == .string(name) && $0["what"] == .string(what) }
            #expect(line?["reason"] == "the device was restarted", "\(name)")
            #expect(line?["outcome"] == "unknown")
        }
        // Of what was known before, the newest lines, by number and app.
        let old = try #require(known["history"]?.listValue)
        let newest = Dictionary(
            uniqueKeysWithValues: lines.map { ($0["id"]?.integerValue, $0["app"]) }
        )
        for line in old.suffix(50) {
            #expect(newest[line["id"]?.integerValue] == line["app"], "\(line)")
        }

        let backup = try offstage(daemon, "explain", "backup")[0]
        #expect(backup?["lastRun"]?["outcome"] == "interrupted")
        #expect(backup?["lastRun"]?["at"] == "2026-04-08T13:02:00+00:00")
        let apps = try #require(try offstage(daemon, "apps").listValue)
        #expect(apps.first { $0["app"] == "photos" }?["closed"] != nil)
        #expect(try daemon.stop() == .exited(0))
        try daemon.start()
    }

    // MARK: An older program

    /// All that is below a directory, with rights and content.
    private func tree(_ directory: String) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try Files.list(directory) {
            let path = directory + "/" + name
            let status = try #require(Files.status(path, followLinks: false))
            let rights = Array("\(status.permissions) ".utf8)
            if status.kind == .directory {
                found[path] = rights
                found.merge(try tree(path)) { $1 }
            } else if status.kind == .file {
                found[path] = rights + (try Files.read(path, limit: 1 << 24))
            }
        }
        return found
    }

    /// As a newer program leaves it: in order, or with a log that was not written back.
    @Test(arguments: [false, true])
    func `a directory of a newer version is refused by name, and not a byte of it changed`(
        _ wasKilled: Bool
    ) throws {
        let daemon = try daemon(on: .lived)
        let scratch = daemon.scratch
        let newer = StoreMigrations.newest + 1
        do {
            let database = try Database(path: scratch("state/offstage.db"), mode: .readWrite)
            try database.setJournalMode(.delete)
            try database.execute(
                "ALTER TABLE records ADD COLUMN more; PRAGMA user_version = \(newer)"
            )
            try database.setJournalMode(.wal)
            try database.lockExclusively()
            try database.keepLogOnClose(wasKilled)
            try database.execute("DELETE FROM records WHERE section = 'app' AND key = 'atlas'")
        }
        // Others may look into it: that is not for a program to change which leaves it alone.
        try Files.setPermissions(scratch("state"), 0o755)
        #expect(Files.exists(scratch("state/offstage.db-wal")) == wasKilled)
        let before = try tree(scratch.path)
        #expect(throws: DidNotHappen.self) { try daemon.start() }
        let refusal = daemon.log
        #expect(
            refusal
                == "offstaged: \(scratch("state/offstage.db")) was written by a newer Offstage "
                + "(version \(newer) of the database; this program knows \(newer - 1)). It was "
                + "not changed. Install that version again, or choose another directory with "
                + "--state.\n"
        )
        // What the test itself has made to start it.
        let own = ["daemon.log", "notify", "supplies", "loadavg"].map { scratch($0) }
        let after = try tree(scratch.path).filter { !own.contains($0.key) }
        #expect(Set(after.keys) == Set(before.keys))
        for (path, content) in before { #expect(after[path] == content, "\(path)") }
        #expect(Files.status(scratch("state"))?.permissions == 0o755)
    }
}
