import DeviceCore
@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary

/// The settings file as people keep it: mended by hand, behind links, not there yet.
struct SettingsFileTests {
    private func value(_ bench: DaemonBench, _ name: String) throws -> String? {
        let settings = try bench.ask("Settings").listValue ?? []
        return settings.first { $0["setting"] == .string(name) }?["value"]?.stringValue
    }

    @Test func `a slip in the file does not bring back the defaults at the next start`() throws {
        let bench = try DaemonBench("background-refresh = off\n")
        #expect(try value(bench, "background-refresh") == "off")
        try bench.kill()
        try bench.daemon.scratch.write(
            "offstage.conf",
            DaemonBench.quick + "background-refresh = off\nno-such-thing = 1\n"
        )
        try bench.daemon.start()
        #expect(try value(bench, "background-refresh") == "off")
        #expect(bench.daemon.log.contains("the settings that were valid last are in force"))
        try bench.daemon.scratch.write("offstage.conf", DaemonBench.quick)
        try bench.ask("Reload")
        #expect(try value(bench, "background-refresh") == "on")
        let pause = try value(bench, "pause-after-boot")
        try bench.kill()
        try bench.daemon.scratch.write("offstage.conf", "no-such-thing = 1\n")
        try bench.daemon.start()
        #expect(try value(bench, "background-refresh") == "on")
        #expect(try value(bench, "pause-after-boot") == pause, "of the valid file before")
    }

    @Test func `status begins with a settings file that is not in force`() throws {
        let bench = try DaemonBench()
        func invalid() throws -> [Value] {
            try bench.ask("Status")["invalid"]?.listValue ?? []
        }
        #expect(try invalid() == [])
        try bench.manifest("odd", "BackgroundModes=fetsh;")
        let file = bench.daemon.scratch("offstage.conf")
        try bench.daemon.scratch.write("offstage.conf", DaemonBench.quick + "run-slotz = 1\n")
        try bench.daemon.scratch.write("administrator.conf", "no-such-thing = 1\n")
        _ = try bench.refusal("Reload")
        let found = try invalid()
        #expect(found.count == 3, "\(found)")
        #expect(found.map { $0["app"] } == [nil, nil, "odd"])
        #expect(found[0]["file"] == .string(file))
        #expect(found[0]["problem"]?.stringValue?.contains("run-slotz") == true)
        #expect(found[1]["file"] == .string(bench.daemon.scratch("administrator.conf")))
        #expect(try bench.ask("Overview", [:])["invalid"]?.listValue?.count == 3)
        var command = Command(Products.path(of: "offstage"), "status")
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
        let lines = try command.run().output.split(separator: "\n")
        #expect(lines[0] == "Manifests and settings that cannot be used")
        #expect(lines[2].hasPrefix("  settings  ") && lines[2].contains("run-slotz"), "\(lines)")
        let manifest = bench.daemon.scratch("data/applications/odd.desktop")
        #expect(lines.contains("  All that is wrong: offstage lint \(manifest)"), "\(lines)")
        try bench.daemon.scratch.write("offstage.conf", DaemonBench.quick)
        try bench.daemon.scratch.write("administrator.conf", "")
        try bench.ask("Reload")
        #expect(try invalid().map { $0["app"] } == ["odd"])
    }

    @Test func `default takes a setting back, and nothing that is none`() throws {
        let bench = try DaemonBench()
        try bench.set("wake-price", "400")
        #expect(try value(bench, "wake-price") == "400")
        for _ in 1...2 {
            try bench.set("wake-price", "default")
            #expect(try value(bench, "wake-price") == "\(Settings().wakePrice)")
        }
        let text = try Files.text(bench.daemon.scratch("offstage.conf"))
        #expect(!text.contains("wake-price"))
        let refusal = try bench.refusal("Set", "wake-prize", "default", [:])
        #expect(refusal.text.contains("did you mean wake-price?"), "\(refusal)")
    }

    @Test func `default of an app leaves no empty section`() throws {
        let bench = try DaemonBench()
        let file = bench.daemon.scratch("offstage.conf")
        let before = try Files.text(file)
        try bench.manifest("feed", "BackgroundModes=fetch;\nRefreshCommand=true")
        for value in ["off", "default"] {
            try bench.ask("Set", "background-refresh", .string(value), ["app": "feed"])
            #expect(try Files.text(file).contains("[app feed]") == (value == "off"))
        }
        #expect(try Files.text(file).split(separator: "\n") == before.split(separator: "\n"))
    }

    /// Nothing tells the caller when the daemon has seen a new manifest.
    @Test func `an app can be set the moment its manifest is there`() throws {
        let bench = try DaemonBench()
        for number in 0..<20 {
            try bench.manifest("feed\(number)", "BackgroundModes=fetch;\nRefreshCommand=true")
            try bench.ask("Set", "background-refresh", "off", ["app": .string("feed\(number)")])
        }
        let refusal = try bench.refusal("Set", "background-refresh", "off", ["app": "food"])
        #expect(refusal.text.contains("no app of that name: food"), "\(refusal)")
    }

