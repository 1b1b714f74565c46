import Linux
import TestKit
import Testing
import Vocabulary

/// Scheduled tasks of linked apps under the real daemon: when they are due, and when they are not
/// to go on.
struct LinkedTaskTests {
    private func stage(_ settings: String = "") throws -> LinkedApp.Stage {
        let bench = try DaemonBench(settings, starting: false)
        let stage = try LinkedApp.Stage(
            bench,
            "feed",
            LinkedAppTests.keys,
            entry: "NoDisplay=true"
        )
        try bench.daemon.start()
        for condition in ["network", "power", "idle"] { try bench.set(condition, "on") }
        return stage
    }

    private func leave(_ app: LinkedApp, _ bench: DaemonBench) throws {
        try bench.ask("Leave", "feed", [:])
        try app.answer(app.next("EnterBackground"))
    }

    private var now: Double { Double(Clocks.now().wall.nanoseconds) / 1e9 }

    // MARK: C4

    @Test func `due while its app is not used, it is held, and released by its user`() throws {
        let stage = try stage("unused-limit = 1s\n")
        let bench = stage.bench
        let app = try stage.open(registered: ["news"])
        let earliest = now + 2
        try app.call("Submit", "news", ["kind": "refresh", "earliest": .double(earliest)])
        try leave(app, bench)
        try Wait.until("held") {
            let holds = try bench.explain("feed")["holds"]?.listValue ?? []
            return holds.contains { $0["gate"] == "unused" }
        }
        try Wait.until("due", { now > earliest })
        try bench.waitUntilFrozen(app.process)
        #expect(try bench.runs("feed").isEmpty)
        // That it leaves the app is a use as well.
        try bench.ask("Open", "feed", [:])
        _ = try app.next("EnterForeground")
        try bench.ask("Leave", "feed", [:])
        let offer = try app.next("Offer")
        #expect(offer.arguments[1...2] == ["refresh", "news"])
        #expect(now >= earliest)
    }

    @Test func `not used for too long, it is dropped, which stands in the history`() throws {
        let stage = try stage("unused-limit = 1s\ndropped-after = 4s\n")
        let bench = stage.bench
        let app = try stage.open(registered: ["news"])
        try app.call("Submit", "news", ["kind": "refresh", "earliest": .double(now + 2)])
        try leave(app, bench)
        try bench.wait(until: "dropped") {
            try bench.history("feed").contains { $0["what"] == "dropped" && $0["task"] == "news" }
        }
        #expect(try bench.ask("Tasks", "feed").listValue?.isEmpty == true)
        #expect(try bench.runs("feed").isEmpty)
    }

    @Test func `a task that failed and waits no more is explained, and an unknown one is not`()
        throws
    {
        let stage = try stage()
        let bench = stage.bench
        let app = try stage.open(registered: ["news"])
        try app.call("Submit", "news", ["kind": "refresh"])
        try leave(app, bench)
        let offer = try app.accept()
        try app.call("Complete", .integer(offer.delivery), "unsuccessful")
        _ = try bench.nextRun("feed")
        let told = try bench.ask("Explain", "feed", ["task": "news"])
        #expect(told[0]?["lastRun"]?["failed"] == true, "\(told)")
        let unknown = try bench.refusal("Explain", "feed", ["task": "nwes"])
        #expect(unknown.text.contains("has no task of that name"), "\(unknown)")
    }

    // MARK: C8

    @Test func `what a task asked for expires it when it is lost, and so does its user`() throws {
        let stage = try stage("wake-grant = 10m\n")
        let bench = stage.bench
        try bench.set("network", "on")
        try bench.set("locked", "off")
        let app = try stage.open(
            registered: ["news", "clean"],
            answering: ["Offer", "Go", "Expire"]
        )
        let losses: [(condition: String, needs: String, reason: String)] = [
            ("power", "power", "powerLost"), ("network", "network", "networkLost"),
            ("idle", "unlocked", "deviceInUse"),
        ]
        for (number, loss) in losses.enumerated() {
            var options: ValueMap = ["kind": "processing"]
            options[loss.needs] = true
            try app.call("Submit", "clean", .map(options))
            try leave(app, bench)
            let offer = try app.accept()
            try app.call("ExpirationHandler", .integer(offer.delivery), true)
            try bench.ask("Simulate", "launch", "feed", ["task": "news", "kind": "refresh"])
            let refresh = try app.accept()
            try bench.set(loss.condition, "off")
            let expire = try app.next("Expire")
            #expect(expire.delivery == offer.delivery)
            #expect(expire.arguments[1] == .string(loss.reason))
            try app.call("Complete", .integer(offer.delivery), "unsuccessful")
            let run = try bench.nextRun("feed", after: 2 * number)
            #expect(run["result"]?.stringValue?.hasPrefix("expired") == true, "\(run)")
            try app.say("Complete", .integer(refresh.delivery), "succeeded")
            #expect(try bench.nextRun("feed", after: 2 * number + 1)["result"] == "completed")
            #expect(!app.calls.contains { $0.method == "Expire" }, "a refresh goes on")
            try bench.set(loss.condition, "on")
            try bench.waitUntilFrozen(app.process)
            try bench.ask("Open", "feed", [:])
            _ = try app.next("EnterForeground")
        }
    }
}
