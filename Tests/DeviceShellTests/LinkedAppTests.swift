import AppProtocol
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// Linked apps under the real daemon: launched or resumed, given work, suspended again.
struct LinkedAppTests {
    static let keys = """
        BackgroundModes=fetch;processing;
        PermittedTaskIdentifiers=news;clean;job.*;
        """
    static let all: [Value] = [["news", "clean", "job.*"]]

    private func stage(_ settings: String = "", _ keys: String = Self.keys) throws
        -> LinkedApp.Stage
    {
        let bench = try DaemonBench(settings, starting: false)
        let stage = try LinkedApp.Stage(bench, "feed", keys, entry: "NoDisplay=true")
        try bench.daemon.start()
        return stage
    }

    private func leave(_ app: LinkedApp, _ bench: DaemonBench) throws {
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
    }

    @Test func `hello tells an app what it is, and until when it may work`() throws {
        let stage = try stage()
        try stage.bench.ask("Open", "feed", [:])
        let app = try stage.next()
        try app.connect()
        let greeting = try app.call("Hello", ["version": 1])[0]
        #expect(greeting["app"] == "feed")
        #expect(greeting["version"] == 1)
        #expect(greeting["state"] == "foreground")
        #expect(greeting["background-refresh"] == "available")
        #expect(greeting["permitted"] == ["news", "clean", "job.*"])
        #expect(greeting["features"]?.listValue?.contains("refresh") == true)
        try app.call("FinishedLaunching", [["news"]])
        #expect(try app.next().method == "BecomeActive")
        let limits = try app.call("Limits")[0]
        #expect(limits["state"] == "foreground")
        #expect(limits["memory-limit"] == nil && limits["deadline"] == nil)
        try stage.bench.ask("Leave", "feed", [:])
        let deadline = try #require(app.next("EnterBackground").options["deadline"]?.doubleValue)
        let left = deadline - Double(Clocks.now().awake.nanoseconds) / 1e9
        #expect(left > 0 && left <= 180)
    }

    // MARK: Work, from the offer to the completion

    @Test
    func `what is suspended is resumed, what does not run is launched, and both get the work`()
        throws
    {
        let stage = try stage()
        // So that it waits until the user asks for it.
        try stage.bench.set("power", "off")
        try stage.bench.set("battery", "5")
        let app = try stage.open(registered: ["news"])
        try app.call("Submit", "news", ["kind": "refresh", "token": "one"])
        try leave(app, stage.bench)
        // Resumed: by the same connection, with the receipt before the work.
        try stage.bench.waitUntilFrozen(app.process)
        try stage.bench.ask("Run", "feed", [:])
        let offer = try app.next("Offer")
        #expect(offer.arguments[1...2] == ["refresh", "news"])
        #expect(try app.call("Pending")[0].listValue?.count == 1, "without a receipt it waits")
        try app.answer(offer)
        let go = try app.next("Go")
        #expect(go.delivery == offer.delivery)
        let deadline = try #require(go.options["deadline"]?.doubleValue)
        let left = deadline - Double(Clocks.now().awake.nanoseconds) / 1e9
        #expect(left > 0 && left <= 30)
        #expect(try app.call("Pending")[0] == [])
        // The handler asks for the next, to be launched for it.
        try app.call("Submit", "news", ["kind": "refresh"])
        try app.say("Complete", .integer(offer.delivery), "succeeded")
        try stage.bench.waitUntilFrozen(app.process)
        var run = try stage.bench.nextRun("feed")
        #expect(run["resumed"] == true && run["result"] == "completed" && run["task"] == "news")
        try stage.bench.ask("Close", "feed", [:])
        try Wait.untilGone(app.process)
        try stage.bench.ask("Open", "feed", [:])
        try stage.next().exit()
        try stage.bench.wait(until: "gone") { try stage.bench.running("feed") == nil }
        try stage.bench.ask("Run", "feed", [:])
        let launched = try stage.next()
        try launched.connect(answering: ["Offer"])
        #expect(try launched.call("Hello", ["version": 1])[0]["state"] == "background")
        try launched.call("FinishedLaunching", [["news"]])
        let second = try launched.accept()
        #expect(launched.calls.isEmpty, "nobody said that it is active")
        try launched.say("Complete", .integer(second.delivery), "succeeded")
        try stage.bench.waitUntilFrozen(launched.process)
        run = try stage.bench.nextRun("feed", after: 1)
        #expect(run["resumed"] == false && run["result"] == "completed")
        #expect(try stage.bench.ask("Tasks", "feed").listValue?.count == 0, "launched once each")
    }

