import Linux
import TestKit
import Testing
import Vocabulary

/// What becomes of an app that is frozen while it holds a file lock.
struct FrozenLockTests {
    @Test func `locks in a program's own directories are spared, others end the app`() throws {
        let bench = try DaemonBench(
            "suspend-delay = 0s\nlock-check-delay = 0s\n",
            starting: false
        )
        try bench.daemon.scratch.write(
            "home/mailer",
            """
            #!/bin/sh
            mkdir -p "$HOME/.cache/mailer"
            exec 9> "$HOME/$1"
            flock 9
            echo $$ > "$2"
            while :; do sleep 1; done

            """,
            permissions: 0o755
        )
        for (app, lock) in [("org.example.Post", ".cache/mailer/lock"), ("other", "shared")] {
            try bench.manifest(
                app,
                exec: "\(bench.home("mailer")) \(lock) \(app).pid",
                entry: "NoDisplay=true",
                "BackgroundModes=fetch;"
            )
        }
        try bench.daemon.start()
        try bench.ask("Open", "org.example.Post", [:])
        let own = try bench.process(from: "org.example.Post.pid")
        try bench.ask("Leave", "org.example.Post", [:])
        try bench.waitUntilFrozen(own)
        // The check of the first comes before that of the second.
        try bench.ask("Open", "other", [:])
        let other = try bench.process(from: "other.pid")
        try bench.ask("Leave", "other", [:])
        try Wait.untilGone(other)
        #expect(own.isAlive)
        #expect(try bench.app("org.example.Post")?["state"] == "suspended")
        try bench.wait(until: "the end is told") {
            try bench.app("other")?["state"] == "not running"
        }
    }
}
