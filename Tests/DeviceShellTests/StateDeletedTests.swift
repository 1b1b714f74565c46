import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// The state directory is deleted, or moved, under a daemon that runs.
struct StateDeletedTests {
    /// A daemon whose state directory can go; what needs power waits.
    private struct Setup {
        let bench: DaemonBench
        let state: String
        var away: String { state + ".away" }

        init() throws {
            bench = try DaemonBench()
            state = bench.daemon.scratch("state")
            try bench.set("power", "off")
        }

        /// As `rm -rf`, beside a daemon that may just make it again.
        func delete() throws {
            try Wait.until("deleted", { (try? Files.removeTree(state)) != nil })
        }

        /// Deletes it, with something in its place that keeps it from being made again.
        func deleteForNow() throws {
            try Files.rename(state, to: away)
            try bench.daemon.scratch.write("state", "not a directory")
            try Files.removeTree(away)
        }

        func condition() throws -> String? {
            let conditions = try bench.ask("Conditions").listValue ?? []
            return conditions.first { $0["condition"] == "storage" }?["value"]?.stringValue
        }

        func check() throws -> (isOK: Bool?, text: String) {
            let check = try bench.ask("Doctor").listValue?.first { $0["check"] == "store" }
            return (check?["ok"]?.boolValue, "\(check ?? .null)")
        }

        func refuse(saying words: String) throws {
            let refused = try bench.refusal(
                "Submit",
                ["kind": "refresh", "id": "late", "command": ["sh", "-c", "echo > late"]]
            )
            #expect(refused.name == "org.offstage.Error.Storage")
            #expect(refused.text.contains(words), "\(refused.text)")
            let check = try check()
            #expect(check.isOK == false && check.text.contains(words), "\(check.text)")
            #expect(try condition() == "gone")
        }

        func waitUntilStored() throws {
            try Wait.until(
                "stored again\n\(bench.report)",
                {
                    try condition() == "ok" && check().isOK == true
                }
            )
        }

        /// Only what is stored is left.
        func restart() throws {
            try bench.restart()
            #expect(try bench.answers())
        }

        func runWaiting(_ names: String...) throws {
            try bench.set("power", "on")
            for name in names {
                try bench.wait(for: name)
                _ = try bench.nextRun("command.\(name)")
            }
            try restart()
            for name in names {
                #expect(bench.read(name) == "run\n")
                #expect(try bench.runs("command.\(name)").count == 1)
            }
            #expect(bench.read("late") == "")
        }

        /// A command `long` that runs, until something is written into `gate`.
        func startLong() throws -> ProcessIdentity {
            try bench.script("wait", "echo $$ >> began\nread line < gate\necho end >> ended")
            let made = try Command("mkfifo", bench.home("gate")).run()
            try #require(made.succeeded)
            try bench.submit("exec sh wait", id: "long")
            return try bench.process(from: "began")
        }

        func endLong() throws {
            let gate = try FileDescriptor(opening: bench.home("gate"), .writing)
            try gate.writeAll("go\n")
        }

        func submitWaiting(_ name: String) throws {
            try bench.submit("echo run >> \(name)", id: name, ["power": true])
        }
    }

    @Test func `a submit is refused while the directory is gone, and nothing stored is lost`()
        throws
    {
        let setup = try Setup()
        let bench = setup.bench
        try bench.submit("echo run >> early", id: "early", kind: "refresh")
        _ = try bench.nextRun("command.early")
        try setup.submitWaiting("before")
        try setup.deleteForNow()
        try setup.refuse(saying: "has been deleted")
        let holds = try bench.explain("command.before")["holds"]?.listValue ?? []
        #expect(holds.contains { $0["gate"] == "storage" && $0["value"] == "gone" }, "\(holds)")
        try Files.remove(setup.state)
        try setup.waitUntilStored()
        #expect(Files.status(setup.state)?.permissions == 0o700)
        try setup.submitWaiting("after")
        try setup.restart()
        // Also what was there before the loss.
        #expect(try bench.runs("command.early").count == 1)
        try setup.runWaiting("before", "after")
    }

    @Test func `what is acknowledged after a deletion is stored, whenever that was noticed`() throws
    {
        let setup = try Setup()
        var stored: [String] = []
        for round in 0..<8 {
            try setup.submitWaiting("s\(round)")
            stored.append("s\(round)")
            try setup.delete()
            let name = "t\(round)"
            try Wait.until("stored", { (try? setup.submitWaiting(name)) != nil })
            stored.append(name)
            try setup.restart()
            let tasks = try setup.bench.ask("Tasks", "").listValue?
                .compactMap { $0["task"]?.stringValue }
            #expect(Set(tasks ?? []) == Set(stored))
        }
    }

