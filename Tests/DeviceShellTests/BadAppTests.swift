import AppProtocol
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What an app may do wrong: a typed error or the documented end, and the daemon answers others.
struct BadAppTests {
    private let bench: DaemonBench
    private let stage: LinkedApp.Stage
    private let other: LinkedApp.Stage

    /// No grant ends during a test, however slow the machine is.
    init() throws { try self.init(grant: "12h") }

    private init(grant: String) throws {
        let settings = "wake-grant = \(grant)\nexpiry-warning = 1s\n"
        bench = try DaemonBench(settings, starting: false)
        stage = try LinkedApp.Stage(bench, "feed", LinkedAppTests.keys, entry: "NoDisplay=true")
        other = try LinkedApp.Stage(bench, "other", LinkedAppTests.keys, entry: "NoDisplay=true")
        try bench.daemon.start()
    }

    private func checkOthers() throws {
        #expect(try bench.answers())
        let app = try other.open(registered: ["news"])
        #expect(try app.call("Limits")[0]["state"] == "foreground")
        try app.exit()
    }

    private func offered(_ app: LinkedApp) throws -> LinkedApp.Call {
        try bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
        return try app.next("Offer")
    }

    @Test func `what is said too early, twice or of others is refused in words`() throws {
        try bench.ask("Open", "feed", [:])
        let app = try stage.next()
        try app.connect()
        let invalid = ControlErrorName.invalid.rawValue
        let notFound = ControlErrorName.notFound.rawValue
        for method in ["FinishedLaunching", "Complete", "ExpirationHandler"] {
            let arguments: [Value] =
                method == "FinishedLaunching"
                ? [["news"]] : method == "Complete" ? [1, "newData"] : [1, true]
            let refusal = try app.refusal(method, arguments)
            #expect(refusal.name == invalid && refusal.text.contains("Hello first"), "\(refusal)")
        }
        for version in [nil, 0, 2, -1, "1"] as [Value?] {
            let options: Value = version.map { ["version": $0] } ?? [:]
            let refusal = try app.refusal("Hello", options)
            #expect(refusal.name == invalid && refusal.text.contains("version"), "\(refusal)")
        }
        for (options, word) in [
            (["version": 1, "app": "other"], "app"), (["version": 1, "path": "x"], "path"),
            (["version": 1, "finished": [["delivery": 1, "result": "splendid"]]], "splendid"),
            (["version": 1, "running": ["x"]], "running"),
        ] as [(Value, String)] {
            let refusal = try app.refusal("Hello", options)
            #expect(refusal.name == invalid && refusal.text.contains(word), "\(refusal)")
        }
        #expect(try app.call("Hello", ["version": 1])[0]["app"] == "feed", "whatever it says")
        #expect(try app.refusal("Hello", ["version": 1]).text.contains("already called"))
        try app.call("FinishedLaunching", [["news"]])
        let late = try app.refusal("FinishedLaunching", [["clean"]])
        #expect(late.name == invalid && late.text.contains("time to register"), "\(late)")
        let offer = try offered(app)
        #expect(try app.refusal("Complete", .integer(offer.delivery), "newData").name == notFound)
        try app.answer(offer)
        _ = try app.next("Go")
        try app.call("Complete", .integer(offer.delivery), "newData")
        #expect(try app.refusal("Complete", .integer(offer.delivery), "newData").name == notFound)
        #expect(try app.refusal("Complete", 4711, "newData").name == notFound)
        #expect(try app.refusal("Complete", 1, "splendid").name == invalid)
        #expect(try app.refusal("EndTask", 4711).name == notFound)
        let submissions: [(Value, Value, ControlErrorName)] = [
            ("news", [:], .invalid), ("news", ["kind": "later"], .invalid),
            ("news", ["kind": "refresh", "color": 1], .invalid),
            ("news", ["kind": "refresh", "earliest": "soon"], .invalid),
            ("", ["kind": "refresh"], .invalid), ("bogus", ["kind": "refresh"], .notPermitted),
        ]
        for (identifier, options, name) in submissions {
            #expect(try app.refusal("Submit", identifier, options).name == name.rawValue)
        }
        #expect(try bench.nextRun("feed")["result"] == "new data")
        #expect(try bench.runs("feed").count == 1)
        try checkOthers()
    }