    @Test func `a fetch has one completion, and its interval is the app's to say`() throws {
        let stage = try stage("", "BackgroundModes=fetch;")
        let app = try stage.open(answering: ["Offer", "Go"])
        try leave(app, stage.bench)
        try stage.bench.waitUntilFrozen(app.process)
        #expect(try stage.bench.ask("Tasks", "feed").listValue?.count == 0, "never, by default")
        try stage.bench.ask("Open", "feed", [:])
        _ = try app.next("EnterForeground")
        try app.call("SetMinimumFetchInterval", 0)
        try leave(app, stage.bench)
        for (number, result) in ["newData", "noData", "failed"].enumerated() {
            try stage.bench.ask("Simulate", "fetch", "feed", [:])
            let offer = try app.accept()
            #expect(offer.arguments[1] == "fetch")
            try app.say("Complete", .integer(offer.delivery), .string(result))
            let run = try stage.bench.nextRun("feed", after: number)
            #expect(run["result"]?.stringValue == ["new data", "no data", "failed"][number])
        }
    }

    @Test func `overlapping work has a completion for each, and each the time of its kind`() throws
    {
        let stage = try stage()
        try stage.bench.set("power", "off")
        try stage.bench.set("battery", "5")
        let app = try stage.open(registered: ["news", "clean"], answering: ["Offer"])
        try app.call("Submit", "news", ["kind": "refresh"])
        try app.call("Submit", "clean", ["kind": "processing"])
        #expect(try app.call("Pending")[0].listValue?.count == 2)
        try leave(app, stage.bench)
        try stage.bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
        try stage.bench.ask("Simulate", "launch", "feed", ["task": "clean", "kind": "processing"])
        var given: [String: (delivery: Int64, deadline: Double)] = [:]
        for _ in 0..<2 {
            let offer = try app.next("Offer")
            let go = try app.next("Go")
            given[offer.arguments[2].stringValue ?? ""] =
                (go.delivery, go.options["deadline"]?.doubleValue ?? 0)
        }
        let news = try #require(given["news"])
        let clean = try #require(given["clean"])
        #expect(news.delivery != clean.delivery)
        #expect(clean.deadline - news.deadline > 200)
        let left = try #require(app.call("Limits")[0]["deadline"]?.doubleValue)
        #expect(abs(left - clean.deadline) < 0.001, "the launch has the longest of them")
        try app.say("Complete", .integer(news.delivery), "succeeded")
        #expect(try stage.bench.nextRun("feed")["task"] == "news")
        #expect(try !stage.bench.isFrozen(app.process))
        try app.say("Complete", .integer(clean.delivery), "unsuccessful")
        #expect(try stage.bench.nextRun("feed", after: 1)["result"] == "completed without success")
        try stage.bench.waitUntilFrozen(app.process)
    }

    // MARK: Time

    @Test func `shortly before the end the handler is called, once; who says nothing is ended`()
        throws
    {
        let stage = try stage("wake-grant = 3s\nexpiry-warning = 2s\n")
        let app = try stage.open(registered: ["news"], answering: ["Offer", "Go", "Expire"])
        try leave(app, stage.bench)
        for isCompleted in [true, false] {
            try stage.bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
            let offer = try app.accept()
            try app.call("ExpirationHandler", .integer(offer.delivery), true)
            let expire = try app.next("Expire")
            #expect(expire.delivery == offer.delivery)
            #expect(expire.arguments[1] == "timeout")
            #expect(expire.options["deadline"]?.doubleValue != nil)
            guard isCompleted else { break }
            try app.say("Complete", .integer(offer.delivery), "unsuccessful")
            let run = try stage.bench.nextRun("feed")
            #expect(run["result"]?.stringValue?.hasPrefix("expired") == true, "\(run)")
            #expect(!app.calls.contains { $0.method == "Expire" }, "once")
        }
        try Wait.untilGone(app.process)
        let run = try stage.bench.nextRun("feed", after: 1)
        #expect(run["result"]?.stringValue?.hasPrefix("terminated") == true, "\(run)")
        #expect(try stage.bench.answers())
    }

    @Test func `without a handler it counts as completed without success, and is suspended`() throws
    {
        let stage = try stage("wake-grant = 2s\nexpiry-warning = 1s\n")
        let app = try stage.open(registered: ["news"], answering: ["Offer", "Go", "Expire"])
        try leave(app, stage.bench)
        try stage.bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
        try app.accept()
        #expect(try stage.bench.nextRun("feed")["result"] == "completed without success")
        try stage.bench.waitUntilFrozen(app.process)
        #expect(app.process.isAlive)
    }

    @Test func `a task of a wake gets seconds beyond it, and its handler is called`() throws {
        let stage = try stage("task-beyond-wake = 2s\nexpiry-warning = 1s\n")
        let app = try stage.open(registered: ["news"], answering: ["Offer", "Go", "ExpireTask"])
        try leave(app, stage.bench)
        try stage.bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
        let offer = try app.accept()
        let begun = try app.call("BeginTask", "send", ["expires": true])
        let task = try #require(begun[0].integerValue)
        #expect(task > 0)
        let deadline = try #require(begun[1]["deadline"]?.doubleValue)
        try app.say("Complete", .integer(offer.delivery), "succeeded")
        let expire = try app.next("ExpireTask")
        #expect(expire.arguments[0] == .integer(task))
        let end = try #require(expire.options["deadline"]?.doubleValue)
        #expect(end < deadline, "the wake was over before")
        try app.say("EndTask", .integer(task))
        try stage.bench.waitUntilFrozen(app.process)
    }

