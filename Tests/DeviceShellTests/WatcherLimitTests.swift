import Linux
import TestKit
import Testing
import Vocabulary

/// A kernel that watches no more files for this user.
private enum NoWatchers {
    /// In a namespace where the limit is none; the program keeps its process.
    static let wrapper = [
        "unshare", "--user", "--map-root-user", "sh", "-c",
        "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$@\"", "sh",
    ]

    static let isPossible = (try? Command(wrapper + ["true"]).run())?.succeeded == true
}

@Suite(.enabled(if: NoWatchers.isPossible, "user namespaces are not to be had here"))
struct WatcherLimitTests {
    @Test func `the daemon goes on without being told of files, and says so`() throws {
        let bench = try DaemonBench(starting: false)
        bench.daemon.wrapper = NoWatchers.wrapper
        try bench.refresh("reader", "echo run >> runs", "UseFrom=file:~/runs")
        try bench.daemon.start()
        try bench.wait(for: "runs")
        let check = try bench.ask("Doctor").listValue?.first { $0["check"] == "watching files" }
        #expect(check?["ok"] == false)
        #expect(
            check?["fix"]?.stringValue?.contains("max_user_instances") == true,
            "\(check ?? .null)"
        )
        // Asked to, it looks.
        try bench.refresh("later", "echo run >> later")
        try bench.ask("Reload")
        try bench.wait(for: "later")
    }
}