    @Test func `another's work cannot be completed`() throws {
        let app = try stage.open(registered: ["news"])
        let stranger = try other.open(registered: ["news"])
        let offer = try offered(app)
        try app.answer(offer)
        _ = try app.next("Go")
        let refusal = try stranger.refusal("Complete", .integer(offer.delivery), "newData")
        #expect(refusal.name == ControlErrorName.notFound.rawValue)
        try app.call("Complete", .integer(offer.delivery), "noData")
        #expect(try bench.nextRun("feed")["result"] == "no data")
        #expect(try bench.runs("other").isEmpty)
    }

    @Test func `a child may ask for work and time, but neither say hello nor complete`() throws {
        let app = try stage.open(registered: ["news"])
        try app.start(stage.command)
        let child = try stage.next()
        try child.connect(answering: ["ExpireTask"])
        for (method, arguments) in [
            ("Hello", [["version": 1]]), ("FinishedLaunching", [["news"]]),
            ("Complete", [1, "newData"]), ("SetMinimumFetchInterval", [0]),
        ] as [(String, [Value])] {
            let refusal = try child.refusal(method, arguments)
            #expect(refusal.name == ControlErrorName.notPermitted.rawValue)
            #expect(refusal.text.contains("process \(app.process.pid)"), "\(refusal.text)")
        }
        try child.call("Submit", "job.1", ["kind": "processing", "earliest": 2_000_000_000])
        #expect(try app.call("Pending")[0][0]?["identifier"] == "job.1")
        // What it holds goes with it.
        let begun = try child.call("BeginTask", "x", ["activity": true, "expires": true])
        #expect(try #require(begun[0].integerValue) > 0)
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
        try child.exit()
        try bench.waitUntilFrozen(app.process)
        try checkOthers()
    }

