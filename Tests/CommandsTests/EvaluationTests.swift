import DeviceCore
import Linux
import Simulator
import TestKit
import Testing
import Vocabulary
import Zlib

/// The policies on the days of four people who do not exist.
struct EvaluationTests {
    static let log = Document("Tests/Fixtures/usage/made-up/events.csv.gz").file

    static func people() throws -> [UserLog] {
        let packed = try Files.read(log)
        let text = try Gzip.decompress(packed, limit: 1 << 20)
        return try UserLog.read(text, data: "made-up")
    }

    @Test func baselinesAreThoseOfTheProgramThatTheBarsComeFrom() throws {
        let records = try Self.people().compactMap { UsageRecord($0) }
        #expect(records.count == 4)
        try Reference.expect(Reference.madeUp, of: records)
    }

    /// Of real people; not part of the project.
    static let realLogs = {
        let places = CurrentProcess.environment("USAGE") ?? "../shared/data/usage/*/events.csv.gz"
        return Files.matching(places).filter { $0.contains("/desktop-windows/") }
    }()

    private static func realPeople() throws -> [UserLog] {
        try realLogs.flatMap { path in
            let text = try Gzip.decompress(try Files.read(path), limit: 1 << 26)
            return try UserLog.read(text, data: "real")
        }
    }

