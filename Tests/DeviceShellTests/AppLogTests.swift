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
        #expect(try log.text(lines: 10) == "first\nsecond\n")
        #expect(try log.text(lines: 1) == "second\n")
        #expect(try log.text(lines: 0) == "")
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
        #expect(try log.text(lines: 3) == "line 498\nline 499\nafter\n")
        #expect(try log.text(lines: 1000).hasPrefix("line "), "from a whole line on")
        for number in 0..<500 { try writer.writeAll("more \(number)\n") }
        try log.bound()
        #expect(try log.text(lines: 1000).hasPrefix("more "))
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
        #expect(try log.text(lines: 1) == "20000\n")
    }

    @Test func `the end is bounded in bytes too, and no log is an empty one`() throws {
        let log = AppLog(scratch("app.log"))
        #expect(try log.text(lines: 10) == "")
        try log.bound()
        try log.open().writeAll(String(repeating: "x", count: 5000))
        #expect(try log.tail(lines: 10, bytes: 100).count == 100)
    }

    /// Of a line without an end: whatever letter the bound falls in.
    @Test(arguments: ["é", "€", "😀"])
    func `no letter is cut`(_ letter: String) throws {
        let log = AppLog(scratch("app.log"), limit: 1000)
        try log.open().writeAll(String(repeating: letter, count: 100))
        let size = letter.utf8.count
        for bytes in 100..<100 + size {
            let end = try log.tail(lines: 10, bytes: bytes)
            #expect(end.count == min(bytes / size, 100) * size)
            #expect(String(validating: end, as: UTF8.self) != nil, "\(bytes) bytes")
        }
        // What was shortened before, at its end and by a flood.
        let text = String(repeating: letter, count: 1000)
        for shift in 0..<size {
            try Files.remove(log.path)
            try FileDescriptor(opening: log.path, [.writing, .create, .append])
                .writeAll(text + String(repeating: "x", count: shift))
            try log.bound()
            let older = try log.tail(lines: 10)
            #expect(String(validating: older, as: UTF8.self) != nil && older.count > 400)
            try log.keep(end: Array(text.utf8.dropFirst(shift)))
            #expect(String(validating: try log.tail(lines: 10), as: UTF8.self) != nil)
        }
    }

    @Test func `bytes that are no text are all shown`() throws {
        let log = AppLog(scratch("app.log"))
        let bytes = [UInt8](repeating: 0x80, count: 50)
        try log.open().writeAll(bytes.span)
        #expect(try log.tail(lines: 10) == bytes)
        #expect(try log.tail(lines: 10, bytes: 50) == bytes)
        #expect(try log.tail(lines: 10, bytes: 40).count >= 37)
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
        // Half of the limit, and what is written meanwhile.
        #expect(size <= 48 << 10)
        #expect(try bench.app("app")?["state"] == "foreground")
    }
}

/// Many logs, as the keeper holds them to their limit.
struct LogBoundsTests {
    let scratch = ScratchDirectory()

    private func write(_ count: Int, to name: String) throws {
        let text = (0..<count).map { "line \($0)\n" }.joined()
        try FileDescriptor(opening: scratch(name), [.writing, .create, .append]).writeAll(text)
    }

    @Test func `only logs above the limit are shortened`() throws {
        try write(10, to: "small.log")
        try write(200, to: "large.log")
        try write(200, to: "other")
        var bounds = LogBounds(scratch.path, limit: 1000)
        let found = bounds.look(at: nil)
        #expect(found)
        #expect(bounds.due == nil)
        #expect(Files.status(scratch("large.log"))?.size == 0)
        #expect(try scratch.read("large.log.1").hasSuffix("line 199\n"))
        #expect(try scratch.read("small.log").hasPrefix("line 0\n"))
        #expect(try scratch.read("other").hasPrefix("line 0\n"))
        try write(200, to: "large.log")
        try write(200, to: "second.log")
        bounds.look(at: ["second.log", "gone.log"])
        #expect(Files.status(scratch("large.log"))?.size != 0)
        #expect(Files.status(scratch("second.log"))?.size == 0)
        let foundAbove = bounds.look(at: nil, above: 5000)
        #expect(!foundAbove)
    }

    @Test func `of a flood the newest lines are kept, some times a second`() throws {
        var bounds = LogBounds(scratch.path, limit: 1000)
        try write(5000, to: "app.log")
        let before = Clocks.boot()
        bounds.look(at: ["app.log"])
        #expect(Files.status(scratch("app.log"))?.size == 0)
        let due = try #require(bounds.due)
        #expect(due > before)
        bounds.settle(at: due - .milliseconds(1))
        #expect(!Files.exists(scratch("app.log.1")), "not yet")
        try write(6000, to: "app.log")
        bounds.look(at: ["app.log"])
        #expect(bounds.due == due, "a flood does not put it off")
        bounds.settle(at: due)
        let kept = try scratch.read("app.log.1")
        #expect(kept.utf8.count <= 500)
        #expect(kept.hasSuffix("line 5999\n"))
        #expect(kept.hasPrefix("line "))
        #expect(bounds.due == nil)
    }

    @Test func `a log that cannot be shortened is told of once`() throws {
        var told: [String] = []
        // A directory in its place stands for a disk that takes nothing.
        try Files.makeDirectory(scratch("app.log.1"))
        var bounds = LogBounds(scratch.path, limit: 1000) { path, _ in told.append(path) }
        for _ in 0..<3 {
            try write(200, to: "app.log")
            bounds.look(at: nil)
        }
        #expect(told == [scratch("app.log")])
        #expect(Files.status(scratch("app.log"))?.size == 0)
    }

    @Test func `an older piece is copied bit by bit, however large the limit`() throws {
        let log = AppLog(scratch("app.log"), limit: 5 << 20)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99) + [UInt8(ascii: "\n")]
        let writer = try log.open()
        for _ in 0..<60_000 { try writer.writeAll(line.span) }
        try log.bound()
        let older = try Files.read(log.path + ".1", limit: 1 << 24)
        #expect(older.count <= 5 << 19)
        #expect(older.count > 5 << 19 - 100)
        #expect(older.count % 100 == 0)
    }
}

extension AppLog {
    /// The end of it as text.
    func text(lines: Int) throws(LinuxError) -> String {
        String(decoding: try tail(lines: lines), as: UTF8.self)
    }
}
