import Linux
import TestKit
import Testing
import Vocabulary

/// The first API's fetch, of linked apps under the real daemon: who is woken, and after which rest.
struct FetchAppTests {
    private func tasks(_ bench: DaemonBench, _ app: String) throws -> [Value] {
        try bench.ask("Tasks", .string(app)).listValue ?? []
    }

    // MARK: B1

    @Test func `without the mode in its manifest an app is not woken to fetch`() throws {
        let bench = try DaemonBench("minimum-refresh-interval = 1s\n", starting: false)
        let stage = try LinkedApp.Stage(bench, "feed", "BackgroundModes=processing;")
        try bench.daemon.start()
        let app = try stage.open()
        try app.call("SetMinimumFetchInterval", 0)
        #expect(try tasks(bench, "feed").isEmpty)
        // What it asked for is kept for the day on which the mode is there.
        try stage.write("BackgroundModes=fetch;")
        try bench.wait(until: "it is to fetch") { try !tasks(bench, "feed").isEmpty }
        try stage.write("BackgroundModes=processing;")
        try bench.wait(until: "it is not") { try tasks(bench, "feed").isEmpty }
    }

    // MARK: B7

    @Test func `who lists task identifiers is not woken to fetch, whatever it asks for`() throws {
        let bench = try DaemonBench(
            "minimum-refresh-interval = 1s\nsuspend-delay = 0s\n",
            starting: false
        )
        let mode = "BackgroundModes=fetch;\n"
        let old = try LinkedApp.Stage(bench, "old", mode, entry: "NoDisplay=true")
        let new = try LinkedApp.Stage(
            bench,
            "new",
            mode + "PermittedTaskIdentifiers=news;",
            entry: "NoDisplay=true"
        )
        try bench.daemon.start()
        try bench.set("network", "on")
        for stage in [new, old] {
            let app = try stage.open(registered: ["news"], answering: ["Offer", "Go"])
            try app.call("SetMinimumFetchInterval", 0)
            #expect(try tasks(bench, stage.name).isEmpty == (stage.name == "new"))
            try bench.ask("Leave", .string(stage.name), [:])
            try app.answer(app.next("EnterBackground"))
            guard stage.name == "old" else { continue }
            // By the scheduler, again and again, while the other waits for nothing.
            for number in 0..<3 {
                let offer = try app.accept()
                #expect(offer.arguments[1] == "fetch")
                try app.say("Complete", .integer(offer.delivery), "noData")
                #expect(try bench.nextRun("old", after: number)["simulated"] == false)
            }
        }
        #expect(try bench.runs("new").isEmpty)
        // From the moment at which its manifest lists one, the other is neither.
        try bench.manifest("old", exec: "true", mode + "PermittedTaskIdentifiers=news;")
        try bench.wait(until: "its fetches are off") { try tasks(bench, "old").isEmpty }
    }

    // MARK: B9

    /// The rest that the app's fetch waits for; nil: there is none to come.
    private func rest(_ bench: DaemonBench) throws -> String? {
        guard let task = try tasks(bench, "feed").first else { return nil }
        #expect(task["task"] == "fetch")
        let holds = try bench.explain("feed")["holds"]?.listValue ?? []
        return holds.first { $0["gate"] == "quiet" }?["needed"]?.stringValue
    }

    /// An app that may fetch, open.
    private func fetching() throws -> (LinkedApp.Stage, LinkedApp) {
        let bench = try DaemonBench(starting: false)
        let stage = try LinkedApp.Stage(
            bench,
            "feed",
            "BackgroundModes=fetch;",
            entry: "NoDisplay=true"
        )
        try bench.daemon.start()
        return (stage, try stage.open())
    }

    @Test func `the interval is in force at once, and outlives the app and the daemon`() throws {
        let (stage, app) = try fetching()
        let bench = stage.bench
        #expect(try rest(bench) == nil, "never, by default")
        for (seconds, expected) in [
            (Value.integer(28_800), "8h"), (-1, nil), (0, "15m"), (60, "15m"), (7200, "2h"),
        ] {
            try app.call("SetMinimumFetchInterval", seconds)
            #expect(try rest(bench) == expected)
        }
        try app.exit()
        try bench.wait(until: "gone") { try bench.running("feed") == nil }
        #expect(try rest(bench) == "2h")
        try stage.open().exit()
        #expect(try rest(bench) == "2h", "relaunched, and nothing was said")
        try bench.restart()
        #expect(try rest(bench) == "2h")
        try bench.wait(until: "gone") { try bench.running("feed") == nil }
    }

    /// A kernel that has been started anew, as far as it says so itself: the program keeps its
    /// process, in a namespace of its own.
    private static func reboot(_ scratch: ScratchDirectory) throws -> [String] {
        let boot = try scratch.write("boot", "1b4e28ba-2fa1-41d2-883f-0016d3cca427\n")
        return [
            "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
            "mount --bind \(boot) /proc/sys/kernel/random/boot_id && exec \"$@\"", "sh",
        ]
    }
    private static let canReboot = { () -> Bool in
        let scratch = ScratchDirectory()
        return (try? Command(reboot(scratch) + ["true"]).run())?.succeeded == true
    }()

    @Test(.enabled(if: canReboot, "namespaces of mounts are not to be had here"))
    func `the interval survives a reboot`() throws {
        let (stage, app) = try fetching()
        let bench = stage.bench
        try app.call("SetMinimumFetchInterval", 7200)
        try bench.kill()
        try PidFD(of: app.process).send(Signal.kill)
        try Wait.untilGone(app.process)
        bench.daemon.wrapper = try Self.reboot(bench.daemon.scratch)
        try bench.daemon.start()
        #expect(try rest(bench) == "2h")
        #expect(try bench.running("feed") == nil)
    }
}
