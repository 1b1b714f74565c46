@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary

/// `UseFrom`: the path counts, whatever file it names.
struct UseTests {
    private func bench(_ uses: [(app: String, use: String)]) throws -> DaemonBench {
        let bench = try DaemonBench(starting: false)
        for (app, use) in uses {
            try bench.manifest(app, exec: "true", "BackgroundModes=fetch;\nUseFrom=\(use)")
        }
        return bench
    }

    private func uses(_ bench: DaemonBench, _ app: String) throws -> Int {
        try bench.history(app).count { $0["what"] == "seen" }
    }

    private func wait(_ bench: DaemonBench, _ app: String, uses count: Int) throws {
        try bench.wait(until: "use \(count) of \(app)") { try uses(bench, app) >= count }
    }

    /// As editors and databases do: written beside it, put in its place.
    private func replace(_ bench: DaemonBench, _ name: String) throws {
        try bench.daemon.scratch.write("home/" + name + ".other", "new")
        try Files.rename(bench.home(name + ".other"), to: bench.home(name))
    }

    @Test func `a file that is replaced has been written, again and again`() throws {
        let bench = try bench([("reader", "file:~/state")])
        try bench.daemon.scratch.write("home/state", "")
        try bench.daemon.start()
        for count in 1...2 {
            try replace(bench, "state")
            try wait(bench, "reader", uses: count)
        }
    }

    @Test func `a file in a directory that is not there yet is seen when it comes`() throws {
        let bench = try bench([("reader", "file:~/later/below/state")])
        try bench.daemon.start()
        try Files.makeDirectory(bench.home("later/below"), parents: true)
        try bench.daemon.scratch.write("home/later/below/state", "")
        try wait(bench, "reader", uses: 1)
        let before = try uses(bench, "reader")
        try FileDescriptor(opening: bench.home("later/below/state"), [.writing, .append])
            .writeAll("more")
        try wait(bench, "reader", uses: before + 1)
    }

    /// A program that runs until the test ends it.
    private func program(_ bench: DaemonBench, _ name: String) throws {
        let pipe = bench.home("wait")
        if !Files.exists(pipe) { #expect(try Command("mkfifo", pipe).run().succeeded) }
        try bench.daemon.scratch.write(
            "home/" + name,
            "#!/bin/sh\nread line < \(pipe)\n",
            permissions: 0o755
        )
    }

    /// Runs it, and returns once a use is seen.
    private func run(_ bench: DaemonBench, _ name: String, _ app: String, uses: Int) throws {
        let process = try Command(bench.home(name)).start()
        defer {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }
        try wait(bench, app, uses: uses)
    }

    @Test func `an executable that is only read is not used`() throws {
        let bench = try bench([("read", "exec:~/read"), ("run", "exec:~/run")])
        for name in ["read", "run"] { try program(bench, name) }
        try bench.daemon.start()
        #expect(try Command("cat", bench.home("read")).run().succeeded)
        // A reader that has its path among its words, as long as the other runs.
        var reader = Command("tail", "-f", bench.home("read"))
        reader.directory = bench.home("")
        let process = try reader.start()
        try run(bench, "run", "run", uses: 1)
        #expect(try uses(bench, "read") == 0)
        try process.send(Signal.kill)
        _ = try process.wait(block: true)
    }

    @Test func `an executable that is installed later, and replaced, is seen`() throws {
        let bench = try bench([("reader", "exec:~/bin/reader")])
        try bench.daemon.start()
        for count in 1...2 {
            try program(bench, "bin/reader")
            // What is watched is known once the daemon has looked at what came before this.
            try bench.ask("Version")
            try run(bench, "bin/reader", "reader", uses: count)
        }
    }

    @Test func `two apps may share a file, each with its own kind of use`() throws {
        let bench = try bench([("opener", "exec:~/shared"), ("writer", "file:~/shared")])
        try program(bench, "shared")
        try bench.daemon.start()
        try run(bench, "shared", "opener", uses: 1)
        #expect(try uses(bench, "writer") == 0)
        try FileDescriptor(opening: bench.home("shared"), [.writing, .append]).writeAll("\n")
        try wait(bench, "writer", uses: 1)
    }

    /// Its own looks would wake the daemon again and again.
    @Test func `whoever looks who runs an executable does not open it`() throws {
        let scratch = ScratchDirectory()
        let (path, pipe) = (scratch("program"), scratch("wait"))
        #expect(try Command("mkfifo", pipe).run().succeeded)
        try scratch.write(
            "program",
            "#!/bin/sh\n: > \(scratch("begun"))\nread line < \(pipe)\n",
            permissions: 0o755
        )
        let loop = try EventLoop()
        var uses = 0
        let watch = try UseWatch(loop, isOurs: { _ in false }) { _ in uses += 1 }
        watch.watch(AppID("reader"), .exec(path))
        let process = try Command(path).start()
        defer {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }
        // Its shell has opened all that it opens.
        try Wait.until("it has begun") { Files.exists(scratch("begun")) }
        let openings = try Inotify()
        _ = try openings.add(path, .opened)
        var isOver = false
        let limit = try TimerSource(loop) { isOver = true }
        try limit.arm(at: Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds)))
        while uses == 0, !isOver, try loop.runTurn() {}
        #expect(uses == 1)
        #expect(try openings.events().isEmpty)
    }

    @Test func `a directory that comes while the one above it is found out is watched`() throws {
        let scratch = ScratchDirectory()
        let path = scratch("state/list")
        let loop = try EventLoop()
        var uses = 0
        var hasCome = false
        func nearest(_ directory: String) -> String {
            let found = Files.nearestDirectory(directory)
            if !hasCome { #expect((try? Files.makeDirectory(scratch("state"))) != nil) }
            hasCome = true
            return found
        }
        let watch = try UseWatch(loop, isOurs: { _ in false }, nearest: nearest) { _ in uses += 1 }
        watch.watch(AppID("reader"), .file(path))
        try Files.replace(path, with: "read")
        _ = try loop.runReady()
        #expect(uses == 1)
    }
}
