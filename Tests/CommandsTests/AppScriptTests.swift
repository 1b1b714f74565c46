import AppProtocol
import Linux
import TestKit
import Testing
import Vocabulary

/// `offstage begin`, `end`, `limits` and `watch`, in the scripts of an app under a real daemon.
struct AppScriptTests {
    let daemon: ScratchDaemon

    init() throws {
        daemon = try ScratchDaemon(
            settings: DaemonTests.calm + "finish-up=6s\nexpiry-warning=3s\nsuspend-delay=0s\n"
        )
        try daemon.write(
            manifest: "script",
            """
            [Desktop Entry]
            Type=Application
            Name=Script
            Exec=sh "\(daemon.scratch("home/script.sh"))"
            NoDisplay=true
            [X-Offstage]
            BackgroundModes=processing;

            """
        )
    }

    private func offstage(_ arguments: String...) throws -> Command.Outcome {
        var command = Command([Products.path(of: "offstage")] + arguments)
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        return try command.run()
    }

    /// The program runs by its path; what it does stands in files of its home.
    private func run(_ script: String) throws {
        let text = "offstage() { \"\(Products.path(of: "offstage"))\" \"$@\"; }\n" + script + "\n"
        try daemon.scratch.write("home/script.sh", text)
        try daemon.start()
        #expect(try offstage("open", "script").succeeded)
    }

    private func read(_ name: String, _ isWanted: (String) -> Bool = { $0.hasSuffix("\n") }) throws
        -> String
    {
        try Wait.until(file: daemon.scratch("home/" + name), "written by the script", isWanted)
    }

    @Test func `a task is begun and ended by its number`() throws {
        try run(
            """
            offstage begin upload > begun 2>&1
            offstage end $(cat begun) > ended 2>&1; echo $? >> ended
            offstage end 99 > twice 2>&1; echo $? >> twice
            offstage limits > limits 2>&1
            offstage limits --json > json 2>&1
            offstage begin upload --json > begun.json 2>&1
            offstage end --json 2 > ended.json 2>&1
            offstage end --json 2 > twice.json 2>&1
            echo > done
            """
        )
        _ = try read("done")
        #expect(try read("begun") == "1\n")
        #expect(try read("ended") == "0\n")
        let twice = try read("twice")
        #expect(twice.hasPrefix("offstage: no such background task is open"), "\(twice)")
        #expect(twice.hasSuffix("3\n"))
        let limits = try read("limits")
        #expect(limits.contains("foreground") && limits.contains("memory"), "\(limits)")
        #expect(try ValueJSON.parse(read("json"))["state"] == "foreground")
        let begun = try ValueJSON.parse(read("begun.json"))
        #expect(begun == ["name": "upload", "task": 2])
        try JSONTests.expect("begin", read("begun.json"))
        #expect(try ValueJSON.parse(read("ended.json")) == ["task": 2])
        try JSONTests.expect("end", read("ended.json"))
        #expect(try ValueJSON.parse(read("twice.json"))["status"] == 3)
    }

    /// It has the rest of its run, and no user has to be in the app for that.
    @Test func `a refresh command begins a task in its run`() throws {
        try daemon.write(
            manifest: "feed",
            """
            [Desktop Entry]
            Type=Application
            Name=Feed
            Exec=true
            NoDisplay=true
            [X-Offstage]
            BackgroundModes=fetch;
            RefreshCommand=sh "\(daemon.scratch("home/refresh.sh"))"

            """
        )
        try daemon.scratch.write(
            "home/refresh.sh",
            """
            offstage() { "\(Products.path(of: "offstage"))" "$@"; }
            offstage begin fetch > begun 2>&1
            offstage limits --json > json 2>&1
            offstage end $(cat begun) > ended 2>&1; echo $? >> ended

            """
        )
        try daemon.start()
        // It may have begun by itself.
        _ = try offstage("run", "feed")
        #expect(try read("ended") == "0\n")
        #expect(try read("begun") == "1\n")
        #expect(try ValueJSON.parse(read("json"))["state"] == "background")
    }