    @Test func `a file behind links is changed where it is, and watched there`() throws {
        let bench = try DaemonBench(starting: false)
        let scratch = bench.daemon.scratch
        let file = scratch("dotfiles/settings")
        try Files.makeDirectory(scratch("dotfiles"))
        try scratch.write("dotfiles/settings", DaemonBench.quick, permissions: 0o644)
        try Files.remove(scratch("offstage.conf"))
        for (target, name) in [("settings", "dotfiles/link"), ("dotfiles/link", "offstage.conf")] {
            #expect(try Command("ln", "-s", target, scratch(name)).run().succeeded)
        }
        try bench.daemon.start()
        try bench.set("run-slots", "3")
        #expect(Files.linkTarget(scratch("offstage.conf")) == "dotfiles/link")
        #expect(Files.linkTarget(scratch("dotfiles/link")) == "settings")
        #expect(Files.status(file)?.permissions == 0o644)
        #expect(try Files.text(file).contains("run-slots"))
        #expect(try value(bench, "run-slots") == "3")
        try scratch.write("dotfiles/settings", DaemonBench.quick + "run-slots = 2\n")
        try bench.wait(until: "the edited settings") { try value(bench, "run-slots") == "2" }
    }

    @Test func `a directory that is not there is waited for by its name, others are not looked at`()
        throws
    {
        let scratch = ScratchDirectory()
        let loop = try EventLoop()
        var changes = 0
        let watch = DirectoryWatch(loop) { changes += 1 }
        let path = scratch("config/offstage/offstage.conf")
        try Files.makeDirectory(scratch("config"))
        watch.watch { DirectoryWatch.Target.chain(path) }
        #expect(watch.problem == nil)
        try scratch.write("config/other", "busy")
        try Files.makeDirectory(scratch("config/offstages"))
        _ = try loop.runReady()
        #expect(changes == 0)
        try Files.makeDirectory(scratch("config/offstage"))
        _ = try loop.runReady()
        #expect(changes == 1)
        watch.watch { DirectoryWatch.Target.chain(path) }
        try scratch.write("config/offstage/backup", "text")
        _ = try loop.runReady()
        #expect(changes == 1)
        try scratch.write("config/offstage/offstage.conf", "text")
        _ = try loop.runReady()
        #expect(changes > 1)
    }

    @Test func `a directory that comes while it is determined what to watch is watched`() throws {
        let scratch = ScratchDirectory()
        let loop = try EventLoop()
        var changes = 0
        let watch = DirectoryWatch(loop) { changes += 1 }
        let directory = scratch("share/applications")
        var coming = [scratch("share"), directory]
        watch.watch {
            let targets = [DirectoryWatch.Target.entries(of: directory)]
            if let next = coming.first {
                coming.removeFirst()
                #expect((try? Files.makeDirectory(next)) != nil)
            }
            return targets
        }
        #expect(coming.isEmpty)
        try scratch.write("share/applications/reader.desktop", "text")
        _ = try loop.runReady()
        #expect(changes > 0)
    }

    @Test func `what to watch is determined only so often`() throws {
        let scratch = ScratchDirectory()
        let watch = DirectoryWatch(try EventLoop()) {}
        var count = 0
        watch.watch {
            count += 1
            return [DirectoryWatch.Target(directory: scratch(""), name: "\(count)")]
        }
        #expect(count == 8)
    }

    @Test func `what the administrator has set is in force, and the user cannot change it`() throws
    {
        let bench = try DaemonBench(starting: false)
        let file = "administrator.conf"
        try bench.daemon.scratch.write(file, "[app feed]\nbackground-refresh = off\n")
        let stage = try LinkedApp.Stage(bench, "feed", LinkedAppTests.keys, entry: "NoDisplay=true")
        try bench.daemon.start()
        try bench.ask("Open", "feed", [:])
        let app = try stage.next()
        try app.connect()
        #expect(try app.call("Hello", ["version": 1])[0]["background-refresh"] == "restricted")
        try app.call("FinishedLaunching", [["news"]])
        let submitted = try app.refusal("Submit", "news", ["kind": "refresh"])
        #expect(submitted.text.contains("ask the administrator of this machine"), "\(submitted)")
        let set = try bench.refusal("Set", "background-refresh", "on", ["app": "feed"])
        #expect(set.name == "org.offstage.Error.NotPermitted", "\(set)")
        try bench.set("background-refresh", "off")
        try bench.set("background-refresh", "on")

        // A slip in it frees nobody.
        try bench.daemon.scratch.write(file, "no-such-thing = 1\n")
        try bench.ask("Reload")
        #expect(try app.refusal("Submit", "news", ["kind": "refresh"]).text == submitted.text)
        let checks = try bench.ask("Doctor").listValue ?? []
        let check = checks.first { $0["check"] == "settings" && $0["ok"] == false }
        #expect(check?["found"]?.stringValue?.contains(file) == true, "\(checks)")

        // It is watched.
        try bench.daemon.scratch.write(file, "run-slots = 2\n")
        #expect(try app.next("Changed").options["background-refresh"] == "available")
        try app.call("Submit", "news", ["kind": "refresh"])
        #expect(try value(bench, "run-slots") == "2")

        // What holds for all apps cannot be lifted for one.
        try bench.daemon.scratch.write(file, "background-refresh = off\n")
        #expect(try app.next("Changed").options["background-refresh"] == "restricted")
        let lifted = try bench.refusal("Set", "background-refresh", "on", ["app": "feed"])
        #expect(lifted.name == "org.offstage.Error.NotPermitted", "\(lifted)")
    }

