import DeviceCore
import Foundation
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The samples, which know nothing of how this is built, under the real daemon: all that the
/// comments at their heads promise.
struct SampleAppTests {
    // MARK: ColorFeed

    private static let refresh = SampleApp.refresh
    private static let cleaning = SampleApp.cleaning

    /// Opened and left; suspended.
    private func suspendedColorFeed(seconds: String = "0.1") throws -> SampleApp {
        let sample = try SampleApp.colorFeed(seconds: seconds)
        try sample.open(saying: "registered refresh=true dbcleaning=true")
        #expect(sample.lines == ["launched background=false", sample.lines.last])
        try sample.leave()
        try sample.wait(for: "scheduled refresh")
        try sample.wait(for: "scheduled cleaning")
        try sample.waitUntilSuspended()
        return sample
    }

    @Test func `left, it has asked for its tasks, and is suspended`() throws {
        let before = Date()
        let sample = try suspendedColorFeed()
        let refresh = try #require(try sample.task(Self.refresh))
        #expect(refresh["kind"] == "refresh")
        let earliest = try #require(
            refresh["earliest"]?.stringValue.flatMap(ISO8601DateFormatter().date(from:))
        )
        #expect(earliest.timeIntervalSince(before) >= 899)
        let cleaning = try #require(try sample.task(Self.cleaning))
        #expect(cleaning["kind"] == "processing")
        #expect(cleaning["needs"]?.listValue == ["power"])
        // Once a week at most: only after it was cleaned is it not needed.
        #expect(!sample.lines.contains("cleaning not needed"))
    }

    @Test func `a refresh asks for the next one, adds colours, and is suspended again`() throws {
        let sample = try suspendedColorFeed()
        for number in 1...2 {
            try sample.launch(Self.refresh)
            try sample.wait(for: "refresh completed success=true colours=\(3 * number)")
            let run = try sample.bench.nextRun(sample.name, after: number - 1)
            #expect(run["result"] == "completed" && run["task"] == .string(Self.refresh))
            #expect(run["resumed"] == true)
            try sample.waitUntilSuspended()
            #expect(try sample.task(Self.refresh)?["state"] != nil, "the next one waits")
        }
        let lines = sample.lines
        let started = try #require(lines.firstIndex(of: "refresh started"))
        #expect(lines[started + 1] == "scheduled refresh", "before its work")
        #expect(try sample.bench.runs(sample.name).count == 2, "each completed once")
        #expect(!sample.bench.daemon.log.contains("twice"))
    }

    @Test func `not running it is launched in the background for its task`() throws {
        let sample = try suspendedColorFeed()
        let process = try sample.process()
        try sample.bench.ask("Close", .string(sample.name), [:])
        try Wait.untilGone(process)
        try sample.bench.wait(until: "gone") {
            try sample.bench.running(sample.name) == nil
        }
        try sample.launch(Self.refresh)
        try sample.wait(for: "launched background=true")
        try sample.wait(for: "registered refresh=true dbcleaning=true", times: 2)
        try sample.wait(for: "refresh completed success=true colours=3")
        #expect(try sample.bench.nextRun(sample.name)["resumed"] == false)
        try sample.waitUntilSuspended()
    }

    /// One in the middle of a refresh, which has asked for the next.
    private func refreshingColorFeed(seconds: String) throws -> SampleApp {
        let sample = try suspendedColorFeed(seconds: seconds)
        try sample.launch(Self.refresh)
        try sample.wait(for: "refresh started")
        try sample.wait(for: "scheduled refresh", times: 2)
        return sample
    }

    @Test func `expired it says so, and completes without success`() throws {
        let sample = try refreshingColorFeed(seconds: "3600")
        try sample.bench.ask("Simulate", "expire", .string(sample.name), [:])
        try sample.wait(for: "refresh expired")
        try sample.wait(for: "refresh completed success=false colours=0")
        let run = try sample.bench.nextRun(sample.name)
        #expect(run["result"]?.stringValue?.hasPrefix("expired") == true, "\(run)")
        try sample.waitUntilSuspended()
    }

    @Test func `the scheduler runs the cleaning when there is power and nobody is there`() throws {
        let sample = try suspendedColorFeed()
        try sample.launch(Self.refresh)
        try sample.wait(for: "refresh completed success=true colours=3")
        try sample.waitUntilSuspended()
        try sample.bench.set("power", "on")
        try sample.bench.set("idle", "on")
        // The one of two days ago is gone.
        try sample.wait(for: "cleaning completed success=true colours=2")
        let run = try sample.bench.nextRun(sample.name, after: 1)
        #expect(run["result"] == "completed" && run["task"] == .string(Self.cleaning), "\(run)")
        #expect(run["simulated"] != true)
        try sample.waitUntilSuspended()
        // Once a week at most.
        try sample.bench.ask("Open", .string(sample.name), [:])
        try sample.leave()
        try sample.wait(for: "cleaning not needed")
    }

    @Test func `a task outlives the daemon, which learns how it ended`() throws {
        let sample = try refreshingColorFeed(seconds: "1.5")
        let process = try sample.process()
        try sample.bench.restart()
        try sample.wait(for: "refresh completed success=true colours=3")
        let run = try sample.bench.nextRun(sample.name)
        #expect(run["result"] == "completed", "\(run)")
        #expect(try sample.process() == process)
        try sample.bench.waitUntilFrozen(process)
        #expect(sample.lines.count { $0 == "refresh started" } == 1)
    }

    // MARK: Clowntown

    private func clowntown(seconds: String = "0", signedIn: Bool = true) throws -> SampleApp {
        let sample = try SampleApp(
            "Clowntown",
            "BackgroundModes=fetch;",
            environment: "CLOWNTOWN_SECONDS=\(seconds);"
        )
        try sample.write(
            "Clowntown",
            "BackgroundModes=fetch;",
            environment: "CLOWNTOWN_SECONDS=\(seconds);CLOWNTOWN_FEED=\(sample.bench.home("feed"));"
        )
        try sample.bench.ask("Reload")
        try feed(sample, 1)
        if signedIn {
            try sample.bench.daemon.scratch.write(
                "home/.local/share/clowntown/account",
                "me\n"
            )
        }
        return sample
    }

    /// The feed has so many posts.
    private func feed(_ sample: SampleApp, _ count: Int) throws {
        let posts = (1...count).map {
            "{\"id\": \($0), \"clown\": \"Bubbles\", \"text\": \"Honk\"}"
        }
        try sample.bench.daemon.scratch.write(
            "home/feed",
            "[\(posts.joined(separator: ","))]"
        )
    }

    private func fetch(_ sample: SampleApp) throws {
        try sample.bench.ask("Simulate", "fetch", .string(sample.name), [:])
    }

    @Test func `each fetch is completed with what it found, launched and resumed`() throws {
        let sample = try clowntown()
        try sample.open(saying: "pulled 1")
        try sample.wait(for: "interval minimum")
        try sample.leave()
        try sample.waitUntilSuspended()
        #expect(try sample.bench.ask("Tasks", .string(sample.name)).listValue?.isEmpty == false)

        try feed(sample, 3)
        try fetch(sample)
        try sample.wait(for: "fetched 2 newData")
        var run = try sample.bench.nextRun(sample.name)
        #expect(run["result"] == "new data" && run["resumed"] == true, "\(run)")
        try sample.waitUntilSuspended()
        try fetch(sample)
        try sample.wait(for: "fetched 0 noData")
        #expect(try sample.bench.nextRun(sample.name, after: 1)["result"] == "no data")
        try sample.waitUntilSuspended()

        let process = try sample.process()
        try sample.bench.ask("Close", .string(sample.name), [:])
        try Wait.untilGone(process)
        try sample.bench.wait(until: "gone") {
            try sample.bench.running(sample.name) == nil
        }
        try Files.remove(sample.bench.home("feed"))
        try fetch(sample)
        try sample.wait(for: "launched background=true")
        try sample.wait(for: "fetch failed")
        run = try sample.bench.nextRun(sample.name, after: 2)
        #expect(run["result"] == "failed" && run["resumed"] == false, "\(run)")
        try sample.waitUntilSuspended()
        #expect(sample.lines.count { $0 == "fetch" } == 3)
    }

    @Test func `a fetch and a pull overlap, and each completes for itself`() throws {
        let sample = try clowntown(seconds: "0.5")
        // In the background: its fetch is under way when its user comes.
        try fetch(sample)
        try sample.wait(for: "fetch")
        try sample.bench.ask("Open", .string(sample.name), [:])
        try sample.wait(for: "interval minimum")
        try Wait.until(file: sample.log, "both completions") { text in
            let lines = text.split(separator: "\n")
            return lines.contains { $0.hasPrefix("fetched ") }
                && lines.contains { $0.hasPrefix("pulled ") }
        }
        let run = try sample.bench.nextRun(sample.name)
        #expect(["new data", "no data"].contains(run["result"]), "\(run)")
        #expect(try sample.bench.runs(sample.name).count == 1)
    }

    @Test func `signed out it wants no wake, and gets none`() throws {
        let sample = try clowntown(signedIn: false)
        try sample.open(saying: "interval never")
        try sample.leave()
        try sample.waitUntilSuspended()
        #expect(try sample.bench.ask("Tasks", .string(sample.name)).listValue?.isEmpty == true)
    }

    @Test func `a fetch that takes longer than its grant ends the app`() throws {
        let sample = try SampleApp(
            "Clowntown",
            "BackgroundModes=fetch;",
            settings: "wake-grant = 2s\nexpiry-warning = 1s\n",
            environment: "CLOWNTOWN_SECONDS=3600;"
        )
        try sample.open(saying: "launched background=false")
        try sample.leave()
        try sample.waitUntilSuspended()
        let process = try sample.process()
        try fetch(sample)
        try sample.wait(for: "fetch")
        try Wait.untilGone(process)
        let run = try sample.bench.nextRun(sample.name)
        #expect(run["result"]?.stringValue?.hasPrefix("terminated") == true, "\(run)")
    }
}
