import Foundation
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// The apps in `Examples/` under the real daemon, with a web server to look at.
struct ExampleAppTests {
    private let web: WebServer

    init() throws { web = try WebServer() }

    private static let refresh = "org.offstage.feedreader.refresh"
    private static let cleaning = "org.offstage.feedreader.cleaning"

    /// `seconds`: how long it lets pass before it wants to be refreshed again.
    private func feedReader(refreshedAfter seconds: String = "900") throws -> SampleApp {
        let reader = try SampleApp(
            "feedreader",
            """
            BackgroundModes=fetch;processing;
            PermittedTaskIdentifiers=\(Self.refresh);\(Self.cleaning);
            """,
            environment: "FEEDREADER_INTERVAL=\(seconds);"
        )
        try reader.bench.daemon.scratch.write(
            "home/.local/share/feedreader/feeds",
            "# What this user reads.\n\(web.address(of: "feed"))\n"
        )
        try reader.bench.set("network", "on")
        return reader
    }

    /// The feed lists these; `age` is in days.
    private func publish(_ posts: (title: String, age: Double)...) throws {
        let format = ISO8601DateFormatter()
        let entries = posts.map { title, age in
            """
            <entry><id>\(title)</id><title>\(title)</title><link href="/\(title)"/>
            <published>\(format.string(from: Date() - age * 86_400))</published></entry>
            """
        }
        try web.put("feed", "<feed>\(entries.joined())</feed>")
    }

    private func gates(_ app: SampleApp, _ task: String) throws -> [String] {
        let options: Value = ["task": .string(task)]
        let explanation = try app.bench.ask("Explain", .string(app.name), options)[0]
        return explanation?["holds"]?.listValue?.compactMap { $0["gate"]?.stringValue } ?? []
    }

    private func time(_ value: Value?) throws -> Date {
        try #require(value?.stringValue.flatMap(ISO8601DateFormatter().date(from:)))
    }

    // MARK: The app of docs/porting.md

