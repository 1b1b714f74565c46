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

    @Test func `an executable that is installed later, and replaced, is seen`() throws {
        let bench = try bench([("reader", "exec:~/bin/reader")])
        try bench.daemon.start()
        for count in 1...2 {
            try bench.daemon.scratch.write(
                "home/bin/reader",
                "#!/bin/sh\ntrue\n",
                permissions: 0o755
            )
            // What is watched is known once the daemon has looked at what came before this.
            try bench.ask("Version")
            #expect(try Command(bench.home("bin/reader")).run().succeeded)
            try wait(bench, "reader", uses: count)
        }
    }

    @Test func `two apps may share a file, each with its own kind of use`() throws {
        let bench = try bench([("opener", "exec:~/shared"), ("writer", "file:~/shared")])
        try bench.daemon.scratch.write("home/shared", "#!/bin/sh\ntrue\n", permissions: 0o755)
        try bench.daemon.start()
        #expect(try Command(bench.home("shared")).run().succeeded)
        try wait(bench, "opener", uses: 1)
        #expect(try uses(bench, "writer") == 0)
        try FileDescriptor(opening: bench.home("shared"), [.writing, .append]).writeAll("\n")
        try wait(bench, "writer", uses: 1)
    }
}
