import Linux
import TestKit
import Testing
import Vocabulary

/// Manifests that cannot be used, and files that cannot even be read: they are said to be so, and
/// said first.
struct UnusableManifestTests {
    private static let entry =
        "[Desktop Entry]\nType=Application\nName=Reader\nExec=true\n[X-Offstage]\n"
        + "BackgroundModes=fetch;\n"

    private func offstage(
        _ bench: DaemonBench,
        _ arguments: String...,
        data: String? = nil
    ) throws -> Command.Outcome {
        var command = Command([Products.path(of: "offstage")] + arguments)
        command.user = bench.daemon.user
        command.environment = Command.cleanEnvironment([
            "OFFSTAGE_SOCKET": bench.daemon.socket, "HOME": bench.home(""),
            "XDG_DATA_HOME": data ?? bench.daemon.scratch("data"),
            "XDG_DATA_DIRS": bench.daemon.scratch("other"),
        ])
        return try command.run()
    }

    private func path(_ bench: DaemonBench, _ name: String) -> String {
        bench.daemon.scratch("data/applications/\(name).desktop")
    }

    /// One of each kind, and the words that must be said of it.
    private func unusable(_ bench: DaemonBench) throws -> [(app: String, says: String)] {
        try bench.manifest("typo", "BackgroundModes=fetch;\nRefreshInterval=soon")
        try bench.daemon.write(
            manifest: "group",
            Self.entry.replacing("[X-Offstage]", with: "[X-offstage]")
        )
        #expect(try Command("ln", "-s", "nowhere", path(bench, "link")).run().succeeded)
        #expect(try Command("mkfifo", path(bench, "pipe")).run().succeeded)
        #expect(try Command("ln", "-s", "/", path(bench, "folder")).run().succeeded)
        return [
            ("folder", "it is a directory, not a file"), ("group", "is not the group [X-Offstage]"),
            ("link", "it is a link to nowhere, which is not there"),
            ("pipe", "it is a pipe, not a file"), ("typo", "is not a time"),
        ]
    }

