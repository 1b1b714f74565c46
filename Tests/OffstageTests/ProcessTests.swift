import AppProtocol
import Foundation
import Linux
@testable import Offstage
import TestKit
import Testing
import Vocabulary

/// A whole app, in a process of its own.
struct ProcessTests {
    private let daemon: BenchDaemon

    init() throws { daemon = try BenchDaemon() }

    private func start(_ program: String, _ environment: [String: String] = [:]) throws -> App {
        try App(program, daemon, environment)
    }

    /// A sample that runs against the bench.
    private final class App {
        let process: PidFD
        let log: String
        private let scratch: ScratchDirectory

        init(
            _ program: String,
            _ daemon: BenchDaemon,
            _ environment: [String: String]
        ) throws {
            scratch = daemon.scratch
            log = daemon.scratch("log")
            _ = try? Files.makeDirectory(scratch("home"), permissions: 0o700)
            var command = Command(Products.path(of: program))
            command.environment = Command.cleanEnvironment(
                ["OFFSTAGE_SOCKET": daemon.socket, "HOME": scratch("home")]
                    .merging(environment) { $1 }
            )
            process = try command.start(logging: log)
        }

        deinit {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }

        @discardableResult
        func wait(for line: String) throws -> String {
            try Wait.until(file: log, line) { $0.split(separator: "\n").contains { $0 == line } }
        }

        var lines: [String] {
            ((try? Files.text(log, limit: 1 << 20)) ?? "").split(separator: "\n").map(String.init)
        }

        func end() throws -> ProcessExit? {
            try Wait.until(readable: process.descriptor.number, "end of the app")
            return try process.wait(block: true)
        }

        var threads: Int { (try? Files.list("/proc/\(process.pid)/task"))?.count ?? 0 }
    }

    @Test func aFrozenAppLosesNothing() throws {
        let app = try start("ColorFeed", ["COLORFEED_SECONDS": "0"])
        try daemon.next("FinishedLaunching")
        try app.process.send(Signal.stop)
        try Wait.until("stopped", { ProcessStatus(of: app.process.pid)?.isStopped == true }) {
            _ = try Command("true").run()
        }
        let offer = try daemon.say(
            "Offer",
            [1, "refresh", "com.colorfeed.refresh", [:]]
        )
        _ = try daemon.say("EnterBackground", [[:]])
        _ = try Command("true").run()
        #expect(!offer.hasCome, "it stands still")
        try app.process.send(Signal.proceed)
        _ = try offer.wait().get()
        try daemon.go(1)
        #expect(try daemon.next("Complete") == [1, "succeeded"])
        try app.wait(for: "refresh completed success=true colours=3")
    }

    @Test func anAppHasOneThreadMoreThanWithoutTheLibrary() throws {
        let app = try start("ColorFeed")
        try daemon.next("FinishedLaunching")
        // Built for the thread sanitizer, every program has one more.
        let plain = try Command(Products.path(of: "ProcessPeer"), "wait")
            .start(logging: daemon.scratch("plain.log"))
        defer {
            try? plain.send(Signal.kill)
            _ = try? plain.wait(block: true)
        }
        try Wait.until(file: daemon.scratch("plain.log")) { $0 == "waiting\n" }
        let count = try Files.list("/proc/\(plain.pid)/task").count + 1
        try Wait.until("\(count) threads, not \(app.threads)", { app.threads == count }) {
            _ = try Command("true").run()
        }
        let names = try Files.list("/proc/\(app.process.pid)/task").map {
            try Files.text("/proc/\(app.process.pid)/task/\($0)/comm", limit: 64)
        }
        #expect(Set(names) == ["ColorFeed\n", "org.offstage\n"])
        #expect(names.count { $0 == "org.offstage\n" } == 1)
    }

    @Test func anAppThatIsAskedToEndDoesAndBySignal() throws {
        let app = try start("ColorFeed")
        try daemon.next("FinishedLaunching")
        try app.process.send(Signal.terminate)
        #expect(try app.end() == .signalled(Signal.terminate))
    }

    @Test func withoutADaemonAnAppRunsInTheForeground() throws {
        try daemon.vanish()
        let app = try start("ColorFeed")
        try app.wait(for: "registered refresh=true dbcleaning=true")
        #expect(app.lines[0] == "launched background=false")
        try app.process.send(Signal.terminate)
        #expect(try app.end() == .signalled(Signal.terminate))
    }
}
