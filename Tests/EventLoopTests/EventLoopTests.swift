import EventLoop
import Glibc
import Linux
import TestKit
import Testing
import Vocabulary

struct EventLoopTests {
    let loop: EventLoop
    let scratch = ScratchDirectory()

    init() throws {
        // sd-event wants them blocked in the thread that it runs on.
        try CurrentProcess.block(signals: [SIGCHLD, SIGUSR1, SIGUSR2])
        loop = try EventLoop()
    }

    /// Turns until the condition holds; a turn that waits in vain ends by the limit of the run.
    func run(until condition: () -> Bool) throws {
        let watchdog = try TimerSource(loop) { loop.exit() }
        try watchdog.arm(at: Clocks.boot() + .seconds(60))
        while !condition() { #expect(try loop.runTurn()) }
    }

    @Test func `a descriptor is told when it can be read, and no more once the source is gone`()
        throws
    {
        var pipe = try Pipe(nonBlocking: true)
        let end = pipe.reading.take()!
        let number = end.number
        var read: [UInt8] = []
        var source: DescriptorSource? = try DescriptorSource(loop, number, .readable) { events in
            #expect(events == .readable)
            read += (try? end.readAvailable(upTo: 1)) ?? []
        }
        try pipe.writing?.writeAll("ab")
        try run { read.count == 2 }
        #expect(read == Array("ab".utf8))
        #expect(try loop.runReady() == 0)
        try pipe.writing?.writeAll("c")
        #expect(source != nil)
        source = nil
        #expect(try loop.runReady() == 0)
        #expect(read.count == 2)
    }

    @Test func `the end of the other side is told as a hang-up`() throws {
        var pipe = try Pipe()
        var seen: DescriptorSource.Events = []
        let end = pipe.reading.take()!
        let source = try DescriptorSource(loop, end.number, []) { seen = $0 }
        pipe.writing = nil
        try run { seen != [] }
        #expect(seen == .hangUp)
        try source.setEnabled(false)
        #expect(try loop.runReady() == 0)
    }

    @Test func `a turn ends though a source is always ready, and runs at most its limit`() throws {
        var pipe = try Pipe()
        try pipe.writing?.writeAll("x")
        let end = pipe.reading.take()!
        var count = 0
        let source = try DescriptorSource(loop, end.number, .readable) { _ in count += 1 }
        #expect(try loop.runTurn(limit: 64))
        #expect(count == 64)
        #expect(try loop.runTurn(limit: 10))
        #expect(count == 74)
        try source.setEnabled(false)
    }

    @Test func `a turn gathers everything that is ready`() throws {
        var fired: [Int] = []
        var sources: [DeferredSource] = []
        for number in 0..<5 { sources.append(try DeferredSource(loop) { fired.append(number) }) }
        #expect(try loop.runTurn())
        #expect(fired.sorted() == [0, 1, 2, 3, 4])
        #expect(try loop.runReady() == 0, "once each")
        #expect(sources.count == 5)
    }

    @Test func `smaller priorities go first`() throws {
        var fired: [String] = []
        let late = try DeferredSource(loop) { fired.append("late") }
        try late.setPriority(10)
        let early = try DeferredSource(loop) { fired.append("early") }
        try early.setPriority(-10)
        #expect(try loop.runTurn())
        #expect(fired == ["early", "late"])
    }

    @Test func `a timer fires once, never early, and again only when armed again`() throws {
        var fired: [BootTime] = []
        let timer = try TimerSource(loop) { fired.append(Clocks.boot()) }
        #expect(try loop.runReady() == 0, "off until armed")
        let first = Clocks.boot() + .milliseconds(3)
        try timer.arm(at: first)
        try run { fired.count == 1 }
        #expect(try fired[0] >= first && loop.runReady() == 0)
        try timer.arm(at: Clocks.boot() - .seconds(5))
        #expect(try loop.runTurn())
        #expect(fired.count == 2, "a time that has passed fires at once")
        try timer.arm(at: .distantPast)
        try timer.arm(at: nil)
        #expect(try loop.runReady() == 0)
        try timer.arm(at: .distantFuture)
        #expect(try loop.runReady() == 0)
        #expect(fired.count == 2)
    }

    @Test func `a timer that shall wake the machine works without the hardware too`() throws {
        var fired = false
        let timer = try TimerSource(loop, wakingTheMachine: true) { fired = true }
        try timer.arm(at: Clocks.boot())
        try run { fired }
        if !Files.exists("/dev/rtc0") { #expect(!timer.isAlarm) }
    }

    @Test func `a signal is told with its sender`() throws {
        var senders: [Int32] = []
        let source = try SignalSource(loop, SIGUSR1) { senders.append($0) }
        raise(SIGUSR1)
        try run { !senders.isEmpty }
        #expect(senders == [CurrentProcess.pid])
        try source.setEnabled(false)
    }

    @Test func `a signal that is not blocked is refused`() throws {
        var one = sigset_t()
        var before = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, SIGWINCH)
        pthread_sigmask(SIG_UNBLOCK, &one, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #expect(throws: LinuxError("sd_event_add_signal", "SIGWINCH", .busy)) {
            _ = try SignalSource(loop, SIGWINCH) { _ in }
        }
    }

    func program(_ script: String) -> Program {
        Program("/bin/sh", arguments: ["sh", "-c", script], environment: [])
    }

    @Test(arguments: [("exit 3", ProcessExit.exited(3)), ("kill -TERM $$", .signalled(SIGTERM))])
    func `a child's end is told and reaped`(script: String, expected: ProcessExit) throws {
        let process = try program(script).start()
        let identity = try #require(ProcessIdentity(of: process.pid))
        var end: ProcessExit?
        let source = try ProcessSource(loop, child: process) { end = $0 }
        try run { end != nil }
        #expect(end == expected)
        #expect(ProcessIdentity(of: identity.pid) != identity, "reaped")
        #expect(try loop.runReady() == 0)
        #expect(source.process.pid == identity.pid)
    }

    @Test func `the end of an adopted process is told once, and the loop lives on`() throws {
        // A grandchild: its parent, a shell, ends at once.
        let outcome = try Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!").run()
        let pid = try #require(Int32(outcome.output.dropLast()))
        var ends: [ProcessExit] = []
        let source = try ProcessSource(loop, adopted: PidFD(of: pid)) { ends.append($0) }
        #expect(try loop.runReady() == 0)
        try source.process.send(SIGKILL)
        try run { !ends.isEmpty }
        #expect(ends == [.signalled(SIGKILL)] || !ProcessEnds.areTold && ends == [.unknown])
        #expect(try loop.runReady() == 0)
        var later = false
        let deferred = try DeferredSource(loop) { later = true }
        #expect(try loop.runTurn())
        #expect(later)
        try deferred.setEnabled(false)
    }

    @Test func `changes in a directory are told by name`() throws {
        var events: [Inotify.Event] = []
        let source = try PathSource(loop, scratch.path, [.closedAfterWriting, .removed]) {
            events.append($0)
        }
        scratch.write("text", to: "app.desktop")
        try Files.remove(scratch("app.desktop"))
        try run { events.count >= 2 }
        #expect(events.map(\.name) == ["app.desktop", "app.desktop"])
        #expect(events.map(\.mask) == [.closedAfterWriting, .removed])
        try source.setEnabled(false)
        #expect(throws: LinuxError("sd_event_add_inotify", scratch("none"), .noEntry)) {
            _ = try PathSource(loop, scratch("none"), .entries) { _ in }
        }
    }

    @Test func `a handler may drop its own source`() throws {
        final class Holder { var source: DeferredSource? }
        let holder = Holder()
        var ran = 0
        holder.source = try DeferredSource(loop) {
            holder.source = nil
            ran += 1
        }
        #expect(try loop.runTurn())
        #expect(ran == 1)
        #expect(try loop.runReady() == 0)
    }

    @Test func `exit ends the loop after the handler`() throws {
        var after = false
        let source = try DeferredSource(loop) { loop.exit() }
        let other = try DeferredSource(loop) { after = true }
        try other.setPriority(100)
        #expect(try !loop.runTurn())
        #expect(!after)
        #expect(try !loop.runTurn())
        try? source.setEnabled(false)
    }

    @Test func `a descriptor that is closed is refused`() throws {
        #expect(throws: LinuxError("epoll_ctl", "descriptor -1", Errno(EBADF))) {
            _ = try DescriptorSource(loop, -1, .readable) { _ in }
        }
    }
}