    @Test(.enabled(if: !realLogs.isEmpty, "no logs of real people are here, and none by USAGE="))
    func onRealLogsBaselinesAreThoseOfTheProgramThatTheBarsComeFrom() throws {
        let person = try #require(try Self.realPeople().first { $0.user == "dsc-3" })
        try Reference.expect(Reference.real, of: [try #require(UsageRecord(person))])
    }

    @Test(.enabled(if: !realLogs.isEmpty, "no logs of real people are here, and none by USAGE="))
    func onRealLogsOffstageIsFresherThanWhatOnlyCountsOrDoesNotLearn() throws {
        var evaluation = Evaluation(Evaluation.Plan(budgets: [4], scopes: [.device]))
        for person in try Self.realPeople() { evaluation.add(person) }
        #expect(evaluation.users == 2)
        let rows = evaluation.rows.filter { $0.data == "all" }
        let offstage = try #require(rows.first { $0.policy == "offstage" })
        for policy in ["fixed", "waking", "histogram"] {
            let other = try #require(rows.first { $0.policy == policy })
            // By far: by its prior and by what it sees of the user.
            #expect(offstage.pooled > other.pooled + 5, "\(other), \(offstage)")
        }
    }

    @Test func whatTheDeviceDecidedIsDecidedAgain() throws {
        let person = try #require(try Self.people().first)
        let record = try #require(UsageRecord(person))
        var replay = DeviceReplay(record, logged: true)
        replay.warmUp()
        replay.score(budget: 4, scope: .device)
        #expect(!replay.refreshes.times.joined().isEmpty)
        var device = Device()
        for entry in try #require(replay.log) {
            var effects: [Effect] = []
            device.handle(entry.event, at: entry.moment, into: &effects)
            try #require(effects == entry.decisions)
        }
        // Figures are for a device on its battery.
        let power = Event.condition(.power, .kernel, .value(0))
        #expect(replay.log?.contains { $0.event == power } == true)
    }

    @Test func aMarkOfUTF8BeforeTheFirstLineIsNoPartOfIt() throws {
        let text = "\u{FEFF}user,kind,app,start,duration_s\na,app,b,2024-01-01T00:00:00,\n"
        #expect(try UserLog.read(Array(text.utf8), data: "").map(\.user) == ["a"])
    }

    @Test func whoIsLeftOutIsSaidWithTheRule() throws {
        let scratch = ScratchDirectory()
        let (short, page) = (scratch.path + "/short.csv", scratch.path + "/page.html")
        let lines = (10..<30).map { "eve,app,chat,2024-03-\($0)T08:00:00,60\n" }.joined()
        try Files.replace(short, with: "user,kind,app,start,duration_s\n" + lines)
        let alone = TestTerminal().run(["evaluate", short])
        #expect(alone.errors.contains("nobody's log is long enough"), "\(alone.errors)")
        #expect(alone.errors.contains("50 lines of apps, 10 days with use"))
        let drawn = TestTerminal().run(["evaluate", short, "--html", page, "--user", "eve"])
        #expect(drawn.errors.contains("the log of \"eve\" is too short"), "\(drawn.errors)")
        let beside = TestTerminal().run(
            ["evaluate", "--budget", "1", "--scope", "app", "--html", page, "--usage", short]
                + [Self.log]
        )
        #expect(beside.status == 0)
        #expect(beside.output.contains("each app, 4 people"), "\(beside.output)")
        #expect(beside.errors.hasPrefix("1 of 5 people left out"), "\(beside.errors)")
        #expect(try Files.text(page).contains("4 users (1 more left out"))
    }

    @Test func theCommandPrintsARowForEachPolicy() throws {
        let output = TestTerminal().run(
            ["evaluate", "--usage", Self.log, "--budget", "4", "--scope", "device"]
        ).output
        for policy in Evaluation.policies { #expect(output.contains(" \(policy) "), "\(output)") }
        #expect(output.contains("One budget for the device, 4 people"))
        try JSONTests.expect(
            "evaluate",
            TestTerminal().run(["evaluate", "--usage", Self.log, "--budget", "4", "--json"]).output
        )
    }

    @Test(arguments: [
        ([], "evaluate: no logs are named"),
        (["--usage", "/nowhere/*.csv"], "matches no file"),
        (["--usage", EvaluationTests.log, "--budget", "4,x"], "is not a list of numbers"),
        (["--usage", EvaluationTests.log, "--scope", "devise"], "device"),
        (["--wake-price", "16,1001", EvaluationTests.log], "list of numbers from 0 to 1000"),
        (["--purse=app", EvaluationTests.log], "--purse is now called --scope"),
        (["--user", "ada", EvaluationTests.log], "--user is for --html"),
        (["--html", "/nowhere/x.html", EvaluationTests.log], "there is no directory /nowhere"),
        (["--html", "/", EvaluationTests.log], "/ cannot be written: it is a directory"),
        (["--html", "/dev/null", EvaluationTests.log], "it is not a regular file"),
        (["--html", "/tmp/x.html", "--user", "adam", EvaluationTests.log], "Did you mean ada?"),
        (["--usage", Document("Tests/Fixtures/usage").file], "/usage/*/events.csv.gz'."),
    ])
    func mistakesAreSaid(_ arguments: [String], _ words: String) {
        let outcome = TestTerminal().run(["evaluate"] + arguments)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test(arguments: [
        ("user,app\n", 1, "the first line is not user,kind,app,start,duration_s"),
        ("a,app,b,2024-01-01T00:00:00\n", 2, "it has 4 fields and not 5"),
        ("a,app,b,2024-13-01T00:00:00,\n", 2, "is not a time"),
        ("a,app,b,2024-01-01T00:00:00,x\n", 2, "is not a number of seconds"),
        ("a,app,b,2024-01-01T00:00:00+01:00,\n", 2, "has an offset from UTC"),
        ("a,app,b,2024-01-01T00:00:00.25-0730,\n", 2, "has an offset from UTC"),
        ("a,app,b,2024-01-01T00:00:00Z,\n", 2, "has an offset from UTC"),
        ("a,app,b,2024-01-01,\n", 2, "is not a time"),
    ])
    func aLineThatCannotBeReadIsNamed(_ text: String, _ line: Int, _ reason: String) {
        let head = line > 1 ? "user,kind,app,start,duration_s\n" : ""
        let error = #expect(throws: UsageLogError.self) {
            try UserLog.read(Array((head + text).utf8), data: "")
        }
        #expect(error?.line == line)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
}
