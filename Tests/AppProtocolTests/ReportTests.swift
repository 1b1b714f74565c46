@testable import AppProtocol
import Testing
import Vocabulary

/// Reports as one side writes them and the other reads them (docs/json.md).
struct ReportTests {
    private static let time = Report.Time(WallTime(nanoseconds: 1_700_000_000), utcOffset: 3600)

    private static let spent = Report.Spent {
        ($0.wakes, $0.seconds, $0.cpuSeconds) = (1, 2.5, 0.5)
    }

    private static let failures = Report.Failures {
        ($0.count, $0.since, $0.reason, $0.until) = (2, time, "exit status 1", time)
    }

    private static let decision = Report.Decision {
        ($0.chance, $0.price, $0.left, $0.budget, $0.together) = (0.5, 0.25, 3, 4, 1)
        ($0.scope, $0.because) = (Word(.app), Word(RefreshReason.turn))
    }

    private static let lastRun = Report.LastRun {
        ($0.at, $0.task, $0.outcome, $0.result) = (time, "t", Word(.failed), "failed")
        ($0.reason, $0.failed, $0.decision) = ("exit status 1", true, decision)
    }

    private static let app = Report.App {
        ($0.app, $0.name, $0.state, $0.modes) = (AppID("a"), "A", "closed", ["fetch"])
        ($0.problem, $0.file, $0.transient) = ("odd", "/a.desktop", true)
        ($0.lastUsed, $0.closed, $0.lastRun) = (time, time, lastRun)
        ($0.failures, $0.tasks, $0.today) = (failures, 2, spent)
    }

    private static let task = Report.Request {
        ($0.app, $0.name, $0.task, $0.kind) = (AppID("a"), "A", "t", "refresh")
        ($0.origin, $0.state, $0.submitted, $0.earliest) = ("command", Word(.waiting), time, time)
        ($0.everySeconds, $0.needs, $0.sentence, $0.next) = (60, ["power"], "It waits.", time)
        ($0.request, $0.userInitiated) = (5, true)
    }

    private static let condition = Report.Condition {
        ($0.condition, $0.value, $0.number, $0.sensing) = ("battery", "40 %", 40, Word(.known))
        ($0.source, $0.since, $0.choices, $0.documentation) = ("kernel", time, "0 to 100", "It is.")
    }

    private static let status = Report.Status {
        ($0.now, $0.paused) = (time, Report.Pause { ($0.since, $0.until) = (time, time) })
        $0.failing = [
            Report.FailingApp { ($0.app, $0.name, $0.failures) = (AppID("a"), "A", failures) }
        ]
        $0.running = [
            Report.Launch {
                ($0.app, $0.name, $0.launch, $0.state) = (AppID("a"), "A", LaunchID(7), "running")
                ($0.pid, $0.frozen, $0.trigger, $0.task) = (77, true, "refresh", "t")
                ($0.since, $0.seconds, $0.secondsLeft) = (time, 1.5, 28.5)
                ($0.backgroundTasks, $0.ending) = (["send"], "closed")
            }
        ]
        ($0.waiting, $0.conditions, $0.apps, $0.requests) = ([task], [condition], 3, 4)
        $0.today = spent
    }

    private static let explanation = Report.Explanation {
        ($0.app, $0.name, $0.task, $0.state) = (AppID("a"), "A", "t", Word(.waiting))
        ($0.sentence, $0.next, $0.lastRun) = ("It waits.", time, lastRun)
        $0.holds = [
            Report.Hold {
                ($0.gate, $0.title, $0.value, $0.needed) = ("power", "no power", "off", "on")
                ($0.since, $0.next, $0.fix) = (time, time, "plug it in")
            }
        ]
        $0.held = [
            Report.HoldTime {
                ($0.gate, $0.title, $0.since, $0.until) = ("power", "no power", time, time)
            }
        ]
        $0.forecast = Report.Forecast {
            ($0.chance, $0.price, $0.left, $0.budget) = (0.5, 0.25, 3, 4)
            ($0.scope, $0.likelyAt, $0.likelyChance) = (Word(.app), time, 0.75)
            ($0.blocker, $0.expectedAt) = (Word(RefreshBlocker.price), time)
        }
    }

