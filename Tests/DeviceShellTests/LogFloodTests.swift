@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Programs that write to their log faster than anybody reads.
///
/// How much passes depends on the machine: it is printed. Half of what is written never does.
@Suite(.serialized)
struct LogFloodTests {
    /// A daemon with commands that flood once they are let go, and say in a file of their own how
    /// that ended.
    private final class Floods {
        let bench: DaemonBench
        let count: Int
        private(set) var peak: Int64 = 0

        /// All run at once, for as long as they like.
        static let settings = "log-size = 64K\nrun-slots = 8\nwake-grant = 10m\n"

        /// `logs` sees to the directory of the logs before the daemon starts.
        init(_ count: Int, by flood: String, logs: (String) throws -> Void = { _ in }) throws {
            bench = try DaemonBench(Self.settings, starting: false)
            self.count = count
            let directory = bench.daemon.scratch("state/logs")
            try Files.makeDirectory(directory)
            try logs(directory)
            try bench.daemon.start()
            for number in 0..<count {
                try bench.submit(
                    "echo $$ > pid\(number); while [ ! -e go ]; do sleep 0.1; done; "
                        + "(\(flood)); echo $? > done\(number)",
                    id: "flood\(number)",
                    kind: "refresh"
                )
            }
            for number in 0..<count { _ = try bench.process(from: "pid\(number)") }
        }

        func go() throws { try bench.daemon.scratch.write("home/go", "") }

        /// Bytes of all logs and of their older pieces.
        func look() -> Int64 {
            var sum: Int64 = 0
            for number in 0..<count {
                let log = bench.daemon.scratch("state/logs/command.flood\(number).log")
                sum += Files.status(log)?.size ?? 0
                sum += Files.status(log + ".1")?.size ?? 0
            }
            peak = max(peak, sum)
            return sum
        }

        var areOver: Bool { (0..<count).allSatisfy { bench.read("done\($0)").hasSuffix("\n") } }

        /// Looks until all floods are over; none may have failed.
        func watch() throws {
            let watch = try Inotify()
            _ = try watch.add(bench.daemon.scratch("home"), [.closedAfterWriting])
            let end = Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds) * 5)
            while !areOver {
                guard Clocks.boot() < end else {
                    throw DidNotHappen(description: "the end of the floods\n\(bench.report)")
                }
                // In between it is looked at a thousand times a second.
                _ = Poll.ready(watch.descriptor.number, for: .readable, milliseconds: 1)
                _ = look()
            }
            for number in 0..<count { #expect(bench.read("done\(number)") == "0\n") }
        }