    @Test func `tasks of the foreground go on after the user left, and end with the last`() throws {
        let stage = try stage("finish-up = 3s\nexpiry-warning = 2s\n")
        let app = try stage.open(answering: ["ExpireTask"])
        let begun = try app.call("BeginTask", "upload", ["expires": true])
        #expect(begun[1] == [:], "while the user is there it uses no time")
        try stage.bench.ask("Leave", "feed", [:])
        let left = try app.next("EnterBackground")
        let late = try app.call("BeginTask", "late", ["expires": false])
        #expect(late[1]["deadline"] == left.options["deadline"], "what is left, and no more")
        try app.answer(left)
        try app.call("EndTask", late[0])
        let expire = try app.next("ExpireTask")
        #expect(expire.arguments == [begun[0], "timeout", expire.options])
        try app.say("EndTask", begun[0])
        try stage.bench.waitUntilFrozen(app.process)
        #expect(!app.calls.contains { $0.method == "ExpireTask" }, "once")
        try stage.bench.ask("Open", "feed", [:])
        _ = try app.next("EnterForeground")
        try app.call("BeginTask", "upload", ["expires": true])
        try stage.bench.ask("Leave", "feed", [:])
        try Wait.untilGone(app.process)
        try stage.bench.wait(until: "it is told why") {
            try stage.bench.history("feed").first?.description.contains("terminated") == true
        }
    }

    // MARK: Limits and settings

    @Test func `an app reads its limits and its use, and is warned with the figures`() throws {
        let stage = try stage("memory-limit = 400M\ncpu-window = 4s\n")
        let app = try stage.open(registered: ["news"], answering: ["Offer", "Go"])
        try app.spend(350 << 20)
        try leave(app, stage.bench)
        try stage.bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
        let offer = try app.accept()
        let limits = try app.call("Limits")[0]
        #expect(limits["state"] == "background")
        #expect(limits["memory-limit"] == .integer(400 << 20))
        #expect(limits["cpu-limit"] == .double(0.8) && limits["cpu-window"] == .double(4))
        #expect(try #require(limits["memory"]?.integerValue) > 350 << 20)
        #expect(try #require(limits["cpu"]?.doubleValue) > 0)
        #expect(limits["deadline"]?.doubleValue != nil)
        let warning = try app.next("MemoryWarning").options
        #expect(warning["memory-limit"] == .integer(400 << 20))
        #expect(try #require(warning["memory"]?.integerValue) > 350 << 20)
        try app.say("Complete", .integer(offer.delivery), "succeeded")
    }

    @Test func `background refresh off is told, and refuses what is submitted`() throws {
        let stage = try stage()
        let app = try stage.open(registered: ["news"])
        _ = try app.next("BecomeActive")
        try stage.bench.ask("Set", "background-refresh", "off", ["app": "feed"])
        #expect(try app.next("Changed").options["background-refresh"] == "denied")
        let refusal = try app.refusal("Submit", "news", ["kind": "refresh"])
        #expect(refusal.name == ControlErrorName.unavailable.rawValue)
        try stage.bench.ask("Set", "background-refresh", "on", ["app": "feed"])
        #expect(try app.next("Changed").options["background-refresh"] == "available")
    }

    @Test func `what is submitted is durable, replaced by its name, and taken back`() throws {
        let stage = try stage()
        try stage.bench.set("idle", "off")
        let app = try stage.open(registered: ["news"])
        let date = 2_000_000_000.5
        let options: Value = [
            "kind": "processing", "earliest": .double(date), "power": true, "network": true,
            "unmetered": true, "unlocked": true, "token": "same",
        ]
        try app.call("Submit", "clean", options)
        try app.call("Submit", "clean", options)
        try app.call("Submit", "job.1", ["kind": "processing"])
        let expected: Value = [
            "identifier": "clean", "kind": "processing", "earliest": .double(date), "power": true,
            "network": true, "unmetered": true, "unlocked": true,
        ]
        #expect(try app.call("Pending")[0][0] == expected)
        try stage.bench.restart()
        #expect(try app.next().method == "BecomeActive")
        #expect(try app.next("disconnected").number == nil)
        try app.begin()
        #expect(try app.call("Pending")[0].listValue?.count == 2)
        #expect(try app.call("Pending")[0][0] == expected)
        try app.call("Submit", "clean", ["kind": "processing"])
        try app.call("Cancel", "job.1")
        let left = try app.call("Pending")[0]
        #expect(left.listValue?.count == 1 && left[0]?["power"] == false)
        try app.call("Cancel", "")
        #expect(try app.call("Pending")[0] == [])
    }
}
