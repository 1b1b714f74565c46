import AppProtocol
import Linux
import TestKit
import Testing
import Vocabulary

/// The programs that people have for D-Bus, on the private socket as it is.
struct BusProgramTests {
    private func run(_ bench: DaemonBench, _ words: [String]) throws -> String {
        let outcome = try Command(words).run()
        #expect(outcome.succeeded, "\(words): \(outcome.errors)\(outcome.output)")
        return outcome.output
    }

    private func address(_ bench: DaemonBench) -> String { "unix:path=\(bench.daemon.socket)" }

    @Test func `busctl lists, introspects and calls`() throws {
        let bench = try DaemonBench()
        let busctl = ["busctl", "--address=\(address(bench))"]
        let tree = try run(bench, busctl + ["tree", "--list", Control1.busName])
        #expect(tree.split(separator: "\n").contains("/org/offstage"))
        let table = try run(bench, busctl + ["introspect", Control1.busName, Control1.path])
        for method in Control1.interface.methods {
            #expect(table.contains(".\(method.name) "), "\(method.name)")
        }
        let submit = try run(
            bench,
            busctl + [
                "--", "call", Control1.busName, Control1.path, Control1.name, "Submit", "a{sv}",
                "4",
                "kind", "s", "processing", "id", "s", "from-busctl", "command", "as", "3", "sh",
                "-c", "echo run >> runs", "directory", "s", bench.home(""),
            ]
        )
        #expect(submit.contains("command.from-busctl"))
        try bench.wait(for: "runs")
    }

    @Test func `gdbus introspects and calls`() throws {
        let bench = try DaemonBench()
        let gdbus = ["gdbus"]
        let place = [
            "--address", address(bench), "--dest", Control1.busName, "--object-path", Control1.path,
        ]
        let text = try run(bench, gdbus + ["introspect"] + place)
        for method in Control1.interface.methods {
            #expect(text.contains("\(method.name)("), "\(method.name)")
        }
        let version = try run(
            bench,
            gdbus + ["call"] + place + ["--method", Control1.name + ".Version"]
        )
        #expect(version.contains("'pid': <int64 \(bench.daemon.identity?.pid ?? 0)>"))
        let set = try run(
            bench,
            gdbus + ["call"] + place
                + ["--method", Control1.name + ".Set", "battery", "40", "{}"]
        )
        #expect(set == "(@a{sv} {},)\n")
        let wrong = try Command(
            gdbus + ["call"] + place + ["--method", Control1.name + ".Set", "battery", "400", "{}"]
        )
        .run()
        #expect(!wrong.succeeded)
        #expect(wrong.errors.contains("org.offstage.Error.Invalid"))
    }

    @Test(arguments: ["--peer", "--bus"])
    func `dbus-send calls`(how: String) throws {
        let bench = try DaemonBench()
        var words = ["dbus-send", "\(how)=\(address(bench))", "--print-reply"]
        if how == "--bus" { words.append("--dest=\(Control1.busName)") }
        let version = try run(bench, words + [Control1.path, Control1.name + ".Version"])
        #expect(version.contains("int64 \(bench.daemon.identity?.pid ?? 0)"))
        let xml = try run(
            bench,
            words + [Control1.path, "org.freedesktop.DBus.Introspectable.Introspect"]
        )
        #expect(xml.contains("<interface name=\"\(Control1.name)\">"))
    }
}
