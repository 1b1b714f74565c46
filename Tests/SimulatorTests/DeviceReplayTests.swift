import DeviceCore
import Simulator
import Testing
import Vocabulary

/// A device that lives through a log.
struct DeviceReplayTests {
    /// The same on each of 45 days: who, at which time of the day, for how long.
    private func record(
        _ uses: [(app: String, at: String, seconds: String)]
    ) throws -> UsageRecord {
        var text = "user,kind,app,start,duration_s\n"
        for day in 1...45 {
            let (month, date) = day > 30 ? ("10", day - 30) : ("09", day)
            for use in uses {
                text +=
                    "me,app,\(use.app),2026-\(month)-\(date < 10 ? "0" : "")\(date)T\(use.at),"
                    + "\(use.seconds)\n"
            }
        }
        let log = try #require(try UserLog.read(Array(text.utf8), data: "").first)
        return try #require(UsageRecord(log))
    }

    /// Fresh opens in percent.
    private func fresh(_ record: UsageRecord) -> Double {
        var replay = DeviceReplay(record)
        replay.warmUp()
        replay.score(budget: 24, scope: .device)
        let tally = Tally(replay.refreshes, of: record)
        return EvaluationRow(policy: "", scope: .device, budget: 24, data: "", [tally]).pooled
    }

    @Test(arguments: ["08:05:00", "08:05:00.001", "08:06:00"])
    func anAppThatIsLeftAtOnceIsRefreshedAgain(second: String) throws {
        let others = [("news", "12:30:00", ""), ("news", "18:40:00", "")]
        // What is opened at the same time ends the use before, of which no length is known.
        let morning = [("mail", "08:05:00", ""), ("news", second, "")]
        #expect(fresh(try record(morning + others)) == 100)
        #expect(fresh(try record(morning.map { ($0.0, $0.1, "0") } + others)) == 100)
    }

    @Test func atOneInstantWhatEndsIsToldBeforeWhatBegins() throws {
        let record = try record([
            ("mail", "08:00:00", "300"), ("news", "08:05:00", "0"), ("maps", "18:00:00", "60"),
        ])
        var replay = DeviceReplay(record, logged: true)
        replay.warmUp()
        // Of the first day: after what is told when the device starts.
        let words = (replay.log ?? []).dropFirst(3).compactMap { entry -> String? in
            let time = entry.moment.wall.nanoseconds / 1_000_000_000 % 86_400 / 60
            switch entry.event {
            case .user(.open(let app, _, _), _): return "\(time): \(app.name) opened"
            case .process(_, .exited): return "\(time): exit"
            case .condition(.idle, _, let value): return "\(time): idle \(value == .value(1))"
            default: return nil
            }
        }
        let day = words.prefix(12)
        // Apps by name: mail is 0, maps 1, news 2.
        #expect(
            day == [
                "480: idle false", "480: app0 opened", "485: exit", "485: app2 opened",
                "485: exit", "485: idle true", "1080: idle false", "1080: app1 opened",
                "1081: exit", "1081: idle true", "480: idle false", "480: app0 opened",
            ],
            "\(day)"
        )
    }
}
