import Linux
import TestKit
import Testing
import Vocabulary

/// A daemon whose state is on a file system of its own, with little room; what needs power waits.
private final class DaemonOnSmallDisk {
    let bench: DaemonBench
    let disk: SmallDisk

    init(_ settings: String = "", megabytes: Int = 2) throws {
        bench = try DaemonBench(settings, starting: false)
        disk = try #require(SmallDisk(at: bench.daemon.scratch("state"), megabytes: megabytes))
        try bench.daemon.start()
        try bench.set("power", "off")
    }

    deinit {
        try? bench.kill()
        disk.unmount()
    }
}

/// A state directory that is full, on a file system of its own.
@Suite(.enabled(if: SmallDisk.isPossible, "only root can mount a small file system"))
struct DiskFullTests {
    private func condition(_ bench: DaemonBench, _ name: String) throws -> String? {
        let conditions = try bench.ask("Conditions").listValue ?? []
        return conditions.first { $0["condition"] == .string(name) }?["value"]?.stringValue
    }

    /// Until not even a condition can be stored: what is written anew may leave a page.
    private func fillToTheLastPage(_ daemon: DaemonOnSmallDisk) throws {
        var network = "on"
        try Wait.until("nothing fits") {
            network = network == "on" ? "off" : "on"
            return (try? daemon.bench.set("network", network)) == nil
        } step: {
            try daemon.disk.fill()
            _ = try? daemon.bench.submit(":", id: "small", ["power": true])
        }
    }

    @Test func `a full disk is answered as such, explained, survived, and over once there is room`()
        throws
    {
        let daemon = try DaemonOnSmallDisk()
        let (bench, disk) = (daemon.bench, daemon.disk)
        defer { withExtendedLifetime(daemon) {} }
        try bench.submit("echo run >> before", id: "before", ["power": true])
        try disk.fill()
        var refused: (name: String, text: String)?
        // What the file of the store still has room for may go in first.
        for number in 0..<200 where refused == nil {
            do {
                try bench.submit(
                    "echo run >> fitted",
                    id: "fitted\(number)",
                    [
                        "power": true,
                        "environment": [.string("X=" + String(repeating: "x", count: 4000))],
                    ]
                )
            } catch {
                refused = try bench.refusal(
                    "Submit",
                    ["kind": "refresh", "id": "late", "command": ["sh", "-c", "echo > late"]]
                )
            }
        }
        try fillToTheLastPage(daemon)
        #expect(refused?.name == "org.offstage.Error.Storage")
        #expect(refused?.text.contains("free some space") == true, "\(refused?.text ?? "")")
        #expect(try bench.answers())
        let played = try bench.refusal("Set", "power", "on", [:])
        #expect(played.name == "org.offstage.Error.Storage", "\(played)")
        let holds = try bench.explain("command.before")["holds"]?.listValue ?? []
        #expect(holds.contains { $0["gate"] == "storage" })
        let check = try bench.ask("Doctor").listValue?.first { $0["check"] == "store" }
        #expect(check?["ok"] == false)
        #expect(try bench.ask("Tasks", "").listValue?.contains { $0["task"] == "late" } == false)
        disk.free()
        // What was refused has not happened, now or later, and whoever asks does not put off the
        // next try.
        try Wait.until("room again", { try condition(bench, "storage") == "ok" })
        #expect(try condition(bench, "power") == "off")
        try bench.submit("echo run >> after", id: "after")
        try bench.wait(for: "after")
        try bench.set("power", "on")
        try bench.wait(for: "before")
        try bench.restart()
        #expect(try bench.answers())
        #expect(bench.read("before") == "run\n")
        #expect(bench.read("late") == "")
    }

