import Linux
import TestKit
import Testing

/// What would wake an idle daemon, as the kernel lists it.
struct WakeUpTests {
    /// The timers of a process that fire within the next hour, as the kernel writes it.
    private func timers(of pid: Int32) throws -> [String] {
        let place = "/proc/\(pid)/fd"
        return try Files.list(place).filter {
            Files.linkTarget(place + "/" + $0) == "anon_inode:[timerfd]"
        }.compactMap { number in
            let text = try Files.text("/proc/\(pid)/fdinfo/\(number)")
            let line = text.split(separator: "\n").first { $0.hasPrefix("it_value: (") }
            return line.map { String($0.dropFirst("it_value: (".count).dropLast()) }
        }.filter { $0 != "0, 0" && (Int64($0.prefix { $0 != "," }) ?? 0) < 3600 }
    }

    /// By the second answer it has set its timers after the first.
    private func letItWork(_ bench: DaemonBench) throws {
        for _ in 0..<2 { try bench.ask("Status") }
    }

    @Test func `a peer that has authenticated, or has gone, leaves no timer behind`() throws {
        let bench = try DaemonBench()
        let pid = try #require(bench.daemon.identity?.pid)
        try letItWork(bench)
        try Wait.until("what belongs to the start is over", { try timers(of: pid).isEmpty })
        let peer = try UnixSocket.connect(to: bench.daemon.socket)
        try letItWork(bench)
        let before = try timers(of: pid)
        #expect(before.count == 1, "it is given some time")
        let user = "\(CurrentProcess.user)".utf8.map { String($0, radix: 16) }.joined()
        try peer.writeAll("\0AUTH EXTERNAL \(user)\r\nBEGIN\r\n")
        try letItWork(bench)
        let after = try timers(of: pid)
        #expect(after == [])
        do {
            let silent = try UnixSocket.connect(to: bench.daemon.socket)
            try letItWork(bench)
            let during = try timers(of: pid)
            #expect(during.count == 1)
            _ = consume silent
        }
        try letItWork(bench)
        let last = try timers(of: pid)
        #expect(last == [])
    }
}
