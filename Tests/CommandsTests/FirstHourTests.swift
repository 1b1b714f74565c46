import Linux
import TestKit
import Testing
import Vocabulary

/// What a newcomer types first, word for word, with nothing but a home.
struct FirstHourTests {
    let scratch = ScratchDirectory()

    /// A shell of a fresh user, whose programs are in `PATH`.
    private func shell(_ script: String, _ more: [String: String] = [:]) -> Command {
        var command = Command("sh", "-e", "-c", script)
        command.directory = scratch.path
        let path = Products.directory + ":/usr/bin:/bin"
        command.environment = Command.cleanEnvironment(
            ["PATH": path, "HOME": scratch.path].merging(more) { $1 }
        )
        return command
    }

    /// The lines below "Examples:", without what they mean.
    private func examples() throws -> [String] {
        let lines = try shell("offstaged --help").run().output.split(separator: "\n")
        let first = (lines.firstIndex { $0.hasSuffix("Examples:") } ?? 0) + 1
        return lines[first...].compactMap { line in
            let text = line.dropFirst(2)
            guard text.first != " " else { return nil }
            return text.firstRange(of: "  ").map { String(text[..<$0.lowerBound]) } ?? String(text)
        }
    }

    @Test func `the examples of the daemon's help do what they say`() throws {
        let examples = try examples()
        let preparation = examples.filter { $0.hasPrefix("mkdir") }
        let daemon = try #require(examples.first { $0.contains("--state") })
        let question = try #require(examples.first { $0.contains("offstage status") })
        for line in preparation { #expect(try shell(line).run().succeeded, "\(line)") }
        let log = scratch("log")
        let process = try shell("exec \(daemon)").start(logging: log)
        defer {
            try? process.send(Signal.terminate)
            _ = try? process.wait(block: true)
        }
        // A clean start says where it is.
        let ready = "offstaged: ready at \(scratch("try/run/socket")), with its state in "
        try Wait.until(file: log, "a word of the daemon") { $0.contains("\n") }
        let said = try Files.text(log)
        #expect(said.hasPrefix(ready + scratch("try/state")), "\(said)")
        let answer = try shell(question).run()
        #expect(answer.succeeded && answer.output.contains("0 apps"), "\(answer)")
    }

    @Test func `a new app's manifest is where the printed steps put it`() throws {
        try scratch.write("library/Package.swift", "")
        try scratch.write("library/Sources/Offstage/Offstage.swift", "")
        let made = try shell("offstage new app headlines --library library").run()
        #expect(made.succeeded, "\(made)")
        let steps = made.output.split(separator: "\n").dropFirst().map { $0.drop { $0 == " " } }
        // Building takes minutes, and what follows needs a daemon.
        let files = steps.filter { $0 != "swift build" && !$0.hasPrefix("offstage") }
        #expect(files.count == 3)
        let outcome = try shell(files.joined(separator: "\n")).run()
        #expect(outcome.succeeded, "\(outcome)")
        #expect(Files.exists(scratch(".local/share/applications/headlines.desktop")))
    }

    @Test(arguments: [
        ("offstage status", "", "XDG_RUNTIME_DIR is not set", 4),
        ("offstage status", "run", "XDG_RUNTIME_DIR is \"run\", which is no absolute path", 4),
        ("offstaged", "", "XDG_RUNTIME_DIR is not set; set it to a directory of yours", 2),
        ("offstaged", "run", "XDG_RUNTIME_DIR is \"run\", which is no absolute path", 2),
        ("offstaged", "/proc/none", "or with XDG_STATE_HOME and XDG_RUNTIME_DIR.", 1),
    ])
    func `where the socket would be is said by name`(
        line: String,
        runtime: String,
        says: String,
        status: Int32
    ) throws {
        let outcome = try shell(line, ["XDG_RUNTIME_DIR": runtime]).run()
        #expect(outcome.status == .exited(status), "\(outcome)")
        #expect(outcome.errors.contains(says), "\(outcome.errors)")
    }

    /// Both say how much a manifest may have, however large the file is.
    @Test func `what a manifest may have is said of one that is too large`() throws {
        let comments = "#" + String(repeating: "x", count: 10_000_000) + "\n"
        let entry = "[Desktop Entry]\nType=Application\nName=Large\nExec=true\n"
        let ours = "[X-Offstage]\nBackgroundModes=fetch;\n"
        for text in [entry + ours + comments, comments + entry + ours] {
            let file = try scratch.write("large.desktop", text)
            let outcome = try shell("offstage lint \(file)").run()
            #expect(outcome.output.contains("has \(text.utf8.count) bytes; at most 65536"))
        }
        let file = try scratch.write("larger.desktop", comments + comments)
        let outcome = try shell("offstage lint \(file)").run()
        let size = 2 * comments.utf8.count
        #expect(size > ManifestParser.readLimit)
        #expect(outcome.output.contains("error: has \(size) bytes; at most 65536 are read"))
    }

    @Test func `the readme says where its programs are`() throws {
        let text = try Document("README.md").contents
        #expect(text.contains("    export PATH=$HOME/.local/bin:$PATH"))
        let tutorial = try Document("docs/tutorials/laptop.md").contents
        for file in [text, tutorial] {
            let made = try #require(file.firstRange(of: "mkdir -p ~/.config/autostart"))
            let copied = try #require(file.firstRange(of: "autostart/offstaged.desktop"))
            #expect(made.lowerBound < copied.lowerBound)
        }
        #expect(!text.contains("failures come first"), "manifests that cannot be used do")
    }

    /// Word for word, in one shell; then another terminal is opened.
    @Test func `what the readme says of a machine without systemd is enough`() throws {
        let lines = try Document("README.md").contents.split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("    export XDG_RUNTIME_DIR=") })
        let block = lines[first...].prefix { $0.hasPrefix("    ") }
        let start = try shell(block.joined(separator: "\n")).run()
        let pid = start.output.firstMatch(of: /"kill (\d+)" ends it/).flatMap { Int32($0.1) }
        let daemon = try PidFD(of: try #require(pid, "\(start)"))
        defer {
            try? daemon.send(Signal.terminate)
            _ = Poll.ready(daemon.descriptor.number, for: .readable, milliseconds: nil)
        }
        #expect(start.succeeded && start.output.contains("0 apps"), "\(start)")
        let socket = scratch(".cache/offstage-run/offstage/socket")
        #expect(start.output.contains("offstaged: ready at \(socket), with its state in "))
        let later = try shell("\(lines[first])\noffstage status").run()
        #expect(later.succeeded && later.output.contains("0 apps"), "\(later)")
        // The second one is told of the first.
        let second = try shell("\(lines[first])\noffstage daemon --background").run()
        #expect(second.status == .exited(1) && second.errors.contains("another daemon"))
    }

    /// It does not listen at `OFFSTAGE_SOCKET`, where another one may.
    @Test(arguments: ["--runtime ", "--runtime="])
    func `what a daemon in the background says is beside its own socket`(option: String) throws {
        let start = try shell(
            "offstage daemon --background -- --state ~/try/state \(option)\"$HOME/try/run\"",
            ["OFFSTAGE_SOCKET": scratch("other/socket")]
        ).run()
        let pid = start.output.firstMatch(of: /"kill (\d+)" ends it/).flatMap { Int32($0.1) }
        let daemon = try PidFD(of: try #require(pid, "\(start)"))
        defer {
            try? daemon.send(Signal.terminate)
            _ = Poll.ready(daemon.descriptor.number, for: .readable, milliseconds: nil)
        }
        #expect(start.output.contains("offstaged: ready at \(scratch("try/run/socket"))"))
        #expect(Files.status(scratch("try/run/daemon.log")) != nil)
        #expect(Files.status(scratch("other")) == nil)
    }
}