    @Test func `what was read while the disk is full is not said to be in force`() throws {
        let daemon = try DaemonOnSmallDisk()
        let (bench, disk) = (daemon.bench, daemon.disk)
        defer { withExtendedLifetime(daemon) {} }
        try disk.fill()
        // What the file of the store still has room for may go in first.
        try Wait.until("the store is full", { try condition(bench, "storage") != "ok" }) {
            _ = try? bench.submit(
                ":",
                id: "big",
                [
                    "power": true,
                    "environment": [.string("X=" + String(repeating: "x", count: 4000))],
                ]
            )
        }
        try bench.manifest("feeds", "BackgroundModes=fetch;\nRefreshCommand=true")
        let before = try bench.setting("run-slots")
        let refusals = [
            try bench.refusal("Reload"), try bench.refusal("Set", "run-slots", "3", [:]),
            try bench.refusal("Set", "run-slots", .string(before), [:]),
        ]
        for refusal in refusals {
            #expect(refusal.name == "org.offstage.Error.Storage")
            #expect(refusal.text.contains("free some space"), "\(refusal.text)")
        }
        disk.free()
        try Wait.until("room again", { try condition(bench, "storage") == "ok" })
        try bench.ask("Conditions")
        #expect(try bench.setting("run-slots") == before)
        try bench.ask("Reload")
        #expect(try bench.explain("feeds")["problem"] == nil)
    }

    /// Once the store's log has its size, commits succeed while no new file fits.
    @Test func `what is acknowledged on a full disk runs once there is room, each once`() throws {
        let daemon = try DaemonOnSmallDisk("run-slots = 8\nhistory-lines = 100000\n", megabytes: 16)
        let (bench, disk) = (daemon.bench, daemon.disk)
        defer { withExtendedLifetime(daemon) {} }
        for number in 0..<600 { try bench.submit(":", id: "a\(number)", kind: "refresh") }
        try bench.wait(until: "600 runs") {
            try bench.ask("Tasks", "").listValue?.isEmpty == true
        }
        var acknowledged: [String] = []
        func submit(upTo count: Int) {
            for number in 0..<count {
                do {
                    try bench.submit("echo \(number) >> ran", id: "b\(number)", kind: "refresh")
                    acknowledged.append("\(number)")
                } catch {
                    break
                }
            }
        }
        // How many still fit depends on how far in its log the store is.
        for _ in 0..<10 where acknowledged.isEmpty {
            try disk.fill()
            submit(upTo: 200)
            guard acknowledged.isEmpty else { break }
            disk.free()
            try Wait.until("room again", { try condition(bench, "storage") == "ok" })
            for number in 0..<20 { try bench.submit(":", id: "a\(number)", kind: "refresh") }
        }
        try #require(!acknowledged.isEmpty, "the store takes nothing any more")
        // It has been taken; that it cannot be started shows a little later.
        try bench.wait(until: "held for want of room") {
            let holds = try bench.explain("command.b0")["holds"]?.listValue ?? []
            return holds.contains { $0["gate"] == "storage" }
        }
        let check = try bench.ask("Doctor").listValue?.first { $0["check"] == "starting programs" }
        #expect(check?["ok"] == false, "\(String(describing: check))")
        #expect(bench.read("ran") == "")
        disk.free()
        try bench.wait(until: "all have run") {
            try bench.ask("Tasks", "").listValue?
                .isEmpty == true
        }
        #expect(Set(bench.lines("ran")) == Set(acknowledged))
        #expect(bench.lines("ran").count == acknowledged.count)
        for number in acknowledged {
            #expect(try bench.runs("command.b\(number)").map { $0["outcome"] } == ["new-data"])
        }
    }

    @Test func `a daemon starts on a full disk after a reboot, and goes on once there is room`()
        throws
    {
        let daemon = try DaemonOnSmallDisk()
        let (bench, disk) = (daemon.bench, daemon.disk)
        let state = bench.daemon.scratch("state")
        defer { withExtendedLifetime(daemon) {} }
        try bench.submit("echo run >> waiting", id: "waiting", ["power": true])
        try bench.kill()
        // As the boot before left it.
        try Files.set(state + "/launches/boot", to: "another boot\n")
        try disk.fill()
        try bench.daemon.start()
        #expect(try bench.answers())
        disk.free()
        try Wait.until("room again", { try condition(bench, "storage") == "ok" })
        try bench.set("power", "on")
        try bench.wait(for: "waiting")
        #expect(try Files.text(state + "/launches/boot") == Clocks.bootID())
    }
}
