import Linux
import TestKit
import Testing
import Vocabulary

/// Helper programs of an app, with the library, started by somebody else than the daemon.
struct HelperTests {
    private static let helper = Products.path(of: "HelperPeer")

    private func app(_ settings: String = "", isKnown: Bool = true) throws -> SampleApp {
        try SampleApp.colorFeed(
            settings: settings,
            keys: isKnown ? "Extensions=\(Self.helper);" : ""
        )
    }

    private func command(_ app: SampleApp, _ words: String...) -> Command {
        var command = Command([Self.helper] + words)
        command.environment = Command.cleanEnvironment(
            ["OFFSTAGE_SOCKET": app.bench.daemon.socket]
        )
        return command
    }

    @Test func `what a helper asks for is launched in its app`() throws {
        let app = try app()
        let refused = try command(app, "submit", "com.colorfeed.other").run()
        #expect(refused.output.hasPrefix("error 3: "), "\(refused)")
        #expect(try app.bench.running(app.name) == nil)
        let outcome = try command(app, "submit", SampleApp.refresh).run()
        #expect(outcome.output == "submitted\n", "\(outcome)")
        // Nothing holds it, so the scheduler launches the app.
        try app.wait(for: "launched background=true")
        try app.wait(for: "refresh completed success=true colours=3")
        let run = try app.bench.nextRun(app.name)
        #expect(run["resumed"] == false && run["simulated"] != true, "\(run)")
    }

    @Test func `a program that is nobody's helper is refused`() throws {
        let app = try app(isKnown: false)
        let refused = try command(app, "submit", SampleApp.refresh).run()
        #expect(refused.output.hasPrefix("error 1: this process belongs to no app"), "\(refused)")
        try app.bench.kill()
        let alone = try command(app, "submit", SampleApp.refresh).run()
        #expect(alone.output.hasPrefix("error 1: the daemon is not running"), "\(alone)")
    }

    @Test func `an activity of a helper keeps its app awake, and expires`() throws {
        let app = try app("finish-up = 21s\nexpiry-warning = 20s\n")
        try app.open(saying: "registered refresh=true dbcleaning=true")
        let log = app.bench.daemon.scratch("helper.log")
        let helper = try command(app, "activity").start(logging: log)
        defer { try? helper.send(Signal.kill) }
        try Wait.until(file: log, "begun") { $0.contains("begun\n") }
        try app.leave()
        try app.wait(for: "scheduled cleaning")
        let process = try app.process()
        try Wait.until(file: log, "expired") { $0.contains("expired\n") }
        #expect(try !app.bench.isFrozen(process), "it has the time that its helper holds")
        try helper.send(Signal.terminate)
        try Wait.until(readable: helper.descriptor.number, "end of the helper")
        _ = try helper.wait(block: true)
        try app.bench.waitUntilFrozen(process)
    }

    @Test func `an activity is begun again when the daemon is, and expires by the new one`() throws
    {
        let app = try app("finish-up = 60s\nwake-grant = 60s\nexpiry-warning = 58s\n")
        try app.open(saying: "registered refresh=true dbcleaning=true")
        let log = app.bench.daemon.scratch("helper.log")
        let helper = try command(app, "activity").start(logging: log)
        defer {
            try? helper.send(Signal.kill)
            _ = try? helper.wait(block: true)
        }
        try Wait.until(file: log, "begun") { $0.contains("begun\n") }
        try app.bench.restart()
        try app.leave()
        try Wait.until(file: log, "expired") { $0.contains("expired\n") }
        #expect(try !app.bench.isFrozen(app.process()), "its helper still holds the time")
    }

    @Test
    func `a script is a helper by the interpreter that it names and what that is given first`()
        throws
    {
        let scratch = ScratchDirectory()
        // Its interpreter submits the path that it is given.
        let scripts = try ["#!\(Self.helper) submit", "#!/usr/bin/env -S \(Self.helper) submit"]
            .enumerated().map { number, line in
                try scratch.write("script\(number)", line + "\n", permissions: 0o755)
            }
        let stranger = try scratch.write(
            "stranger",
            "#!\(Self.helper) submit\n",
            permissions: 0o755
        )
        let app = try SampleApp(
            "ColorFeed",
            """
            BackgroundModes=fetch;
            PermittedTaskIdentifiers=\(scratch.path)/*;
            Extensions=\(scripts.joined(separator: ";"));
            """,
            settings: "pending-refreshes = 9\n"
        )
        // What is submitted waits.
        try app.bench.set("power", "off")
        try app.bench.set("battery", "5")
        func run(_ words: [String]) throws -> String {
            var command = Command(words)
            command.environment = Command.cleanEnvironment(
                ["OFFSTAGE_SOCKET": app.bench.daemon.socket]
            )
            return try command.run().output
        }
        for script in scripts {
            #expect(try run([script]) == "submitted\n")
            #expect(try app.task(script) != nil)
        }
        // Neither another script of the interpreter, nor one that only names it.
        for words in [[stranger], [Self.helper, "submit", stranger, scripts[0]]] {
            let refused = try run(words)
            #expect(refused.hasPrefix("error 1: this process belongs to no app"), "\(refused)")
            #expect(try app.task(stranger) == nil)
        }
    }
}
