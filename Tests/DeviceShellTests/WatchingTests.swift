import AppProtocol
import Linux
import TestKit
import Testing
import Vocabulary

/// An app that watches its own history.
struct WatchingTests {
    @Test func `a suspended app is told nothing, and again what happens after it`() throws {
        let bench = try DaemonBench("suspend-delay = 0s\n", starting: false)
        try bench.manifest(
            "watcher",
            exec: "gdbus monitor --address unix:path=\(bench.daemon.socket) "
                + "--dest \(Control1.busName) --object-path \(Control1.path)",
            entry: "NoDisplay=true",
            "BackgroundModes=processing;\nProcessingCommand=true\nProcessingInterval=7d"
        )
        try bench.daemon.start()
        _ = try bench.nextRun("watcher")
        try bench.ask("Open", "watcher", [:])
        let log = bench.daemon.scratch("state/logs/watcher.log")
        try Wait.until(file: log) { $0.contains("is owned by") }
        // It asks for signals before it asks who owns the name; now it is told.
        try bench.ask("Run", "watcher", [:])
        _ = try bench.nextRun("watcher", after: 1)
        try Wait.until(file: log) { $0.contains("'run'") }
        let pid = try #require(bench.running("watcher")?["pid"]?.integerValue)
        let process = try #require(ProcessIdentity(of: Int32(pid)))
        try bench.ask("Leave", "watcher", [:])
        try bench.waitUntilFrozen(process)
        let told = try Files.text(log).split(separator: "\n").count
        try bench.ask("Run", "watcher", [:])
        _ = try bench.nextRun("watcher", after: 2)
        try bench.ask("Open", "watcher", [:])
        try bench.ask("Run", "watcher", [:])
        _ = try bench.nextRun("watcher", after: 3)
        let text = try Wait.until(file: log) {
            $0.split(separator: "\n").dropFirst(told).contains { $0.contains("'run'") }
        }
        let later = text.split(separator: "\n").dropFirst(told)
        #expect(later.count { $0.contains("'run'") } == 1, "\(text)")
    }
}
