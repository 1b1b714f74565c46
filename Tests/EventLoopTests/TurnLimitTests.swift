import EventLoop
import Glibc
import Linux
import Testing
import Vocabulary

// Written by the handler of a signal, as C allows it, and read by tests that run one by one.
nonisolated(unsafe) private var alarms: sig_atomic_t = 0

/// A turn that hangs is ended. SIGALRM, which would end this process, is counted here.
@Suite(.serialized)
struct TurnLimitTests {
    init() {
        signal(SIGALRM) { _ in alarms += 1 }
        alarms = 0
    }

    @Test func `a turn that hangs brings the alarm`() throws {
        let loop = try EventLoop()
        loop.turnLimit = .seconds(1)
        let hanging = try DeferredSource(loop) {
            while alarms == 0 { sched_yield() }
            loop.exit()
        }
        while try loop.runTurn() {}
        #expect(alarms == 1)
        _ = hanging
    }

    @Test func `a loop that waits is let be, however long`() throws {
        let loop = try EventLoop()
        loop.turnLimit = .seconds(1)
        let timer = try TimerSource(loop) { loop.exit() }
        try timer.arm(at: Clocks.boot() + .milliseconds(1500))
        while try loop.runTurn() {}
        #expect(alarms == 0)
    }
}