    /// The keys of one group of an example's manifest.
    private static func group(_ name: String, of manifest: String) throws -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/")
        let lines = try Files.text(root + "/Examples/" + manifest).split(separator: "\n")
        return lines.drop { $0 != "[\(name)]" }.dropFirst().prefix { !$0.hasPrefix("[") }
            .joined(separator: "\n")
    }

    @Test func `the ported app refreshes, cleans and is suspended, as its page says`() throws {
        let (refresh, cleaning) = ("com.example.tides.refresh", "com.example.tides.cleaning")
        let tides = try SampleApp(
            "tides",
            try Self.group("X-Offstage", of: "Tides/tides.desktop"),
            environment: "TIDES=\(web.address(of: "today.txt"));"
        )
        try tides.bench.set("power", "off")
        let next = "2999-01-01T12:00:00Z high"
        try web.put("today.txt", "2020-01-01T06:00:00Z low\n\(next)\n")
        // By print, into a file: it is in the log at once.
        try tides.open(saying: "no table yet")
        try tides.leave()
        try tides.waitUntilSuspended()
        #expect(try tides.task(refresh)?["kind"] == "refresh")
        #expect(try tides.task(cleaning)?["needs"]?.listValue == ["power"])

        try tides.launch(refresh)
        try tides.wait(for: "2 tides")
        let first = try tides.bench.nextRun(tides.name)
        #expect(first["result"] == "completed" && first["task"] == .string(refresh), "\(first)")
        try tides.waitUntilSuspended()
        try tides.launch(cleaning, as: "processing")
        try tides.wait(for: "cleaned")
        let second = try tides.bench.nextRun(tides.name, after: 1)
        #expect(second["result"] == "completed" && second["task"] == .string(cleaning))
        try tides.waitUntilSuspended()
        // What was over has gone.
        try tides.open(saying: next)
        #expect(tides.bench.read(".local/share/com.example.tides.txt") == next)
    }

    // MARK: J1

    @Test func `posts are there before they are looked for, and are marked new once`() throws {
        let reader = try feedReader(refreshedAfter: "1")
        try publish(("First", 3), ("Second", 2))
        // Until the feed has something new.
        try reader.bench.set("network", "off")
        try reader.open(saying: "● First")
        #expect(
            reader.lines == [
                "launched", "0 posts, 0 new", "2 new posts", "2 posts, 2 new", "● Second",
                "● First",
            ]
        )
        try reader.leave()
        try reader.waitUntilSuspended()
        #expect(try gates(reader, Self.refresh).contains("network"))

        try publish(("First", 3), ("Second", 2), ("Third", 1))
        try reader.bench.set("network", "on")
        try reader.wait(for: "in the background: 1 new posts")
        let run = try reader.bench.nextRun(reader.name)
        #expect(run["result"] == "completed" && run["resumed"] == true, "\(run)")
        #expect(run["task"] == .string(Self.refresh) && run["simulated"] == false, "\(run)")
        #expect(run["cpuSeconds"]?.doubleValue ?? 0 > 0, "what a short run costs too: \(run)")
        #expect(try reader.task(Self.refresh) != nil, "it asked for the next one")
        try reader.bench.set("network", "off")
        try reader.waitUntilSuspended()

        let known = reader.lines.count
        try reader.open(saying: "0 new posts")
        #expect(
            reader.lines.dropFirst(known) == [
                "3 posts, 1 new", "● Third", "  Second", "  First", "0 new posts",
            ]
        )
        #expect(web.answers(304) > 0, "what has not changed is not sent again")
        #expect(web.answers(200) == 2)
        try reader.leave()
        try reader.waitUntilSuspended()
        try reader.open(saying: "3 posts, 0 new")
    }

    @Test func `a feed that cannot be read is told as a failure, with the reason`() throws {
        let reader = try feedReader()
        try publish(("First", 1))
        try reader.open(saying: "● First")
        try reader.leave()
        try reader.waitUntilSuspended()
        try web.remove("feed")
        try reader.launch(Self.refresh)
        let run = try reader.bench.nextRun(reader.name)
        #expect(run["result"] == "completed without success", "\(run)")
        #expect(
            reader.lines.last
                == "in the background: 0 new posts; \(web.address(of: "feed")): it answered 404"
        )
    }

    // MARK: J2

    @Test func `cleaning is asked for once a week, and done on external power`() throws {
        let reader = try feedReader()
        let bench = reader.bench
        try bench.set("power", "off")
        try bench.set("idle", "on")
        try publish(("Old", 60), ("Listed", 50), ("New", 1))
        try reader.open(saying: "● Old")
        try reader.leave()
        try reader.waitUntilSuspended()
        try publish(("Listed", 50), ("New", 1))
        try reader.open(saying: "0 new posts")
        try reader.leave()
        try reader.waitUntilSuspended()
        let task = try #require(try reader.task(Self.cleaning))
        #expect(task["kind"] == "processing" && task["needs"]?.listValue == ["power"])
        #expect(try gates(reader, Self.cleaning) == ["external-power"])
        #expect(try bench.runs(reader.name).isEmpty)

        try bench.set("power", "on")
        try reader.wait(for: "cleaned, 1 posts went")
        let run = try bench.nextRun(reader.name)
        #expect(run["result"] == "completed" && run["task"] == .string(Self.cleaning), "\(run)")
        #expect(run["simulated"] == false)
        try reader.waitUntilSuspended()
        // Held for what follows.
        try bench.set("power", "off")

        let database = try Database(
            path: bench.home(".local/share/feedreader/posts.db"),
            mode: .readWrite,
            busyTimeout: 10_000
        )
        var opened = 1
        for (days, isDue) in [(0, false), (6, false), (1, true)] {
            try database.execute("UPDATE cleaning SET at = at - \(days * 86_400)")
            let known = reader.lines.count
            opened += 1
            try reader.open(saying: "0 new posts", times: opened)
            #expect(
                reader.lines.dropFirst(known).prefix(3) == [
                    "2 posts, 0 new", "  New", "  Listed",
                ],
                "what its feed still lists stays"
            )
            try reader.leave()
            try reader.waitUntilSuspended()
            #expect(try (reader.task(Self.cleaning) != nil) == isDue, "\(days) days later")
        }
        #expect(try gates(reader, Self.cleaning) == ["external-power"])
    }

    // MARK: J8

    @Test func `a weather station is looked at once an hour at most`() throws {
        let station = try SampleApp(
            "weatherstation",
            "BackgroundModes=fetch;",
            environment: "WEATHER_STATION=\(web.address(of: "now.json"));"
        )
        let bench = station.bench
        try bench.set("network", "on")
        try bench.ask("Open", .string(station.name), [:])
        try bench.wait(until: "its interval is known") {
            try bench.ask("Tasks", .string(station.name)).listValue?.isEmpty == false
        }
        try station.leave()
        try station.waitUntilSuspended()

        /// The quiet period that holds it: an hour from its beginning.
        func quiet() throws -> (since: Date, next: Date) {
            let explanation = try bench.explain(station.name)
            let holds = explanation["holds"]?.listValue ?? []
            let hold = try #require(holds.first { $0["gate"] == "quiet" }, "\(explanation)")
            #expect(explanation["state"] == "waiting" && hold["needed"] == "1h")
            let period = (since: try time(hold["since"]), next: try time(hold["next"]))
            #expect(abs(period.next.timeIntervalSince(period.since) - 3600) <= 1)
            #expect(try time(explanation["next"]) >= period.next)
            return period
        }
        var last = try quiet()
        #expect(try bench.runs(station.name).isEmpty, "opening it was a use")

        try web.put("now.json", #"{"time": "12:00", "celsius": 11.5}"#)
        let looks = [
            (says: "12:00 11.5", result: "new data"), (says: "nothing new", result: "no data"),
            (says: "no answer from the station", result: "failed"),
        ]
        for (number, look) in looks.enumerated() {
            if look.result == "failed" { try web.remove("now.json") }
            // The user asks for it; the quiet period after it is the same.
            try bench.ask("Run", .string(station.name), [:])
            let run = try bench.nextRun(station.name, after: number)
            #expect(run["result"] == .string(look.result) && run["trigger"] == "refresh", "\(run)")
            #expect(run["simulated"] == false)
            #expect(station.lines.last?.hasPrefix(look.says) == true, "\(station.lines)")
            try station.waitUntilSuspended()
            let period = try quiet()
            #expect(period.since >= last.since)
            last = period
        }
        #expect(try bench.runs(station.name).count == looks.count)
        #expect(bench.read(".local/share/weatherstation/record") == "12:00 11.5\n")
    }
}
