import Linux
import Synchronization
import TestKit
import Testing

struct WorkThreadTests {
    @Test func `one thing after the other, in a thread of its own`() throws {
        let thread = WorkThread(named: "test-work")
        let done = Mutex<[Int]>([])
        let outcomes = try (0..<100).map { number in
            try thread.begin { () -> (Int, String?) in
                done.withLock { $0.append(number) }
                return (number, Files.linkTarget("/proc/thread-self"))
            }
        }
        #expect(outcomes.map { $0.wait().0 } == Array(0..<100))
        #expect(done.withLock { $0 } == Array(0..<100))
        // It may be waited for again.
        let threads = Set(outcomes.map { $0.wait().1 })
        #expect(threads.count == 1)
        #expect(!threads.contains(Files.linkTarget("/proc/thread-self")))
    }

    @Test func `it ends with its owner, when it has done what was begun`() throws {
        let gate = try EventCounter()
        let number = gate.descriptor.number
        var thread: WorkThread? = WorkThread(named: "test-end")
        let first = try thread?.begin { () -> String? in
            _ = Poll.ready(number, for: .readable, milliseconds: Wait.limitMilliseconds)
            return Files.linkTarget("/proc/thread-self")
        }
        let last = try thread?.begin { 2 }
        thread = nil
        gate.signal()
        #expect(last?.wait() == 2)
        let path = try "/proc/" + #require(first?.wait() ?? nil)
        try Wait.until("the end of the thread") { !Files.exists(path) }
        withExtendedLifetime(gate) {}
    }
}