    @Test func `a command that runs meanwhile is kept, and ends with one line`() throws {
        let setup = try Setup()
        let bench = setup.bench
        let process = try setup.startLong()
        try setup.delete()
        try setup.waitUntilStored()
        // Whoever keeps it while no daemon lives waits for the end of this one.
        let lock = try DaemonLock(setup.state + "/lock")
        try Wait.until("a keeper", { try lock.keeperLives() })
        // Its receipt is there again: the next daemon must know it.
        try setup.restart()
        #expect(process.isAlive)
        // Else nobody reads what is written below.
        try #require(try bench.running("command.long") != nil)
        try setup.submitWaiting("after")
        try setup.endLong()
        _ = try bench.nextRun("command.long")
        try setup.runWaiting("after")
        #expect(bench.lines("began").count == 1)
        #expect(bench.read("ended") == "end\n")
        #expect(try bench.runs("command.long").count == 1)
    }

    @Test func `a command that ends while the directory is gone has one line`() throws {
        let setup = try Setup()
        let bench = setup.bench
        let process = try setup.startLong()
        try setup.deleteForNow()
        try setup.refuse(saying: "has been deleted")
        try setup.endLong()
        try bench.wait(for: "ended")
        try Wait.until("reaped", { !process.isAlive })
        try Files.remove(setup.state)
        try setup.waitUntilStored()
        let lines = try bench.runs("command.long")
        #expect(lines.map { $0["outcome"] } == ["completed"], "\(lines)")
        try setup.restart()
        #expect(try bench.runs("command.long").count == 1)
        #expect(bench.lines("began").count == 1)
    }

    @Test(arguments: [false, true])
    func `a directory that was moved away is waited for`(kills: Bool) throws {
        let setup = try Setup()
        try setup.submitWaiting("before")
        try Files.rename(setup.state, to: setup.away)
        try setup.refuse(saying: "has been moved away")
        try setup.refuse(saying: "has been moved away")
        #expect(!Files.exists(setup.state))
        if kills { try setup.bench.kill() }
        try Files.rename(setup.away, to: setup.state)
        if kills { try setup.bench.daemon.start() }
        try setup.waitUntilStored()
        try setup.submitWaiting("after")
        try setup.restart()
        try setup.runWaiting("before", "after")
    }

    @Test(arguments: ["offstage.db", "offstage.db-wal", "lock", "launches", "logs"])
    func `a part of it that was deleted is made again`(part: String) throws {
        let setup = try Setup()
        try setup.submitWaiting("before")
        let path = setup.state + "/" + part
        let database = try #require(Files.status(setup.state + "/offstage.db"))
        try Files.removeTree(path)
        try Wait.until("made again", { Files.exists(path) })
        try setup.waitUntilStored()
        // What is whole is never made anew: it could be lost on the way.
        let isWhole = !part.hasPrefix("offstage.db")
        #expect(Files.status(setup.state + "/offstage.db")?.isSameFile(as: database) == isWhole)
        try setup.submitWaiting("after")
        let other = try setup.bench.daemon.startBeside()
        #expect(other.errors.contains(" runs for "), "\(other.errors)")
        try setup.restart()
        try setup.runWaiting("before", "after")
    }

    @Test func `a file that somebody else put there is left alone`() throws {
        let setup = try Setup()
        try setup.submitWaiting("before")
        let path = setup.state + "/offstage.db"
        try setup.bench.daemon.scratch.write("other", "a backup")
        try Files.rename(setup.bench.daemon.scratch("other"), to: path)
        try setup.refuse(saying: "has been replaced")
        try setup.refuse(saying: "has been replaced")
        #expect(try Files.text(path) == "a backup")
        try Files.remove(path)
        try setup.waitUntilStored()
        try setup.restart()
        try setup.runWaiting("before")
    }

    @Test func `a second daemon begins nothing while the first has not noticed yet`() throws {
        let setup = try Setup()
        try setup.submitWaiting("before")
        try setup.bench.daemon.send(Signal.stop)
        // It may be in the middle of making a file.
        let pid = try #require(setup.bench.daemon.identity?.pid)
        try Wait.until("stopped", { ProcessStatus(of: pid)?.isStopped == true })
        try Files.removeTree(setup.state)
        let other = try setup.bench.daemon.startBeside()
        #expect(other.errors.contains("another daemon listens"), "\(other.errors)")
        #expect(!Files.exists(setup.state + "/offstage.db"))
        try setup.bench.daemon.send(Signal.proceed)
        try setup.waitUntilStored()
        try setup.restart()
        try setup.runWaiting("before")
    }

    @Test func `where another daemon has begun anew, the first one ends and says so`() throws {
        let setup = try Setup()
        try Files.rename(setup.state, to: setup.away)
        let other = try DaemonBench(options: ["--state", setup.state])
        try other.set("power", "off")
        try other.submit("echo run >> theirs", id: "theirs", ["power": true])
        #expect(setup.bench.daemon.ends(within: Wait.limitMilliseconds))
        #expect(setup.bench.daemon.log.contains("another daemon"), "\(setup.bench.daemon.log)")
        try other.restart()
        let tasks = try other.ask("Tasks", "").listValue ?? []
        #expect(tasks.compactMap { $0["task"]?.stringValue } == ["theirs"])
        try other.set("power", "on")
        try other.wait(for: "theirs")
    }
}
