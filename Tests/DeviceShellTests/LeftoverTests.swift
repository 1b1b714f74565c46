@testable import DeviceShell
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// What daemons leave behind, and what they find.
struct LeftoverTests {
    /// The number of a process that is gone.
    private func goneNumber() throws -> Int32 {
        let process = try Command("true").start()
        let pid = process.pid
        _ = try process.wait(block: true)
        return pid
    }

    @Test func `a daemon that starts takes away the halves that dead writers left`() throws {
        let bench = try DaemonBench(starting: false)
        let scratch = bench.daemon.scratch
        let (gone, own) = (try goneNumber(), CurrentProcess.pid)
        try Files.makeDirectory(scratch("state/launches"), permissions: 0o700)
        try scratch.write("state/lock", "")
        try scratch.write("state/launches/step", "signals\n\n")
        let old = [
            "state/offstage.conf.\(gone).new", "state/launches/step.\(gone).new",
            "offstage.conf.\(gone).new",
        ]
        let others = ["offstage.conf.\(own).new", "letter.\(gone).new", "offstage.conf.new"]
        for name in old + others { try scratch.write(name, "half") }
        try bench.daemon.start()
        for name in old { #expect(!Files.exists(scratch(name)), "\(name)") }
        for name in others { #expect(Files.exists(scratch(name)), "\(name)") }
    }

    @Test(.enabled(if: ProcessBench.steps != [.signals], "no cgroups that we may use"))
    func `cgroups in which a killed daemon tried something go with the next`() throws {
        let bench = try DaemonBench()
        let markers = LaunchMarkers(bench.daemon.scratch("state/launches"))
        let step = try #require(markers.recordedStep())
        try #require(!step.path.isEmpty)
        let trial = step.path + "/trial-\(try goneNumber())"
        // Made ahead of a commit that did not come.
        let prepared = step.path + "/launch-77"
        try bench.kill()
        for group in [trial, prepared] { try Files.makeDirectory(group) }
        try bench.daemon.start()
        for group in [trial, prepared] { #expect(!Files.exists(group)) }
    }

    @Test func `a clean end leaves no socket, no keeper and no cgroup`() throws {
        let bench = try DaemonBench()
        try bench.submit(":", id: "once")
        _ = try bench.nextRun("command.once")
        let scratch = bench.daemon.scratch
        let step = try #require(LaunchMarkers(scratch("state/launches")).recordedStep())
        let keeper = try #require(bench.keeper)
        #expect(keeper.isAlive)
        #expect(try bench.stop() == .exited(0))
        #expect(!Files.exists(bench.daemon.socket))
        #expect(!keeper.isAlive)
        if !step.path.isEmpty { #expect(!Files.exists(step.path)) }
    }

    @Test func `logs of commands that nobody knows any more are not kept for ever`() throws {
        let scratch = ScratchDirectory()
        try Files.makeDirectory(scratch("logs"))
        var device = Device()
        var effects: [Effect] = []
        // One moment: no shared wake of the device comes in between and starts some of them.
        let now = Clocks.now()
        func handle(_ event: Event) { device.handle(event, at: now, into: &effects) }
        handle(.started(Start(bootID: "b", seed: 1)))
        // Each has run once and is known for a while.
        for number in 0..<(Sweep.commandLogs + 5) {
            effects.removeAll()
            let submission = Submission(
                identifier: "c\(number)",
                kind: .refresh,
                needs: Needs(),
                command: ["true"]
            )
            handle(.user(.submit(submission), reply: ReplyToken(UInt64(number + 1))))
            handle(
                .user(.cancel(AppID("command.c\(number)"), identifier: nil), reply: ReplyToken(0))
            )
            try scratch.write("logs/command.c\(number).log", "x")
        }
        try scratch.write("logs/command.stranger.log", "x")
        try scratch.write("logs/command.stranger.log.1", "x")
        Sweep.logs(in: scratch("logs"), of: device)
        let left = try Files.list(scratch("logs"))
        #expect(!left.contains { $0.contains("stranger") })
        #expect(left.count <= Sweep.commandLogs)
    }

    @Test func `files of sessions that no transfer has are removed`() throws {
        let scratch = ScratchDirectory()
        try Files.makeDirectory(scratch("photos"))
        var device = Device()
        var effects: [Effect] = []
        func handle(_ event: Event) { device.handle(event, at: Clocks.now(), into: &effects) }
        handle(.started(Start(bootID: "b", seed: 1)))
        let order = TransferOrder(url: "http://example.org/1", directory: scratch("photos"))
        let reply = ReplyToken(1)
        handle(.user(.transfer(.enqueue([order], token: nil)), reply: reply))
        let ids = effects.compactMap { (effect) -> [TransferID]? in
            guard case .reply(reply, .transfers(let ids)) = effect else { return nil }
            return ids
        }
        let id = try #require(ids.first?.first)
        let app = device.apps[0].id
        try Files.makeDirectory(scratch(app.name))
        let kept = [".offstage-\(id).part", "\(id).download", "letter"]
        for name in kept + [".offstage-9999.part", "9999.download"] {
            try scratch.write("\(app.name)/\(name)", "x")
        }
        try scratch.write("photos/9999.download", "x")
        Sweep.transfers(in: scratch.path, of: device)
        #expect(try Files.list(scratch(app.name)).sorted() == kept.sorted())
        #expect(try Files.list(scratch("photos")).isEmpty)
    }

    @Test(arguments: ["state", "run"])
    func `a directory with other people's files is refused, and left as it is`(_ name: String)
        throws
    {
        let daemon = try ScratchDaemon()
        try daemon.scratch.write("\(name)/letter", "dear")
        try Files.setPermissions(daemon.scratch(name), 0o755)
        #expect(throws: DidNotHappen.self) { try daemon.start() }
        #expect(daemon.log.contains("\(daemon.scratch(name)) holds files that are not Offstage's"))
        #expect(Files.status(daemon.scratch(name))?.permissions == 0o755)
        #expect(try Files.list(daemon.scratch(name)) == ["letter"])
    }

    @Test(arguments: ["logs/server.log", "lock/key", "offstage.db/part"])
    func `a name that we use too makes a directory not ours`(_ file: String) throws {
        let daemon = try ScratchDaemon()
        try daemon.scratch.write("state/\(file)", String(repeating: "line\n", count: 400_000))
        #expect(throws: DidNotHappen.self) { try daemon.start() }
        #expect(daemon.log.contains("holds files that are not Offstage's"))
        #expect(Files.status(daemon.scratch("state/\(file)"))?.size == 2_000_000)
    }

    @Test func `links that lead in a circle make no app twice`() throws {
        let scratch = ScratchDirectory()
        for name in ["one", "two"] {
            try Files.makeDirectory(scratch("a/\(name)"), parents: true)
            try scratch.write(
                "a/\(name)/app.desktop",
                "[Desktop Entry]\nType=Application\nName=x\nExec=true\n\n[X-Offstage]\n"
                    + "BackgroundModes=fetch;\nRefreshCommand=true\n"
            )
        }
        try Files.makeDirectory(scratch("b"))
        for (link, target) in [
            ("a/loop", "."), ("a/one/up", ".."), ("a/again", "two"), ("b/there", "../a"),
            ("b/one", "../a/one"),
        ] {
            #expect(try Command("ln", "-s", target, scratch(link)).run().succeeded)
        }
        var library = ManifestLibrary(
            directories: [scratch("a"), scratch("b")],
            home: scratch.path
        )
        let apps = library.scan().compactMap {
            if case .present(let manifest) = $0 { manifest.id.name } else { nil }
        }
        #expect(apps.sorted() == ["one-app", "two-app"])
        #expect(library.watched().count <= 4)
    }

    @Test func `a folder outside that a link leads to is searched`() throws {
        let scratch = ScratchDirectory()
        try Files.makeDirectory(scratch("a"))
        try Files.makeDirectory(scratch("elsewhere"))
        try scratch.write(
            "elsewhere/app.desktop",
            "[Desktop Entry]\nType=Application\nName=x\nExec=true\n\n[X-Offstage]\n"
                + "BackgroundModes=fetch;\nRefreshCommand=true\n"
        )
        #expect(try Command("ln", "-s", "../elsewhere", scratch("a/link")).run().succeeded)
        var library = ManifestLibrary(directories: [scratch("a")], home: scratch.path)
        #expect(library.scan().count == 1)
    }
}
