import Linux
import TestKit
import Testing
import Vocabulary

/// What a command finds around it: what its manifest says, and nothing of the daemon.
struct ChildTests {
    private func environment(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if let name = parts.first {
                found[String(name)] = String(parts.dropFirst().first ?? "")
            }
        }
        return found
    }

    @Test func `the environment is clean, with what the manifest sets and passes on`() throws {
        let bench = try DaemonBench(starting: false)
        bench.daemon.environment = [
            "SECRET": "s", "PASSED_ON": "p", "LC_TIME": "C", "XDG_DATA_HOME": "/x",
            "LD_LIBRARY_PATH": "/x", "LISTEN_FDNAMES": "x",
        ]
        try bench.refresh(
            "reader",
            "env > environment; echo > done",
            "Environment=OWN=a b;HOME=/over;\nPassEnvironment=PASSED_ON;MISSING;"
        )
        try bench.daemon.start()
        try bench.wait(until: "ran") { try !bench.runs("reader").isEmpty }
        let found = environment(bench.read("environment"))
        #expect(found["OWN"] == "a b")
        #expect(found["HOME"] == "/over")
        #expect(found["PASSED_ON"] == "p")
        #expect(found["LC_TIME"] == "C")
        #expect(found["XDG_DATA_HOME"] == "/x")
        #expect(found["OFFSTAGE_APP"] == "reader")
        #expect(found["OFFSTAGE_SOCKET"] == bench.daemon.socket)
        #expect(found["PATH"] == CurrentProcess.environment("PATH"))
        for name in ["SECRET", "NOTIFY_SOCKET", "LISTEN_FDNAMES", "LD_LIBRARY_PATH", "MISSING"] {
            #expect(found[name] == nil, "\(name)")
        }
    }

    @Test func `a command runs in the directory of its entry, with its arguments exact`() throws {
        let bench = try DaemonBench(starting: false)
        try Files.makeDirectory(bench.home("place"))
        try bench.script(
            "show.sh",
            "pwd > ../where; printf '%s|' \"$@\" > ../arguments; echo > ../done"
        )
        try bench.manifest(
            "reader",
            entry: "Path=\(bench.home("place"))",
            #"""
            BackgroundModes=fetch;
            RefreshCommand=sh ../show.sh one "two words" "a\\"b" "" ~/path 100%%
            """#
        )
        try bench.daemon.start()
        try bench.wait(for: "done")
        #expect(bench.read("where") == bench.home("place") + "\n")
        #expect(bench.read("arguments") == "one|two words|a\"b||\(bench.home("path"))|100%|")
    }

    @Test func `nothing of the daemon leaks into a command`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.script(
            "reader.sh",
            """
            grep -E '^Sig(Blk|Ign)' /proc/self/status > signals
            cat /proc/$$/limits > limits
            head -c 1 && echo something
            ps -o pid=,sid=,tty= -p $$ > session
            echo $$ > pid
            """
        )
        try bench.manifest("reader", "BackgroundModes=fetch;\nRefreshCommand=sh reader.sh")
        try bench.manifest("lister", "BackgroundModes=fetch;\nRefreshCommand=ls -l /proc/self/fd")
        try bench.daemon.start()
        try bench.wait(for: "pid")
        #expect(try bench.nextRun("lister")["result"] == "new data")
        let log = bench.daemon.scratch("state/logs/lister.log")
        let listing = try bench.ask("Logs", "lister", [:])["text"]?.stringValue ?? ""
        let descriptors = listing.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard let arrow = words.firstIndex(of: "->"), words.count == arrow + 2 else {
                return nil
            }
            return "\(words[arrow - 1]) \(words[arrow + 1])"
        }
        // The one beside these is the directory that it lists.
        #expect(
            descriptors.filter { !$0.hasSuffix("/fd") } == [
                "0 /dev/null", "1 \(log)", "2 \(log)",
            ]
        )
        for line in bench.lines("signals") {
            #expect(line.hasSuffix("0000000000000000"), "\(line)")
        }
        let own = try ResourceLimit(current: .data)
        let data = bench.lines("limits").first { $0.hasPrefix("Max data size") } ?? ""
        let soft = data.split(separator: " ").dropFirst(3).first.map(String.init)
        #expect(soft == (own.soft == ResourceLimit.unlimited ? "unlimited" : "\(own.soft)"))
        #expect(try bench.ask("Logs", "reader", [:])["text"] == "something\n")
        let session = bench.read("session").split(separator: " ").map(String.init)
        #expect(session.first.map { $0 + "\n" } == bench.read("pid"))
        #expect(session.dropFirst().first == session.first, "a session of its own")
        #expect(session.last?.hasPrefix("?") == true, "no terminal")
    }

    @Test func `what a command prints is kept, errors as well, and only the end of it`() throws {
        let bench = try DaemonBench("log-size = 16K\n", starting: false)
        try bench.refresh(
            "reader",
            """
            i=0
            while [ $i -lt 5000 ]; do i=$((i+1)); echo "line $i of this run"; done
            # Until it is bounded: a flood may lose a line then.
            while [ "$(stat -L -c %s /proc/$$/fd/1)" -gt 16384 ]; do :; done
            echo last
            echo end
            echo problem >&2
            """
        )
        try bench.daemon.start()
        _ = try bench.nextRun("reader")
        let logs = try bench.ask("Logs", "reader", ["lines": 3])
        #expect(logs["text"] == "last\nend\nproblem\n")
        let directory = bench.daemon.scratch("state/logs")
        let sizes = try Files.list(directory).compactMap {
            Files.status(directory + "/" + $0)?.size
        }
        #expect(sizes.reduce(0, +) <= 24 << 10, "\(sizes)")
        #expect(logs["file"] == .string(directory + "/reader.log"))
        let unknown = try bench.refusal("Logs", "nobody", [:])
        #expect(unknown.name == "org.offstage.Error.NotFound")
    }

    @Test func `the whole of what a run started ends with it`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.refresh(
            "reader",
            "(sleep 1000 & echo $! > left) ; (setsid sleep 1000 & echo $! > escaped); exit 0"
        )
        try bench.daemon.start()
        let left = try bench.process(from: "left")
        let escaped = try bench.process(from: "escaped")
        try Wait.untilGone([left, escaped])
        #expect(try bench.nextRun("reader")["result"] == "new data")
    }
}