    @Test func `who asks for time and hangs up at once holds nothing, and ends nobody`() throws {
        let app = try stage.open(registered: ["news"])
        try app.start(stage.command)
        let child = try stage.next()
        try child.connect()
        try child.call("Limits")
        // The daemon finds the call and the end of the connection together.
        let daemon = try PidFD(of: #require(bench.daemon.identity))
        try daemon.send(Signal.stop)
        try child.post("BeginTask", "x", ["activity": true])
        try child.disconnect()
        try daemon.send(Signal.proceed)
        try checkOthers()
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
        try bench.waitUntilFrozen(app.process)
    }

    @Test func `what a child holds is held over a restart of the daemon, until the child's end`()
        throws
    {
        let app = try stage.open(registered: ["news"])
        try app.start(stage.command)
        let child = try stage.next()
        try child.connect()
        try child.call("BeginTask", "x", ["activity": true])
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
        try bench.restart()
        #expect(try bench.running("feed")?["state"] == "background")
        #expect(try !bench.isFrozen(app.process))
        try child.exit()
        try bench.waitUntilFrozen(app.process)
    }

    @Test func `who belongs to no app is told how to`() throws {
        let busctl = try Command(
            "busctl",
            "--address=unix:path=\(bench.daemon.socket)",
            "call",
            Control1.busName,
            Control1.path,
            App1.name,
            "Pending"
        ).run()
        #expect(busctl.errors.contains("belongs to no app"), "\(busctl.errors)")
        #expect(busctl.errors.contains("offstage open --attach"))
        // As without a daemon: Apple's error 1, not one about what a manifest permits.
        let bus = try Bus.connect(toSocket: bench.daemon.socket)
        let target = Target(Control1.busName, Control1.path, App1.name, "Pending")
        let error: BusError? = caught { _ = try bus.call(target) }
        #expect(error?.reason == .refused(ControlErrorName.unavailable.rawValue))
        try checkOthers()
    }

    @Test func `ten thousand submits keep to the limits and disturb nobody`() throws {
        try bench.set("idle", "off")
        let app = try stage.open(registered: ["job.*"])
        let options: Value = ["kind": "processing"]
        let outcome = try app.flood("Submit", "job.#", options, times: 10_000)
        #expect(outcome["answered"] == 10)
        #expect(outcome[ControlErrorName.tooManyPendingTaskRequests.rawValue] == 9_990)
        #expect(try app.call("Pending")[0].listValue?.count == 10)
        let same = try app.flood("Submit", "job.1", options, times: 10_000)
        #expect(same["answered"] == 10_000)
        #expect(try app.call("Pending")[0].listValue?.count == 10)
        try checkOthers()
    }

    @Test(arguments: ["before the receipt", "before go", "after go"])
    func `an app that closes its connection in the middle of a delivery loses nothing`(
        moment: String
    ) throws {
        let app = try stage.open(registered: ["news"])
        let offer = try offered(app)
        if moment != "before the receipt" { try app.answer(offer) }
        if moment == "after go" { _ = try app.next("Go") }
        try app.disconnect()
        #expect(try bench.answers())
        try app.connect()
        switch moment {
        case "before the receipt":
            try app.call("Hello", ["version": 1])
            try app.call("FinishedLaunching", [["news"]])
            let again = try app.next("Offer")
            #expect(again.delivery == offer.delivery)
            try app.answer(again)
            #expect(try app.next("Go").delivery == offer.delivery)
        case "before go":
            // One that was on its way came on the connection that it has lost.
            while app.calls.contains(where: { $0.method == "Go" }) { _ = try app.next("Go") }
            try app.call("Hello", ["version": 1, "running": [.integer(offer.delivery)]])
            #expect(try app.next("Go").delivery == offer.delivery)
        default:
            let end: Value = ["delivery": .integer(offer.delivery), "result": "newData"]
            try app.call("Hello", ["version": 1, "finished": [end]])
        }
        if moment != "after go" { try app.call("Complete", .integer(offer.delivery), "newData") }
        #expect(try bench.nextRun("feed")["result"] == "new data")
        #expect(try bench.runs("feed").count == 1)
        try checkOthers()
    }

    @Test func `a second hello of the same process takes the place of the first`() throws {
        let app = try stage.open(registered: ["news"])
        try app.connectAnew()
        try app.call("Hello", ["version": 1])
        _ = try app.next("disconnected")
        try app.call("FinishedLaunching", [["news"]])
        let offer = try offered(app)
        try app.answer(offer)
        _ = try app.next("Go")
        try app.call("Complete", .integer(offer.delivery), "newData")
        #expect(try bench.nextRun("feed")["result"] == "new data")
    }

    @Test func `who never answers an offer is ended when its time is over`() throws {
        try BadAppTests(grant: "3s").neverAnswer()
    }

    private func neverAnswer() throws {
        let app = try stage.open(registered: ["news"])
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
        _ = try offered(app)
        try Wait.untilGone(app.process)
        let run = try bench.nextRun("feed")
        #expect(run["result"]?.stringValue?.hasPrefix("terminated") == true, "\(run)")
        try checkOthers()
    }

    @Test
    func `an offer that is answered with an error, or to an object that is not there, failed`()
        throws
    {
        let app = try stage.open(registered: ["news"])
        let offer = try offered(app)
        try app.refuse(offer)
        var run = try bench.nextRun("feed")
        #expect(run["result"] == "failed")
        #expect(run["reason"] == "the app declined it: not today")
        try app.disconnect()
        try app.connect(path: "/somewhere/else")
        try app.call("Hello", ["version": 1])
        try app.call("FinishedLaunching", [["news"]])
        try bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
        run = try bench.nextRun("feed", after: 1)
        #expect(run["reason"]?.stringValue?.hasPrefix("the app declined it") == true, "\(run)")
        try checkOthers()
    }

    @Test func `a command of the manifest is given no work, but may ask for it`() throws {
        let command = "\(Products.path(of: "ProcessPeer")) app \(bench.home("other"))"
        try bench.manifest(
            "plain",
            "BackgroundModes=fetch;\nRefreshCommand=\(command)\nPermittedTaskIdentifiers=refresh;"
        )
        let process = try other.next()
        try process.connect()
        let refusal = try process.refusal("Hello", ["version": 1])
        #expect(refusal.name == ControlErrorName.notPermitted.rawValue)
        #expect(refusal.text.contains("exit status"))
        #expect(try process.call("Limits")[0]["state"] == "background")
        try process.exit()
        #expect(try bench.nextRun("plain")["result"] == "new data")
    }
}
