import Linux
import Simulator
import TestKit
import Testing
import Vocabulary

@testable import Commands

/// What a real daemon saw, as the evaluation reads it.
struct OwnUsageTests {
    private let daemon: ScratchDaemon

    init() throws {
        daemon = try ScratchDaemon(settings: DaemonTests.calm)
        for (name, lines) in [
            ("player", ""), ("reader", "BackgroundModes=fetch;\nUseFrom=file:~/state"),
            ("feeds", "BackgroundModes=fetch;\nUseFrom=file:~/feeds"),
        ] {
            try daemon.write(
                manifest: name,
                """
                [Desktop Entry]
                Type=Application
                Name=\(name)
                Exec=true
                [X-Offstage]
                \(lines)

                """
            )
        }
        for name in ["state", "feeds"] { try daemon.scratch.write("home/" + name, "") }
    }

    private func offstage(_ line: String) throws -> Command.Outcome {
        var command = Command(
            [Products.path(of: "offstage")] + line.split(separator: " ").map(String.init)
        )
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        return try command.run()
    }

    /// The history, the oldest line first, once it has so many lines that tell this of the app.
    private func history(_ app: String, _ what: String, _ count: Int = 1) throws -> [Value] {
        var lines: [Value] = []
        try Wait.until(file: daemon.scratch("state/events.log"), "\(app) \(what)") { _ in
            guard let text = try? offstage("history --json").output,
                let all = try? ValueJSON.parse(text).listValue
            else { return false }
            lines = all.reversed()
            return lines.count { $0["app"]?.stringValue == app && $0["what"]?.stringValue == what }
                >= count
        }
        return lines
    }

    @Test func whatIsExportedIsReadWithTheSameUses() throws {
        try daemon.start()
        #expect(try offstage("export-usage").output == "user,kind,app,start,duration_s\n")
        #expect(try offstage("open player").succeeded)
        _ = try history("player", "ended")
        for (app, file) in [("reader", "state"), ("feeds", "feeds")] {
            try FileDescriptor(opening: daemon.scratch("home/" + file), [.writing, .append])
                .writeAll("used")
            _ = try history(app, "seen")
        }
        let lines = try history("feeds", "seen").filter {
            ["opened", "seen"].contains($0["what"])
        }
        let export = try offstage("export-usage --user own")
        #expect(export.succeeded && export.errors.isEmpty, "\(export)")
        let log = try #require(try UserLog.read(Array(export.output.utf8), data: "").first)
        #expect(log.user == "own")
        #expect(lines.count >= 3)
        // By the clock of the zone, whatever that is.
        let told = lines.compactMap { line in
            line["at"]?.stringValue.flatMap { WallTime(rfc3339: $0.prefix(19) + "Z") }.map {
                "\(line["app"]?.stringValue ?? "") \($0.nanoseconds / 1_000_000_000)"
            }
        }
        let read = log.events.map { "\(log.names[$0.app]) \(Int64($0.start))" }
        #expect(read == told)
        for event in log.events {
            #expect(event.kind == .app && event.start == event.start.rounded())
            // Of the use of a file only the beginning is known.
            #expect((event.duration == nil) == (log.names[event.app] != "player"))
        }
    }
}