        /// What is kept in the end, with the quarter that may be written while a half is copied.
        func settle() throws {
            let limit = Int64(count) * (64 << 10) * 7 / 4
            try Wait.until("bounded", { look() <= limit })
        }

    }

    private static let blocks = "dd if=/dev/zero bs=64k count=6000 2>> own"

    private func tell(_ floods: Floods, _ what: String) {
        print("log flood: \(what): peak \(floods.peak / 1_000_000) MB of \(floods.count)")
    }

    private func check(_ floods: Floods, _ what: String, upTo limit: Int64 = 6000 * (64 << 10) / 2)
    {
        tell(floods, what)
        #expect(floods.peak < Int64(floods.count) * limit, "\(what)")
    }

    @Test(arguments: [1, 4])
    func `logs stay bounded while programs flood them, and no other file is cut`(
        count: Int
    ) throws {
        let floods = try Floods(
            count,
            by: Self.blocks + "; yes | head -c 20000000; "
                + "head -c 5000000 /dev/zero > large$OFFSTAGE_APP"
        )
        try floods.go()
        try floods.watch()
        try floods.settle()
        check(floods, "dd and yes")
        for number in 0..<count {
            let own = Files.status(floods.bench.home("largecommand.flood\(number)"))
            #expect(own?.size == 5_000_000)
            let log = AppLog(floods.bench.daemon.scratch("state/logs/command.flood\(number).log"))
            // What was cut last comes after a while.
            try Wait.until("the newest is kept", { try log.text(lines: 1) == "y\n" })
        }
        #expect(try floods.bench.answers())
        #expect(try floods.bench.nextRun("command.flood0")["result"] == "new data")
    }

    @Test func `what is handed over in large blocks is cut after the block`() throws {
        let floods = try Floods(2, by: "dd if=/dev/zero bs=64M count=4 2>> own")
        try floods.go()
        try floods.watch()
        try floods.settle()
        check(floods, "blocks of 64 MB", upTo: LogBounds.slack + 2 * (64 << 20))
        #expect(try floods.bench.answers())
    }

    @Test func `a daemon that stands still is no reason for a log to grow`() throws {
        let floods = try Floods(2, by: Self.blocks)
        let daemon = try PidFD(of: try #require(floods.bench.daemon.identity))
        try daemon.send(Signal.stop)
        try floods.go()
        try floods.watch()
        try floods.settle()
        try daemon.send(Signal.proceed)
        check(floods, "daemon stopped")
        #expect(try floods.bench.nextRun("command.flood0")["result"] == "new data")
    }

    @Test func `the keeper goes on when the daemon is killed in the middle of a flood`() throws {
        let floods = try Floods(2, by: Self.blocks)
        try floods.go()
        let log = floods.bench.daemon.scratch("state/logs/command.flood0.log")
        try Wait.until(file: log + ".1", "flooded")
        try floods.bench.kill()
        try floods.watch()
        try floods.settle()
        check(floods, "daemon killed")
    }

    @Test func `the daemon takes the place of a keeper that is killed, or stands still`() throws {
        for signal in [Signal.kill, Signal.stop] {
            let blocks = 20_000
            let floods = try Floods(2, by: "dd if=/dev/zero bs=64k count=\(blocks) 2>> own")
            let keeper = try #require(floods.bench.keeper)
            try PidFD(of: keeper).send(signal)
            if signal == Signal.kill { try Wait.untilGone(keeper) }
            try floods.go()
            try floods.watch()
            try floods.settle()
            // Noticed at once, or after a tenth of a second; but the daemon may have to wait for
            // its own disk first.
            tell(floods, signal == Signal.kill ? "keeper killed" : "keeper stopped")
            #expect(floods.peak < Int64(blocks) << 16, "half of what was written")
            #expect(try floods.bench.nextRun("command.flood0")["result"] == "new data")
            if signal == Signal.stop { try PidFD(of: keeper).send(Signal.proceed) }
        }
    }

    @Test func `with daemon and keeper killed a flood ends as it would, and the next bounds it`()
        throws
    {
        let floods = try Floods(2, by: "head -c 20000000 /dev/zero")
        let keeper = try #require(floods.bench.keeper)
        try floods.bench.kill()
        try PidFD(of: keeper).send(Signal.kill)
        try Wait.untilGone(keeper)
        try floods.go()
        try floods.watch()
        #expect(floods.look() > 2 * (10 << 20), "nobody was there")
        try floods.bench.daemon.start()
        try floods.settle()
    }

    @Test(.enabled(if: SlowDisk.isPossible, "only root can mount a disk and make it slow"))
    func `a slow disk lets no log grow, and keeps nobody waiting for the daemon`() throws {
        let disk = SlowDisk()
        // All of it has room on the disk.
        let blocks: Int64 = 10_000
        let flood = "dd if=/dev/zero bs=64k count=\(blocks) 2>> own"
        let floods = try Floods(2, by: flood) { directory in try disk.mount(at: directory) }
        defer { withExtendedLifetime(disk) {} }
        try floods.go()
        let log = floods.bench.daemon.scratch("state/logs/command.flood0.log")
        try Wait.until("flooded", { (Files.status(log)?.size ?? 0) > 0 || floods.areOver }) {
            guard try floods.bench.answers() else { throw DidNotHappen(description: "an answer") }
        }
        try floods.watch()
        try floods.settle()
        check(floods, "slow disk", upTo: blocks * (64 << 10) / 2)
        #expect(try floods.bench.nextRun("command.flood0")["result"] == "new data")
    }
}

/// A file system on a disk that takes four megabytes a second.
private final class SlowDisk {
    private let scratch = ScratchDirectory()
    private var place: String?
    private var device = ""
    /// Where the first version of cgroups keeps the speed of disks.
    private static let throttle = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device"

    static let isPossible: Bool = {
        let scratch = ScratchDirectory()
        guard Command.runsAsRoot, Files.exists(throttle) else { return false }
        do {
            let disk = SlowDisk()
            try disk.mount(at: scratch.path)
            return true
        } catch {
            return false
        }
    }()

    func mount(at place: String) throws {
        let image = scratch("image")
        try FileDescriptor(opening: image, [.writing, .create]).truncate(to: 1600 << 20)
        for command in [["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, place]] {
            guard try Command(command).run().succeeded else {
                throw DidNotHappen(description: command.joined(separator: " "))
            }
        }
        self.place = place
        let number = Files.status(place)?.device ?? 0
        device = "\(number >> 8 & 0xfff):\(number & 0xff)"
        try Files.set(Self.throttle, to: "\(device) 4000000")
    }

    deinit {
        if !device.isEmpty { try? Files.set(Self.throttle, to: "\(device) 0") }
        // Whoever still writes there keeps it.
        if let place { _ = try? Command("umount", "-l", place).run() }
    }
}
