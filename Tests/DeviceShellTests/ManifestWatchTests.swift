import Linux
import TestKit
import Testing
import Vocabulary

/// Manifests take effect when they are written, without a word to the daemon.
struct ManifestWatchTests {
    @Test func `a manifest that is added is an app at once`() throws {
        let bench = try DaemonBench()
        #expect(try bench.ask("Apps") == .list([]))
        try bench.refresh("reader", "echo run >> runs")
        try bench.wait(for: "runs")
        #expect(try bench.nextRun("reader")["result"] == "new data")
        #expect(try bench.app("reader")?["modes"] == ["fetch"])
    }

    @Test func `a manifest in a directory below is found under its desktop file id`() throws {
        let bench = try DaemonBench()
        try bench.script("tool.sh", "echo run >> runs")
        try bench.daemon.scratch.write(
            "data/applications/vendor/tool.desktop",
            "[Desktop Entry]\nType=Application\nName=Tool\nExec=true\n"
                + "[X-Offstage]\nBackgroundModes=fetch;\nRefreshCommand=sh tool.sh\n"
        )
        try bench.wait(for: "runs")
        #expect(try bench.app("vendor-tool")?["name"] == "Tool")
    }

    @Test func `an edited manifest is in force at once`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.refresh("reader", "echo first >> runs", "RefreshInterval=1h")
        try bench.daemon.start()
        try bench.wait(for: "runs") { $0 == "first\n" }
        _ = try bench.nextRun("reader")
        try bench.script("other.sh", "echo second >> runs")
        try bench.manifest(
            "reader",
            "BackgroundModes=fetch;\nRefreshCommand=sh other.sh\nRefreshInterval=1s"
        )
        try bench.wait(for: "runs") { $0.hasPrefix("first\nsecond\n") }
    }

    @Test func `a removed manifest ends what runs for it, and nothing starts any more`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.refresh("reader", "echo $$ > pid; exec sleep 1000")
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        try Files.remove(bench.daemon.scratch("data/applications/reader.desktop"))
        try Wait.untilGone(process)
        let run = try bench.nextRun("reader")
        #expect(run["result"] == "expired: its manifest is gone or no longer allows it")
        #expect(try bench.app("reader") == nil)
        #expect(try bench.refusal("Run", "reader", [:]).name == "org.offstage.Error.NotFound")
    }

    @Test func `a broken manifest names line, key, value and fix, and mending it is enough`()
        throws
    {
        let bench = try DaemonBench(starting: false)
        try bench.refresh("reader", "echo run >> runs", "RefreshInterval=1 our")
        try bench.daemon.start()
        let problem = try bench.app("reader")?["problem"]?.stringValue ?? ""
        for part in ["line 10", "RefreshInterval", "1 our", "15m"] {
            #expect(problem.contains(part), "\(part) in: \(problem)")
        }
        let sentence = try bench.explain("reader")["sentence"]?.stringValue ?? ""
        #expect(sentence.contains(problem))
        #expect(!sentence.hasSuffix(".."))
        #expect(bench.read("runs") == "")
        try bench.refresh("reader", "echo run >> runs", "RefreshInterval=1h")
        try bench.wait(for: "runs")
        #expect(try bench.app("reader")?["problem"] == nil)
        try bench.refresh("reader", "echo run >> runs", "RefreshInterval=soon")
        try bench.wait(until: "broken again") { try bench.app("reader")?["problem"] != nil }
        let again = try bench.app("reader")?["problem"]?.stringValue ?? ""
        #expect(again.contains("soon") && again.contains("RefreshInterval"), "\(again)")
    }

    @Test func `an applications folder that is made later is watched all the same`() throws {
        let bench = try DaemonBench(starting: false)
        try Files.removeTree(bench.daemon.scratch("data"))
        try bench.daemon.start()
        try bench.refresh("reader", "echo run >> runs")
        try bench.wait(for: "runs")
    }

    @Test func `desktop files without our group are nobody's business`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.daemon.write(
            manifest: "plain",
            "[Desktop Entry]\nType=Application\nName=Plain\nExec=sh -c \"echo run > ran\"\n"
        )
        try bench.refresh("reader", "echo run >> runs")
        try bench.daemon.start()
        _ = try bench.nextRun("reader")
        #expect(try bench.app("plain") == nil)
        #expect(bench.read("ran") == "")
        #expect(try bench.refusal("Open", "plain", [:]).name == "org.offstage.Error.NotFound")
    }

    @Test func `reload looks again whether TryExec is installed`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.manifest(
            "reader",
            entry: "TryExec=\(bench.home("bin/reader"))",
            "BackgroundModes=fetch;"
        )
        try bench.daemon.start()
        let problem = try bench.app("reader")?["problem"]?.stringValue
        #expect(problem?.contains("is not installed") == true)
        try bench.daemon.scratch.write("home/bin/reader", "#!/bin/sh\n", permissions: 0o755)
        try bench.ask("Reload")
        #expect(try bench.app("reader")?["problem"] == nil)
        #expect(try bench.app("reader")?["modes"] == ["fetch"])
    }

    @Test func `a manifest that is too large says so`() throws {
        let bench = try DaemonBench(starting: false)
        let comment = "# " + String(repeating: "x", count: 98) + "\n"
        try bench.manifest(
            "reader",
            "BackgroundModes=fetch;\n" + String(repeating: comment, count: 700)
        )
        try bench.daemon.start()
        let problem = try bench.app("reader")?["problem"]?.stringValue
        #expect(problem?.contains("bytes; at most 65536 are read") == true, "\(bench.report)")
        let file = bench.daemon.scratch("data/applications/reader.desktop")
        let lint = try Command(Products.path(of: "offstage"), "lint", file).run()
        #expect(lint.status == .exited(1))
        #expect(lint.output.contains("at most 65536 are read"), "\(lint)")
    }
}