    @Test func `a command has the task while it runs, and gives its status`() throws {
        try run(
            """
            echo input | offstage begin upload -- sh -c 'cat; echo output; exit 7' > out 2>&1
            echo "status $?" >> out
            offstage begin upload -- /no/such/program > missing 2>&1; echo $? >> missing
            offstage begin upload -- sh -c 'kill -TERM $$'; echo $? > signal
            offstage begin upload --socket "\(daemon.socket)" -- echo --socket -- /x > option 2>&1
            """
        )
        #expect(try read("out") { $0.contains("status") } == "input\noutput\nstatus 7\n")
        #expect(try read("signal") == "143\n")
        // Behind --, options are the command's.
        #expect(try read("option") == "--socket -- /x\n")
        #expect(!(try read("missing") { $0.hasSuffix("\n") }).hasSuffix("\n0\n"))
    }

    @Test func `its end is told to the command by SIGTERM, and the app lives`() throws {
        try run(
            """
            offstage begin upload -- sh -c 'trap "echo told > told; exit 3" TERM; echo > begun
                while :; do sleep 0.1; done'
            echo $? > status
            while :; do sleep 1; done
            """
        )
        _ = try read("begun")
        #expect(try offstage("leave", "script").succeeded)
        #expect(try read("told") == "told\n")
        // With its last task the app is suspended, and goes on when its user is back.
        #expect(try offstage("open", "script").succeeded)
        #expect(try read("status") == "3\n")
    }

    @Test func `a daemon that is started again holds it too, and tells of its end`() throws {
        try daemon.scratch.write(
            "offstage.conf",
            DaemonTests.calm
                + "finish-up=60s\nwake-grant=60s\nexpiry-warning=58s\nsuspend-delay=0s\n"
        )
        try run(
            """
            offstage begin upload -- sh -c 'trap "echo told > told; exit 3" TERM; echo > begun
                while :; do sleep 0.1; done'
            echo $? > status
            while :; do sleep 1; done
            """
        )
        _ = try read("begun")
        try daemon.restart()
        #expect(try offstage("leave", "script").succeeded)
        #expect(try read("told") == "told\n")
        #expect(try offstage("open", "script").succeeded)
        #expect(try read("status") == "3\n")
    }

    @Test func `outside an app it is said how to get into one`() throws {
        try daemon.start()
        for words in [["begin", "x"], ["end", "1"], ["limits"]] {
            let outcome = try offstage(words[0], words.count > 1 ? words[1] : "--json")
            #expect(outcome.status == .exited(1), "\(words)")
            #expect(outcome.errors.contains("this process belongs to no app"), "\(outcome.errors)")
            #expect(outcome.errors.contains("offstage open --attach"))
        }
        #expect(try offstage("end", "none").status == .exited(2))
        #expect(try offstage("begin", "x", "sleep", "1").status == .exited(2))
        let late = try offstage("begin", "x", "--jsn", "--", "true")
        #expect(late.errors.contains("Did you mean --json?"), "\(late)")
        #expect(try offstage("watch", "nobody").status == .exited(3))
    }

    @Test func `who watches sees what happens`() throws {
        try daemon.start()
        var command = Command(Products.path(of: "offstage"), "watch", "--json", "script")
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        try daemon.scratch.write("home/script.sh", "exit 0\n")
        let log = daemon.scratch("watched")
        let watcher = try command.start(logging: log)
        defer {
            try? watcher.send(Signal.kill)
            _ = try? watcher.wait(block: true)
        }
        // Whether it listens already is not told: it is opened until it does.
        let watch = try Inotify()
        _ = try watch.add(daemon.scratch.path, [.modified, .created])
        try Wait.until("a line", { try Files.text(log).contains("\n") }) {
            _ = try offstage("open", "script")
            _ = Poll.ready(watch.descriptor.number, for: .readable, milliseconds: 100)
            _ = try watch.events()
        }
        let first = try Files.text(log).split(separator: "\n").first ?? ""
        let line = try ValueJSON.parse(String(first))
        #expect(line["app"] == "script" && line["what"]?.stringValue != nil, "\(first)")
    }
}