    @Test func `status and doctor begin with the manifests that cannot be used`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.manifest("good", "BackgroundModes=fetch;")
        let cases = try unusable(bench)
        try bench.daemon.start()
        let status = try offstage(bench, "status").output
        #expect(status.hasPrefix("Manifests and settings that cannot be used\n"), "\(status)")
        let checks = try offstage(bench, "doctor").output
        for (app, says) in cases {
            let lines = status.split(separator: "\n").filter { $0.hasPrefix("  \(app) ") }
            #expect(lines.count == 1 && lines[0].contains(says), "\(app) in \(status)")
            let explained = try offstage(bench, "explain", app)
            #expect(explained.status == .exited(0))
            #expect(explained.output.contains(says), "\(app): \(explained)")
            #expect(try bench.app(app)?["file"] == .string(path(bench, app)))
        }
        let first = checks.split(separator: "\n").prefix(cases.count * 3)
            .filter { !$0.hasPrefix(" ") }
        let files = cases.map { "warn  manifests: \(path(bench, $0.app)): " }
        #expect(
            first.count == files.count && zip(first, files).allSatisfy { $0.hasPrefix($1) },
            "\(checks)"
        )
        let listed = try bench.ask("Status")["invalid"]?.listValue ?? []
        #expect(listed.map { $0["app"]?.stringValue } == cases.map(\.app))
        for (app, _) in cases { try Files.remove(path(bench, app)) }
        try bench.wait(until: "all mended") { try bench.ask("Status")["invalid"] == .list([]) }
        #expect(try offstage(bench, "doctor").output.hasPrefix("good  manifests: 1 app; searched"))
    }

    @Test func `without a daemon the doctor says the same of them`() throws {
        let bench = try DaemonBench(starting: false)
        let cases = try unusable(bench)
        let outcome = try offstage(bench, "doctor")
        let checks = outcome.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(checks.first?.hasPrefix("warn  daemon: ") == true)
        for ((app, says), check) in zip(cases, checks.dropFirst()) {
            #expect(check.hasPrefix("warn  manifests: \(path(bench, app)): "), "\(outcome)")
            #expect(check.contains(says), "\(outcome)")
        }
    }

    @Test(.enabled(if: Unprivileged.isPossible, "needs root, and a user nobody"))
    func `a file and a directory that nobody may read are told, and reading them again is enough`()
        throws
    {
        let bench = try DaemonBench(as: Command.ordinaryUser, starting: false)
        try bench.manifest("reader", "BackgroundModes=fetch;")
        try bench.daemon.scratch.write("data/applications/shut/x.desktop", Self.entry)
        try Files.setPermissions(path(bench, "reader"), 0)
        try Files.setPermissions(bench.daemon.scratch("data/applications/shut"), 0)
        defer {
            try? Files.setPermissions(bench.daemon.scratch("data/applications/shut"), 0o755)
        }
        try bench.daemon.start()
        let explained = try offstage(bench, "explain", "reader")
        #expect(explained.output.contains("it cannot be read: Permission denied"), "\(explained)")
        let checks = try offstage(bench, "doctor").output
        #expect(
            checks.hasPrefix("warn  manifests: \(bench.daemon.scratch("data/applications/shut"))")
        )
        let lint = try offstage(bench, "lint", path(bench, "reader"))
        #expect(lint.output.contains("error: cannot be read: Permission denied"), "\(lint)")
        try Files.setPermissions(path(bench, "reader"), 0o644)
        try bench.wait(until: "readable") { try bench.app("reader")?["problem"] == nil }
        #expect(try bench.app("reader")?["modes"] == ["fetch"])
    }

    @Test(.enabled(if: Unprivileged.isPossible, "needs root, and a user nobody"))
    func `a directory that cannot be read any more ends no run, and is told until it can`()
        throws
    {
        let bench = try DaemonBench(as: Command.ordinaryUser, starting: false)
        try bench.refresh("reader", "echo $$ > pid; exec sleep 1000")
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        let directory = bench.daemon.scratch("data/applications")
        try Files.setPermissions(directory, 0)
        defer { try? Files.setPermissions(directory, 0o755) }
        try bench.wait(until: "told") { try bench.app("reader")?["problem"] != nil }
        for isRestarted in [false, true] {
            if isRestarted { try bench.restart() }
            let status = try offstage(bench, "status").output
            #expect(status.hasPrefix("Manifests and settings that cannot be used\n"), "\(status)")
            #expect(
                try bench.app("reader")?["problem"]
                    == .string("\(directory) cannot be read: Permission denied")
            )
            #expect(process.isAlive)
            #expect(try bench.running("reader")?["pid"]?.integerValue == Int64(process.pid))
            #expect(try bench.runs("reader").isEmpty)
        }
        try Files.setPermissions(directory, 0o755)
        try bench.wait(until: "readable") { try bench.app("reader")?["problem"] == nil }
        #expect(try bench.app("reader")?["modes"] == ["fetch"])
        #expect(process.isAlive)
    }

    @Test func `lint says where the daemon does not look, and whom it finds first`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.manifest("reader", exec: "/bin/true", "BackgroundModes=fetch;")
        let found = path(bench, "reader")
        #expect(try offstage(bench, "lint", found).output == "\(found): good\n")
        for word in ["reader", "reader.desktop"] {
            let named = try offstage(bench, "lint", word)
            let says = "\(word): error: is not there. The manifest of the app reader is \(found).\n"
            #expect(named.output == says && named.status == .exited(3), "\(named)")
        }
        #expect(
            try offstage(bench, "lint", "nobody").output
                == "nobody: error: is not there. Name a file: a manifest is called NAME.desktop.\n"
        )
        let below = try bench.daemon.scratch.write("data/applications/kde/feed.desktop", Self.entry)
        #expect(
            try offstage(bench, "lint", "--json", below).output.contains("\"app\": \"kde-feed\"")
        )
        let outside = try bench.daemon.scratch.write("project/feed.desktop", Self.entry)
        let lint = try offstage(bench, "lint", outside)
        #expect(lint.succeeded)
        #expect(lint.output.contains("warning: is in no directory that is searched"), "\(lint)")
        #expect(!lint.output.contains("good"))
        let own = bench.daemon.scratch("data/applications")
        #expect(lint.output.contains("Copy it to \(own), or link it there."))
        #expect(try Command("ln", "-s", outside, path(bench, "linked")).run().succeeded)
        #expect(try offstage(bench, "lint", outside).output == "\(outside): good\n")
        let second = try bench.daemon.scratch.write(
            "other/applications/reader.desktop",
            Self.entry
        )
        let hidden = try offstage(bench, "lint", second).output
        #expect(hidden.contains("\"reader\" is also the app of \(found), which is found first"))
        // A daemon that was told of other directories knows better.
        try bench.daemon.start()
        let elsewhere = try offstage(bench, "lint", found, data: bench.daemon.scratch("none"))
        #expect(elsewhere.output == "\(found): good\n", "\(elsewhere)")
        // And what this command's environment says counts no more.
        let alone = try bench.daemon.scratch.write("mine/applications/alone.desktop", Self.entry)
        let mine = bench.daemon.scratch("mine")
        let unknown = try offstage(bench, "lint", alone, data: mine)
        #expect(unknown.output.contains("warning: is not known to the daemon"), "\(unknown)")
        #expect(unknown.output.contains("Run \"offstage reload\"."), "\(unknown)")
        let twin = try bench.daemon.scratch.write("mine/applications/reader.desktop", Self.entry)
        let used = try offstage(bench, "lint", twin, data: mine).output
        #expect(used.contains("\"reader\" is also the app of \(found), which is found first"))
        let named = try offstage(bench, "lint", "--json", below, data: mine).output
        #expect(named.contains("\"app\": \"kde-feed\""), "\(named)")
        try bench.kill()
        #expect(try offstage(bench, "lint", alone, data: mine).output == "\(alone): good\n")
    }

    /// Files of packages and administrators that are of no use, beside an app that is.
    private func leaveBehind(_ bench: DaemonBench) throws -> String {
        try bench.manifest("good", "BackgroundModes=fetch;")
        let scratch = bench.daemon.scratch
        try Files.makeDirectory(scratch("other/applications"), parents: true)
        let dead = scratch("other/applications/dead.desktop")
        #expect(try Command("ln", "-s", "nowhere", dead).run().succeeded)
        let mask = path(bench, "hidden")
        #expect(try Command("ln", "-s", "/dev/null", mask).run().succeeded)
        try scratch.write("other/applications/hidden.desktop", Self.entry)
        try scratch.write(
            "other/applications/away.desktop",
            Self.entry.replacing("Exec=true", with: "TryExec=no-such-program\nExec=true")
        )
        // Larger than most, and its group last.
        let comment = "#" + String(repeating: "x", count: 2 << 20) + "\n"
        try scratch.write("other/applications/large.desktop", comment + Self.entry)
        return dead
    }

    @Test(arguments: [false, true])
    func `status is not alarmed by what is nobody's mistake, and the doctor says it`(
        _ isRunning: Bool
    ) throws {
        let bench = try DaemonBench(starting: false)
        let dead = try leaveBehind(bench)
        let large = bench.daemon.scratch("other/applications/large.desktop")
        if isRunning {
            let scratch = bench.daemon.scratch
            bench.daemon.options = ["--data", "\(scratch("data")):\(scratch("other"))"]
            try bench.daemon.start()
            let listed = try bench.ask("Status")["invalid"]?.listValue ?? []
            #expect(listed.map { $0["app"] } == ["large"], "\(listed)")
            #expect(try bench.app("away")?["state"] == "not installed")
            #expect(try bench.app("hidden") == nil && bench.app("dead") == nil)
        }
        let doctor = try offstage(bench, "doctor").output
        let checks = doctor.split(separator: "\n").filter { $0.contains("  manifests: ") }
        #expect(checks.count == 2, "\(doctor)")
        let size = "has \((2 << 20) + 2 + Self.entry.utf8.count) bytes; at most 65536 are read"
        #expect(checks.first?.contains("\(large): the file \(size)") == true, "\(doctor)")
        let link = "\(dead): it is a link to nowhere, which is not there"
        #expect(checks.last?.contains(link) == true, "\(doctor)")
    }

    @Test func `lint reads files, and nothing that would keep it waiting`() throws {
        let bench = try DaemonBench(starting: false)
        for (app, says) in try unusable(bench) where !["typo", "group"].contains(app) {
            let lint = try offstage(bench, "lint", path(bench, app))
            let what = says.replacing("it is", with: "is")
            #expect(lint.output.contains("\(path(bench, app)): error: \(what)."), "\(lint)")
            #expect(lint.status == .exited(app == "link" ? 3 : 1))
        }
    }
}
