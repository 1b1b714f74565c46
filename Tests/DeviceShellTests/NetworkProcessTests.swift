import DeviceCore
@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// What `offstage doctor` says of the process that fetches, and where that process runs.
struct NetworkProcessTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.set("/file", .init(VersionedObject(version: 1, size: 1000)))
    }

    private func daemon(_ wrapper: [String] = []) throws -> ScratchDaemon {
        let daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        daemon.wrapper = wrapper
        try daemon.start()
        return daemon
    }

    private func rows(_ daemon: ScratchDaemon, _ name: String) throws -> [Value] {
        let outcome = try daemon.offstage("doctor", "--json")
        let all = try ValueJSON.parse(outcome.output)
        return (all["checks"]?.listValue ?? all.listValue ?? []).filter {
            $0["check"]?.stringValue == name
        }
    }

    private func download(_ daemon: ScratchDaemon) throws {
        let home = daemon.scratch("home")
        let outcome = try daemon.offstage("download", "-w", "-d", home, server.url("/file"))
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    @Test func `each part that a sandbox lacks is a row with what is lost and what helps`() {
        for part in SandboxPart.allCases {
            let check = Check.sandbox(lacking: part)
            #expect(!check.isGood && check.lost != nil && check.fix != nil, "\(part)")
        }
        #expect(Set(SandboxPart.allCases.map { Check.sandbox(lacking: $0).found }).count == 4)
    }

    @Test func `a program that is missing, or does not start, is told`() throws {
        let place = ScratchDirectory()
        func copy(_ name: String) throws {
            let outcome = try Command("cp", Products.path(of: name), place(name)).run()
            #expect(outcome.succeeded, "\(outcome.errors)")
        }
        try copy("offstaged")
        // Its own path leads it to the other programs.
        let daemon = try daemon([
            "sh", "-c", "shift; exec \(place("offstaged")) \"$@\"", "sh",
        ])
        var row = try #require(try rows(daemon, "network process").first)
        #expect(row["ok"]?.boolValue == false)
        #expect(row["found"]?.stringValue?.contains("is not there") == true)
        try Files.replace(place("offstage-net"), with: "#!/bin/sh\nexit 3\n")
        try Files.setPermissions(place("offstage-net"), 0o755)
        let home = daemon.scratch("home")
        let order = try daemon.offstage("download", "-d", home, server.url("/file"))
        #expect(order.succeeded, "\(order.errors)")
        try Wait.until("a start that failed is told") {
            row = try #require(try rows(daemon, "network process").first)
            return row["found"]?.stringValue?.contains("does not start") == true
        }
        #expect(row["ok"]?.boolValue == false)
        try Files.remove(place("offstage-net"))
        try copy("offstage-net")
        try Wait.until("the file", { Files.exists("\(home)/file") })
        row = try #require(try rows(daemon, "network process").first)
        #expect(row["ok"]?.boolValue == true && row["lost"]?.stringValue ?? "" == "")
    }

    /// Before anything was fetched as far as the kernel can be asked, and then by the process.
    @Test(arguments: [("files", "no Landlock"), ("calls", "no seccomp")])
    func `what the kernel lacks for the sandbox is told`(
        _ part: String,
        _ words: String
    ) throws {
        let peer = Products.path(of: "SandboxPeer")
        let daemon = try daemon([peer, "--without", part, "run"])
        func isTold() throws -> Bool {
            try rows(daemon, "network sandbox").contains {
                $0["found"]?.stringValue?.contains(words) == true
            }
        }
        #expect(try isTold())
        try download(daemon)
        #expect(try isTold())
        #expect(try rows(daemon, "network process").first?["ok"]?.boolValue == true)
    }

    @Test(.enabled(if: Landlock.version > 0 && CallFilter.isAvailable, "needs both in the kernel"))
    func `a sandbox that lacks nothing has no row`() throws {
        let daemon = try daemon()
        #expect(try rows(daemon, "network sandbox").isEmpty)
        try download(daemon)
        #expect(try rows(daemon, "network sandbox").isEmpty)
    }

    // MARK: Its group

    @Test(arguments: ProcessBench.steps.filter { $0 != .signals })
    func `it begins in a group of its own, which goes with the scope`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        var program = bench.program("exec sleep 1000")
        bench.control.hostNetwork(&program)
        let process = try program.start()
        let groups = [bench.control.step.path] + bench.control.step.directories
        for group in groups {
            #expect(try CgroupV2(group + "/network").processes() == [process.pid], "\(group)")
        }
        #expect(try bench.control.launch(of: process.pid) == nil)
        #expect(bench.control.discover().isEmpty)
        try process.send(Signal.kill)
        _ = try process.wait(block: true)
        bench.control.step.removeScope()
        for group in groups { #expect(!Files.exists(group), "\(group)") }
    }

    @Test func `it ends with the daemon`() throws {
        let daemon = try daemon()
        server.change("/file") { $0.holdsAfter = 10 }
        let home = daemon.scratch("home")
        _ = try daemon.offstage("download", "-d", home, server.url("/file"))
        try server.waitUntilHeld(1)
        let process = try #require(try daemon.networkProcess())
        try daemon.stop()
        #expect(!process.isAlive)
        server.release()
    }

    // MARK: What it says

    /// A program in its place, which reports so often, says in a file that it has, and goes on.
    private func talker(
        _ count: Int,
        then command: String,
        in place: ScratchDirectory
    ) throws -> String {
        let report = NetworkReport.progress(TransferID(1), received: 2, durable: 1)
        let octal = try report.bytes().map { byte in
            let digits = String(byte, radix: 8)
            return "\\0" + String(repeating: "0", count: 3 - digits.count) + digits
        }
        let text = """
            #!/bin/sh
            left=\(count)
            while [ $left -gt 0 ]; do
                printf %b '\(octal.joined())' >&3
                left=$((left - 1))
            done
            echo > \(place("said"))
            \(command)

            """
        return try place.write("talker", text, permissions: 0o755)
    }

    /// All of these reports are in the socket before the first is read.
    @Test func `one that talks without a pause keeps nobody waiting`() throws {
        try CurrentProcess.block(signals: [Signal.child])
        let (place, loop) = (ScratchDirectory(), try EventLoop())
        let path = try talker(100, then: "exec sleep 1000", in: place)
        let control = SignalControl(LaunchMarkers(place("launches")), refused: [])
        var heard = 0
        let process = try NetworkProcess(loop, path, in: control) { _, _ in
            heard += 1
        } ended: { _, _ in
        }
        defer {
            process.kill()
            _ = try? loop.runReady()
        }
        try Wait.until(file: place("said"))
        _ = try loop.runTurn(limit: 1)
        #expect((1..<100).contains(heard), "\(heard) at one go")
        try Wait.until("all is heard") {
            heard == 100
        } step: {
            _ = try loop.runReady()
        }
    }

    @Test func `what it said before it ended is heard`() throws {
        try CurrentProcess.block(signals: [Signal.child])
        let (place, loop) = (ScratchDirectory(), try EventLoop())
        let path = try talker(100, then: "exit", in: place)
        let control = SignalControl(LaunchMarkers(place("launches")), refused: [])
        var (heard, ends) = (0, 0)
        let process = try NetworkProcess(loop, path, in: control) { _, _ in
            heard += 1
        } ended: { _, _ in
            ends += 1
        }
        defer {
            process.kill()
            _ = try? loop.runReady()
        }
        try Wait.until(file: place("said"))
        try Wait.until("its end") {
            ends > 0
        } step: {
            _ = try loop.runReady()
        }
        #expect(heard == 100 && ends == 1)
    }

    @Test func `what was ordered and never handed over is known when it has ended`() throws {
        try CurrentProcess.block(signals: [Signal.child])
        let (place, loop) = (ScratchDirectory(), try EventLoop())
        #expect(try Command("mkfifo", place("gate")).run().succeeded)
        let text = "#!/bin/sh\nread line < \(place("gate"))\n"
        let path = try place.write("deaf", text, permissions: 0o755)
        let control = SignalControl(LaunchMarkers(place("launches")), refused: [])
        var ends = 0
        let process = try NetworkProcess(loop, path, in: control) { _, _ in
        } ended: { _, _ in
            ends += 1
        }
        for number in 1...5_000 as ClosedRange<UInt64> {
            try process.send(.stop(TransferID(number)), with: nil)
        }
        #expect(process.unsent.isEmpty)
        try FileDescriptor(opening: place("gate"), .writing).writeAll("go\n")
        try Wait.until("its end") {
            ends > 0
        } step: {
            _ = try loop.runReady()
        }
        #expect(process.unsent.last == .stop(TransferID(5_000)))
        #expect(process.unsent.first != .stop(TransferID(1)), "the socket has room for some")
    }

    // MARK: Names

    /// The kernel keeps it from a file that takes the place of the one that it could read.
    @Test(.enabled(if: Command.runsAsRoot && Landlock.version > 0, "needs root and Landlock"))
    func `another process looks names up by a file that was replaced`() throws {
        let place = ScratchDirectory()
        try Files.setPermissions(place.path, 0o755)
        let copied = try Command("cp", "-a", "/etc/.", place.path).run()
        #expect(copied.succeeded, "\(copied.errors)")
        try Files.replace(place("nsswitch.conf"), with: "hosts: files\n")
        try Files.replace(place("hosts"), with: "127.0.0.1 one.example\n")
        for name in ["nsswitch.conf", "hosts"] { try Files.setPermissions(place(name), 0o644) }
        let daemon = try daemon([
            "unshare", "--mount", "sh", "-c", "mount --bind \(place.path) /etc && exec \"$@\"",
            "sh",
        ])
        func download(_ host: String, _ name: String) throws {
            let url = server.url("/file").replacing("127.0.0.1", with: host)
            let file = daemon.scratch("home/" + name)
            let outcome = try daemon.offstage("download", "-w", "-o", file, url)
            #expect(outcome.succeeded && Files.exists(file), "\(outcome.errors)")
        }
        try download("one.example", "one")
        let first = try #require(try daemon.networkProcess())
        try Files.replace(place("hosts"), with: "127.0.0.1 two.example\n")
        try Files.setPermissions(place("hosts"), 0o644)
        try download("two.example", "two")
        try Wait.untilGone([first])
        #expect(try daemon.networkProcess() != nil)
    }
}
