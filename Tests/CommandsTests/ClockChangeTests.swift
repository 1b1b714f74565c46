import Commands
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// Points in time of the other half of the year: clocks are set in between.
struct ClockChangeTests {
    /// In March in Berlin, where it is winter.
    private var terminal: TestTerminal {
        var terminal = TestTerminal()
        terminal.now.zone = Zones.berlin
        return terminal
    }

    @Test func `a date that is typed is printed as it was typed`() throws {
        let control = CoreControl(at: terminal.now)
        let line = "submit --refresh --after 2026-07-01T12:00 --id mail -- true"
        let said = terminal.run(line, control)
        #expect(said.output.contains("is stored and begins 2026-07-01 12:00 or later;"), "\(said)")
        let fields = try #require(control.calls.last?.arguments.first)
        let seconds = try #require(fields["earliest"]?.doubleValue)
        let earliest = try #require(WallTime(secondsSince1970: seconds))
        let submission = Submission(
            identifier: "mail",
            kind: .refresh,
            earliest: earliest,
            command: ["true"]
        )
        control.send(.user(.submit(submission), reply: ReplyToken(1)))
        let explained = terminal.run("explain command.mail", control).output
        #expect(explained.contains("2026-07-01 at 12:00"), "\(explained)")
        #expect(explained.contains("2026-07-01 12:00"), "\(explained)")
        #expect(!explained.contains("2026-07-01 at 11"), "\(explained)")
        let json = terminal.run("explain command.mail --json", control).output
        #expect(json.contains("\"2026-07-01T12:00:00+02:00\""), "\(json)")
        let tasks = terminal.run("tasks", control).output
        #expect(!tasks.contains("2026-07-01 11"), "\(tasks)")
    }

    /// What a list of July says is asked for in December.
    @Test func `a time that is printed is found again when it is typed`() throws {
        let time = try #require(LocalTime("2026-07-01 12:00:00")).wall(utcOffset: 7200)
        var later = terminal
        later.now.wall = try #require(LocalTime("2026-12-01 09:00")).wall(utcOffset: 3600)
        let texts = [
            Times.stamp(time, at: later.now), Times.text(time, at: later.now),
            Report.Time(time, at: later.now).rawValue,
        ]
        #expect(texts[0] == "2026-07-01 12:00:00")
        for text in texts {
            let typed = try #require(TypedTime(text), "\(text)")
            let found = typed.wall(.past, of: later.now.wall, zone: later.now.utcOffset)
            #expect(found == time, "\(text)")
        }
    }

    /// Each form in which these programs print a point in time, within a week.
    @Test func `the text of a column is typed as it stands there`() throws {
        let now = terminal.now
        for hours in [-30, -12, 2, 12, 30, 75, 140] as [Int64] {
            let time = now.wall + .hours(hours)
            let text = Times.text(time, at: now)
            let typed = try #require(TypedTime(text), "\(text)")
            let side: TypedTime.Side = hours < 0 ? .past : .future
            #expect(typed.wall(side, of: now.wall, zone: now.utcOffset) == time, "\(text)")
        }
    }

    /// By the programs, in a zone that is told to them: one of the two is in the other half.
    @Test func `the programs and their daemon say a date in the other half alike`() throws {
        let year = Clocks.year + 1
        let zone = ["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"]
        let daemon = try ScratchDaemon(settings: DaemonTests.calm)
        daemon.environment = zone
        try daemon.start()
        for (name, date) in [("winter", "\(year)-01-15"), ("summer", "\(year)-07-15")] {
            func offstage(_ arguments: String...) throws -> String {
                var command = Command([Products.path(of: "offstage")] + arguments)
                command.environment = Command.cleanEnvironment(
                    zone.merging(["OFFSTAGE_SOCKET": daemon.socket]) { $1 }
                )
                return try command.run().output
            }
            let stored = try offstage(
                "submit",
                "--refresh",
                "--after",
                "\(date) 12:00",
                "--id",
                name,
                "--",
                "true"
            )
            #expect(stored.contains("begins \(date) 12:00 or later"), "\(stored)")
            let explained = try offstage("explain", name)
            #expect(explained.contains("\(date) at 12:00"), "\(explained)")
            #expect(explained.contains("\(date) 12:00"), "\(explained)")
        }
    }
}

extension Clocks {
    fileprivate static var year: Int64 { now().local.date.year }
}
