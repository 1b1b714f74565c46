import Linux
import TestKit
import Testing

/// What the other tests rely on.
struct TestKitTests {
    @Test(.enabled(if: AllocationCounter.isAvailable, "a sanitizer has its own allocator"))
    func `allocations of a thread are counted exactly`() {
        var kept: [Int] = []
        let reserving = AllocationCounter.count { kept.reserveCapacity(100) }
        #expect(reserving == 1)
        let appending = AllocationCounter.count { for number in 0..<100 { kept.append(number) } }
        #expect(appending == 0)
        #expect(kept.count == 100)
    }

    @Test func `a scratch directory goes with everything in it`() throws {
        var scratch: ScratchDirectory? = ScratchDirectory()
        let path = try #require(scratch?.path)
        try scratch?.write("a/b/c", "text")
        #expect(Files.exists(path + "/a/b/c"))
        #expect(path.utf8.count < 50, "sockets fit below it")
        scratch = nil
        #expect(!Files.exists(path))
    }

    @Test func `a command's output and errors are kept apart`() throws {
        var command = Command("sh", "-c", "cat; echo problem >&2; exit 4")
        command.input = "typed"
        let outcome = try command.run()
        #expect(outcome == .init(status: .exited(4), output: "typed", errors: "problem\n"))
        #expect(throws: DidNotHappen.self) { try Command("no-such-program-here").run() }
    }

    @Test func `gone is judged by pidfd, zombies and used numbers do not count as alive`() throws {
        #expect(Orphans.areOurs)
        let outcome = try Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!").run()
        let pid = try #require(Int32(outcome.output.dropLast()))
        let orphan = try #require(ProcessIdentity(of: pid))
        #expect(orphan.isAlive)
        try PidFD(of: orphan).send(Signal.kill)
        try Wait.untilGone(orphan)
        #expect(!orphan.isAlive)
        #expect(ProcessIdentity(of: pid) == nil, "reaped by us")
        try Wait.untilGone(orphan)
    }

    @Test func `a file is waited for without polling`() throws {
        let scratch = ScratchDirectory()
        let process = try Command(
            "sh",
            "-c",
            "echo one > \(scratch("f")); echo two >> \(scratch("f"))"
        )
        .start()
        #expect(try Wait.until(file: scratch("f")) { $0.hasSuffix("two\n") } == "one\ntwo\n")
        try Wait.until(readable: process.descriptor.number)
        #expect(try process.wait(block: true) == .exited(0))
    }

    @Test func `the programs of this build are found`() {
        #expect(Files.isExecutable(Products.path(of: "offstaged")))
        #expect(Files.isExecutable(Products.path(of: "offstage")))
    }
}