    private func checks(_ bench: DaemonBench) throws -> [(ok: Bool, found: String)] {
        let checks = try bench.ask("Doctor").listValue ?? []
        return checks.filter { $0["check"] == "settings" }.map {
            ($0["ok"]?.boolValue == true, $0["found"]?.stringValue ?? "")
        }
    }

    @Test func `each settings file in force is listed, and each mistake under its own`() throws {
        let bench = try DaemonBench(starting: false)
        let (own, theirs) = (
            bench.daemon.scratch("offstage.conf"), bench.daemon.scratch("administrator.conf")
        )
        try Files.remove(own)
        try bench.daemon.start()
        var found = try checks(bench)
        #expect(found.map(\.found) == ["the defaults: no \(own)"])
        try Files.replace(theirs, with: "[app nobody]\nbackground-refresh = off\n")
        try Files.replace(own, with: "[app other]\nbackground-refresh = off\n")
        try bench.ask("Reload")
        found = try checks(bench)
        #expect(found.filter(\.ok).map(\.found) == [own, theirs])
        #expect(
            Set(found.filter { !$0.ok }.map(\.found)) == [
                "\(theirs): section [app nobody]: unknown app",
                "\(own): section [app other]: unknown app",
            ]
        )
    }

    @Test func `that settings cannot be kept for the next start is said once, with the file`()
        throws
    {
        let bench = try DaemonBench()
        let kept = bench.daemon.scratch("state/offstage.conf")
        try Files.remove(kept)
        // A directory in its place stands for a disk that takes nothing.
        try Files.makeDirectory(kept)
        try bench.daemon.scratch.write("offstage.conf", DaemonBench.quick + "run-slots = 3\n")
        for _ in 0..<3 { try bench.ask("Reload") }
        #expect(try value(bench, "run-slots") == "3")
        let said = "the settings were read, but could not be kept for the next start: "
        let lines = bench.daemon.log.split(separator: "\n").filter { $0.contains(said) }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(kept) }, "\(lines)")
    }

    @Test func `what the user sets must go with what the administrator has, and gives way to it`()
        throws
    {
        let text = "expiry-warning = 2s\nrun-slots = 3\nbackground-refresh = off\n"
        let bench = try DaemonBench(text, starting: false)
        let file = "administrator.conf"
        try bench.daemon.scratch.write(file, "wake-grant = 8s\n")
        try bench.daemon.start()
        let refused = try bench.refusal("Set", "expiry-warning", "10s", [:])
        #expect(refused.text.contains("is not shorter than wake-grant, 8s"), "\(refused)")
        #expect(try value(bench, "expiry-warning") == "2s")
        try bench.set("expiry-warning", "7s")

        // The administrator comes after the user, whose file is no longer right as it is.
        try bench.daemon.scratch.write(file, "wake-grant = 6s\n")
        _ = try bench.refusal("Reload")
        for _ in 1...2 {
            #expect(try value(bench, "wake-grant") == "6s")
            #expect(try value(bench, "background-refresh") == "off")
            #expect(try value(bench, "expiry-warning") == "5s", "the default")
            #expect(try value(bench, "run-slots") == "3")
            try bench.restart()
        }
        try bench.set("expiry-warning", "3s")
        #expect(try value(bench, "run-slots") == "3")
        #expect(try value(bench, "wake-grant") == "6s")
    }

    @Test func `lint measures by the settings in force, the administrator's too`() throws {
        let bench = try DaemonBench("memory-limit = 300M\n", starting: false)
        let manifest = try bench.daemon.scratch.write(
            "data/applications/feed.desktop",
            "[Desktop Entry]\nType=Application\nName=Feed\nExec=/bin/true\n"
                + "[X-Offstage]\nBackgroundModes=fetch;\nMemoryLimit=100M\n"
        )
        func lint() throws -> String {
            var command = Command(Products.path(of: "offstage"), "lint", manifest)
            command.environment = Command.cleanEnvironment([
                "OFFSTAGE_SOCKET": bench.daemon.socket, "HOME": bench.home(""),
            ])
            return try command.run().output
        }
        try bench.daemon.start()
        #expect(try lint() == "\(manifest): good\n")
        try bench.daemon.scratch.write("administrator.conf", "memory-limit = 64M\n")
        try bench.ask("Reload")
        #expect(try lint().contains("is more than memory-limit allows (64 MiB)"))
    }
}
