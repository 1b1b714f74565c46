@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

struct AppLogTests {
    let scratch = ScratchDirectory()

    @Test func `output is appended across launches`() throws {
        let log = AppLog(scratch("app.log"))
        try log.open().writeAll("first\n")
        try log.open().writeAll("second\n")
        #expect(try log.tail(lines: 10) == "first\nsecond\n")
        #expect(try log.tail(lines: 1) == "second\n")
        #expect(try log.tail(lines: 0) == "")
        #expect(Files.status(log.path)?.permissions == 0o600)
    }

    @Test func `a flood is cut to the newest lines while the writer goes on`() throws {
        let log = AppLog(scratch("app.log"), limit: 1000)
        let writer = try log.open()
        for number in 0..<500 { try writer.writeAll("line \(number)\n") }
        try log.bound()
        #expect(try #require(Files.status(log.path)).size == 0)
        let older = try #require(Files.status(log.path + ".1"))
        #expect(older.size <= 500)
        try writer.writeAll("after\n")
        #expect(try log.tail(lines: 3) == "line 498\nline 499\nafter\n")
        #expect(try log.tail(lines: 1000).hasPrefix("line "), "from a whole line on")
        for number in 0..<500 { try writer.writeAll("more \(number)\n") }
        try log.bound()
        #expect(try log.tail(lines: 1000).hasPrefix("more "))
        #expect(try Files.list(scratch.path) == ["app.log", "app.log.1"])
        let total = [log.path, log.path + ".1"].compactMap { Files.status($0)?.size }.reduce(0, +)
        #expect(total <= 1500)
    }

    @Test func `what is too much goes though it cannot be kept`() throws {
        // A directory in its place stands for a disk that takes nothing more.
        try Files.makeDirectory(scratch("app.log.1"))
        let log = AppLog(scratch("app.log"), limit: 10)
        try log.open().writeAll("more than ten bytes\n")
        #expect(throws: LinuxError.self) { try log.bound() }
        #expect(Files.status(log.path)?.size == 0)
    }

    @Test func `a program that floods is bounded at its next launch and at its end`() throws {
        let log = AppLog(scratch("app.log"), limit: 10_000)
        for _ in 0..<3 {
            let output = try log.open()
            var program = Program(
                "/bin/sh",
                arguments: ["sh", "-c", "seq 1 20000"],
                environment: []
            )
            (program.output, program.error) = (output.number, output.number)
            #expect(try program.start().wait(block: true) == .exited(0))
        }
        try log.bound()
        let total = [log.path, log.path + ".1"].compactMap { Files.status($0)?.size }.reduce(0, +)
        #expect(total <= 15_000)
        #expect(try log.tail(lines: 1) == "20000\n")
    }

    @Test func `the end is bounded in bytes too, and no log is an empty one`() throws {
        let log = AppLog(scratch("app.log"))
        #expect(try log.tail(lines: 10) == "")
        try log.bound()
        try log.open().writeAll(String(repeating: "x", count: 5000))
        #expect(try log.tail(lines: 10, bytes: 100).utf8.count == 100)
    }

    @Test func `a link in the place of a log is not followed`() throws {
        try scratch.write("precious", "data")
        #expect(try Command("ln", "-s", scratch("precious"), scratch("app.log")).run().succeeded)
        let log = AppLog(scratch("app.log"), limit: 1)
        #expect(throws: LinuxError.self) { try log.open().writeAll("x") }
        #expect(try scratch.read("precious") == "data")
    }

    @Test func `an app in the foreground that floods is bounded while it does`() throws {
        let bench = try DaemonBench("log-size = 65536\n", starting: false)
        // An end to it, so that a failing test has one.
        try bench.script(
            "app.sh",
            "i=0; while [ $i -lt 2000 ]; do seq 1 10000; i=$((i+1)); done; exec sleep 1000"
        )
        try bench.manifest("app", exec: "sh app.sh", "BackgroundModes=fetch;")
        try bench.daemon.start()
        try bench.ask("Open", "app", [:])
        let older = bench.daemon.scratch("state/logs/app.log.1")
        try Wait.until(file: older, "the older half")
        let size = try #require(Files.status(older)).size
        #expect(size <= 32 << 10)
        #expect(try bench.app("app")?["state"] == "foreground")
    }
}