    private static let line = Report.HistoryLine {
        ($0.at, $0.app, $0.what, $0.id) = (time, AppID("a"), Word(.run), 9)
        ($0.launch, $0.trigger, $0.task, $0.resumed) = (LaunchID(7), "refresh", "t", true)
        ($0.simulated, $0.result, $0.reason) = (true, "failed", "odd")
        $0.outcome = Word(HistoryOutcome.failed)
        ($0.seconds, $0.cpuSeconds, $0.memory, $0.decision) = (2, 0.5, 4096, decision)
        ($0.stop, $0.mistake) = (Word(StopReason.timeout), Word(AppMistake.letGo))
        $0.subject = "t"
    }

    private static let setting = Report.Setting {
        ($0.setting, $0.app, $0.value, $0.default) = ("background-refresh", AppID("a"), "on", "on")
        ($0.choices, $0.documentation, $0.enforced, $0.unknown) = (
            "on or off", "It is.", true, true
        )
    }

    private static let gate = Report.Gate {
        ($0.gate, $0.title, $0.cells, $0.kind) = ("power", "no power", ["F": "ask"], "rule")
    }

    private static let mode = Report.Mode {
        ($0.mode, $0.trigger, $0.grant) = ("fetch", "its quiet period", "30 s")
        ($0.rate, $0.appGets, $0.works) = ("often", "nothing", true)
    }

    private static let check = Report.Check {
        ($0.name, $0.isGood, $0.found, $0.lost, $0.fix) = ("bus", true, "none", "all", "start it")
    }

    /// Each kind with every field, and the fields that it may lack.
    private static let reports: [(report: any ReportFields, optional: Set<String>)] = [
        (status, ["paused"]),
        (
            app,
            ["problem", "file", "lastUsed", "closed", "lastRun", "failures"]
        ),
        (
            task,
            ["submitted", "earliest", "everySeconds", "next", "request", "userInitiated"]
        ),
        (explanation, ["task", "next", "lastRun", "forecast"]),
        (
            line,
            [
                "id", "launch", "trigger", "task", "resumed", "simulated", "outcome", "result",
                "reason", "seconds", "cpuSeconds", "memory", "decision", "stop", "mistake",
                "subject",
            ]
        ),
        (condition, ["value", "number", "source", "since"]),
        (setting, ["app", "enforced", "unknown"]), (gate, []),
        (mode, []), (check, ["lost", "fix"]), (lastRun, ["at", "reason", "decision", "failed"]),
        (decision, ["budget", "because"]), (failures, ["since", "until"]), (spent, []),
    ]

    private static func checkReading<Report: ReportFields>(
        _ report: Report,
        _ optional: Set<String>
    ) throws {
        let values = try Reported(report).values
        let map = try #require(values.first?.mapValue)
        let read = try Reported<Report>(values)
        #expect(read.report == report)
        #expect(try [read].values == [.list(values)])
        #expect(try [Reported<Report>]([.list(values)]) == [read])
        for key in map.keys {
            var less = map
            less[key] = nil
            do throws(ValueError) {
                _ = try Reported<Report>([.map(less)])
                #expect(optional.contains(key), "\(Report.self) without \(key)")
            } catch {
                #expect(!optional.contains(key) && error.reason == .missing && error.path == key)
            }
        }
        var more = map
        more["later"] = ["more": 1]
        let later = try Reported<Report>([.map(more)])
        #expect(try later.report == report && later.values == [.map(more)])
    }

    @Test func `what is written is read as it was, whatever a later version adds`() throws {
        for (report, optional) in Self.reports { try Self.checkReading(report, optional) }
    }

    @Test func `a field of the reports inside another is as needed as its own`() throws {
        var running = try #require(try Reported(Self.status).values[0]["running"]?[0]?.mapValue)
        running["launch"] = nil
        var status = try #require(try Reported(Self.status).values[0].mapValue)
        status["running"] = [.map(running)]
        let error = #expect(throws: ValueError.self) {
            try Reported<Report.Status>([.map(status)])
        }
        #expect(error?.path == "running[0].launch")
    }

    @Test func `a kind of line that a newer daemon has is told on as it came`() throws {
        let values: [Value] = [
            [
                "at": "2026-03-01T08:00:00Z", "app": "a", "what": "moved", "outcome": "postponed",
            ]
        ]
        let line = try Reported<Report.HistoryLine>(values)
        #expect(line.what.known == nil && line.what.text == "moved")
        #expect(line.outcome?.known == nil && line.outcome?.text == "postponed")
        #expect(try line.values == values)
    }
}
