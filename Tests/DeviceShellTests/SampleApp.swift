import Foundation
import Linux
import SystemBus
import TestKit
import Vocabulary

/// A sample with its manifest; what it says is in its log.
final class SampleApp {
    let bench: DaemonBench
    let name: String
    var log: String { bench.daemon.scratch("state/logs/\(name).log") }

    init(
        _ program: String,
        _ keys: String,
        settings: String = "",
        environment: String = "",
        options: [String] = []
    ) throws {
        name = program.lowercased()
        bench = try DaemonBench(settings, options: options, starting: false)
        try write(program, keys, environment: environment)
        _ = try? Files.makeDirectory(
            bench.daemon.scratch("state/logs"),
            permissions: 0o700
        )
        try bench.daemon.start()
        // Nothing starts by itself but what a test lets start.
        try bench.set("idle", "off")
    }

    func write(_ program: String, _ keys: String, environment: String) throws {
        try bench.manifest(
            name,
            exec: Products.path(of: program),
            entry: "NoDisplay=true",
            "\(keys)\nEnvironment=\(environment)"
        )
    }

    var lines: [String] {
        ((try? Files.text(log, limit: 1 << 20)) ?? "").split(separator: "\n").map(String.init)
    }

    /// Waits until it has said a line so often.
    func wait(for line: String, times: Int = 1) throws {
        do {
            try Wait.until(file: log, line) {
                $0.split(separator: "\n").count { $0 == line } >= times
            }
        } catch let error as DidNotHappen {
            throw DidNotHappen(description: "\(error)\n\(lines)\n\(bench.report)")
        }
    }

    func open(saying line: String, times: Int = 1) throws {
        try bench.ask("Open", .string(name), [:])
        try wait(for: line, times: times)
    }

    /// A launch for a task, as a developer forces it.
    func launch(_ task: String, as kind: String = "refresh") throws {
        try bench.ask(
            "Simulate",
            "launch",
            .string(name),
            ["task": .string(task), "kind": .string(kind)]
        )
    }

    func leave() throws { try bench.ask("Leave", .string(name), [:]) }

    /// Its main process.
    func process() throws -> ProcessIdentity {
        guard let pid = try bench.running(name)?["pid"]?.integerValue.map(Int32.init),
            let process = ProcessIdentity(of: pid)
        else { throw DidNotHappen(description: "\(name) runs\n\(bench.report)") }
        return process
    }

    func waitUntilSuspended() throws { try bench.waitUntilFrozen(process()) }

    func task(_ identifier: String) throws -> Value? {
        try bench.ask("Tasks", .string(name)).listValue?
            .first { $0["task"] == .string(identifier) }
    }
}

extension SampleApp {
    static let refresh = "com.colorfeed.refresh"
    static let cleaning = "com.colorfeed.dbcleaning"

    /// `seconds`: how long each step of its work takes.
    static func colorFeed(
        seconds: String = "0.1",
        settings: String = "",
        keys: String = "",
        options: [String] = []
    ) throws -> SampleApp {
        try SampleApp(
            "ColorFeed",
            """
            BackgroundModes=fetch;processing;
            PermittedTaskIdentifiers=\(refresh);\(cleaning);
            \(keys)
            """,
            settings: settings,
            environment: "COLORFEED_SECONDS=\(seconds);",
            options: options
        )
    }
}
