import AppProtocol
import BuildIdentity
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// The program `offstage` against a real daemon.
struct DaemonTests {
    let daemon: ScratchDaemon

    /// Nothing that only chooses a better moment holds anything back.
    static let calm = """
        pause-after-start=0
        pause-after-boot=0
        shared-wake=0
        waking-from=00:00
        waking-until=24:00

        """

    init() throws {
        daemon = try ScratchDaemon(settings: Self.calm)
        try daemon.write(
            manifest: "reader",
            """
            [Desktop Entry]
            Type=Application
            Name=Reader
            Exec=sh "\(daemon.scratch("reader.sh"))"
            Terminal=true
            [X-Offstage]
            BackgroundModes=fetch;processing;
            Environment=GREETING=hello;
            ProcessingCommand=true
            ProcessingNeeds=power;

            """
        )
        try daemon.scratch.write(
            "reader.sh",
            """
            echo "pid $$"
            echo "on $(tty)"
            echo "with $GREETING $OFFSTAGE_APP $OFFSTAGE_SOCKET $TERM ${SECRET-clean}"
            grep ^0: /proc/$$/cgroup
            read word
            echo "read $word"
            exit 7

            """
        )
    }

    func command(_ arguments: [String]) -> Command {
        var command = Command([Products.path(of: "offstage")] + arguments)
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        return command
    }

    func offstage(_ line: String) throws -> Command.Outcome {
        try command(line.split(separator: " ").map(String.init)).run()
    }

    /// Runs a question again whenever the daemon has recorded an event, until its answer is right.
    func until(_ line: String, _ isRight: (String) -> Bool) throws {
        try Wait.until(file: daemon.scratch("state/events.log"), "offstage \(line)") { _ in
            (try? offstage(line)).map { isRight($0.output) } == true
        }
    }

    @Test func eachCommandIsUnderstood() throws {
        try daemon.start()
        let lines: [(line: String, status: Int32, says: String)] = [
            ("set power off", 0, ""), ("status", 0, "reader"), ("apps", 0, "reader"),
            ("tasks", 0, "processing"), ("tasks reader", 0, "processing"),
            ("explain reader", 0, "external-power"), ("explain reader processing", 0, "power"),
            ("conditions", 0, "set by hand"), ("settings", 0, "run-slots"), ("gates", 0, "battery"),
            ("modes", 0, "fetch"), ("doctor", 0, "process control"), ("history", 0, ""),
            ("pause 2h", 0, ""), ("status", 0, "Paused"), ("continue", 0, ""),
            ("reload", 0, ""),
            ("set run-slots 3", 0, ""), ("settings", 0, "run-slots                  3"),
            ("submit --processing --power --id b -- true", 0, "command.b is stored"),
            ("explain command.b nothing", 3, "has no task of that name: nothing"),
            ("simulate fetch command.b", 1, "command.b cannot fetch"),
            ("cancel command.b", 0, ""), ("close reader", 0, ""), ("explain reader", 0, "closed"),
            ("--version", 0, "offstage "), ("open nobody", 3, "no app of that name: nobody"),
            ("leave nobody", 3, "nobody"), ("close nobody", 3, "nobody"),
            ("run nobody", 3, "nobody"),
            ("explain raeder", 3, "did you mean reader?"), ("tasks nobody", 3, "nobody"),
            ("cancel nobody", 3, "nobody"), ("logs nobody", 3, "nobody"),
            ("logs reader", 0, "reader has written nothing yet"),
            ("history nobody", 3, "nobody"), ("explain reader porcessing", 3, "did you mean"),
            ("set background-refresh off --app raeder", 3, "did you mean reader?"),
            ("set failure-command \"mail", 2, "failure-command cannot be"),
            ("set battery AUTO", 0, ""),
            ("simulate launch nobody", 3, "nobody"), ("set idle perhaps", 2, "idle cannot be"),
        ]
        for (line, status, says) in lines {
            let outcome = try offstage(line)
            #expect(outcome.status == .exited(status), "\(line): \(outcome)")
            #expect((outcome.output + outcome.errors).contains(says), "\(line): \(outcome)")
        }
        let printing = [
            "status", "apps", "tasks", "explain reader", "history", "settings", "doctor",
            "logs reader", "conditions", "submit --processing --power",
        ]
        for line in printing {
            let isSubmit = line.hasPrefix("submit")
            let outcome = try offstage(line + " --json" + (isSubmit ? " -- no-such-program" : ""))
            #expect(
                outcome.errors.contains("is not in the daemon's PATH") == isSubmit,
                "\(outcome)"
            )
            #expect(outcome.output.hasPrefix("[") || outcome.output.hasPrefix("{"), "\(line)")
            try JSONTests.expect(line, outcome.output)
        }
    }

    @Test func withoutADaemonTheStatusIsFour() throws {
        let outcome = try offstage("status")
        #expect(outcome.status == .exited(4))
        #expect(outcome.errors.contains("nobody listens at \(daemon.socket)"))
        try daemon.start()
        #expect(try offstage("status").succeeded)
        try daemon.kill()
        #expect(try offstage("status").status == .exited(4))
    }

    @Test func whatIsNoSocketOfOursIsSaidSo() throws {
        let file = try daemon.scratch.write("file", "")
        let outcome = try offstage("--socket \(file) status")
        #expect(outcome.status == .exited(4))
        #expect(outcome.errors.contains("\(file) is not a socket"), "\(outcome.errors)")
    }

    @Test func withoutADaemonTheDoctorSaysWhatItCan() throws {
        var doctor = command(["doctor"])
        let home = daemon.scratch("home")
        try daemon.scratch.write(
            "home/.config/offstage/offstage.conf",
            "wake-grant=5\nbattery-limt=3\n"
        )
        doctor.environment = Command.cleanEnvironment([
            "OFFSTAGE_SOCKET": daemon.socket, "HOME": home, "XDG_DATA_DIRS": home,
        ])
        let outcome = try doctor.run()
        #expect(outcome.succeeded)
        #expect(outcome.output.hasPrefix("warn  daemon: the daemon is not running"))
        #expect(outcome.output.contains("line 1: wake-grant: \"5\" has no unit\n"))
        #expect(outcome.output.contains("line 2: battery-limt: is not a setting\n"))
        doctor.arguments.append("--json")
        try JSONTests.expect("doctor", try doctor.run().output)
    }

    @Test func whatCannotBeStartedIsSaidAtOnce() throws {
        let program = try daemon.scratch.write("program", "#!/bin/sh\n")
        for (name, program) in [("plain", program), ("absent", "no-such-program")] {
            try daemon.write(
                manifest: name,
                "[Desktop Entry]\nType=Application\nName=App\nExec=\(program)\n[X-Offstage]\n"
            )
        }
        try daemon.write(
            manifest: "missing",
            "[Desktop Entry]\nType=Application\nName=M\nTryExec=no-such\nExec=true\n[X-Offstage]\n"
        )
        try daemon.write(
            manifest: "broken",
            "[Desktop Entry]\nType=Application\nName=B\nExec=true\n[X-Offstage]\n"
                + "BackgroundModes=fetsh;\n"
        )
        try daemon.start()
        let cases = [
            ("plain", "\(program) is not executable"),
            ("absent", "no-such-program is not installed, or not in PATH"),
            ("missing", "TryExec: no-such is not installed"), ("reader", "needs a terminal"),
        ]
        for (app, reason) in cases {
            let outcome = try offstage("open \(app)")
            #expect(outcome.status == .exited(1), "\(app): \(outcome)")
            #expect(outcome.errors.contains(reason), "\(app): \(outcome)")
        }
        #expect(
            daemon.log.contains(
                "offstaged: broken cannot be used, its manifest is not valid: line 6: "
            )
        )
        #expect(!daemon.log.contains("missing cannot be used"), "it is only not installed")
        #expect(try offstage("leave plain").status == .exited(1))
        #expect(try offstage("cancel reader").status == .exited(1))
        try FileDescriptor(opening: daemon.scratch("offstage.conf"), [.writing, .append])
            .writeAll("[app nobody]\nbackground-refresh=off\n")
        try until("settings") { $0.contains("background-refresh (nobody)") }
        #expect(try offstage("settings --json").output.contains("\"unknown\": true"))
        #expect(
            try offstage("doctor").output.contains("section [app nobody]: unknown app")
        )
    }

    @Test func whatACommandDidIsInLogsAndHistory() throws {
        try daemon.start()
        var submit = command(["submit", "--refresh", "--id", "hello", "--setenv", "WHO=you", "--"])
        submit.arguments += ["sh", "-c", "echo hello $WHO in $(pwd)"]
        submit.directory = daemon.scratch("home")
        #expect(try submit.run().succeeded)
        try until("history") { $0.contains("command.hello") && $0.contains("new data") }
        let logs = try offstage("logs command.hello")
        #expect(logs.output == "hello you in \(daemon.scratch("home"))\n")
    }

    @Test func whateverAProgramWritesIsShown() throws {
        try daemon.start()
        var submit = command(["submit", "--refresh", "--id", "odd", "--"])
        submit.arguments += ["sh", "-c", #"printf 'a\0b\n\377 \033[1mc\n'; exit 3"#]
        #expect(try submit.run().succeeded)
        try until("history") { $0.contains("command.odd") && $0.contains("exit status 3") }
        let written: [UInt8] = [0x61, 0, 0x62, 0x0A, 0xFF, 0x20, 0x1B] + Array("[1mc\n".utf8)
        let shown = daemon.scratch("shown")
        var shell = Command("sh", "-c", "\"$0\" logs odd >\(shown)", Products.path(of: "offstage"))
        shell.environment = command([]).environment
        #expect(try shell.run() == .init(status: .exited(0), output: "", errors: ""))
        #expect(try Files.read(shown) == written)
        let json = try ValueJSON.parse(try offstage("logs --json odd").output)
        #expect(json["bytes"] == .string(base64(written)))
        #expect(json["text"] == .string("a\u{FFFD}b\n\u{FFFD} \u{1B}[1mc\n"))
        let followed = daemon.scratch("followed")
        let follower = try command(["logs", "-f", "odd"]).start(logging: followed)
        try Wait.until("followed", { (try? Files.read(followed)) == written }) {
            _ = try Command("true").run()
        }
        try follower.send(Signal.kill)
        _ = try follower.wait(block: true)
        #expect(try offstage("explain odd").succeeded)
        #expect(try offstage("logs --json reader").output.contains("\"bytes\"") == false)
    }

    @Test func whatHasWrittenNothingIsNotSaidToHaveALog() throws {
        try daemon.start()
        // So that it does not begin by itself.
        #expect(try offstage("set idle off").succeeded)
        var submit = command(["submit", "--processing", "--every", "1d", "--id", "mute", "--"])
        submit.arguments += ["false"]
        #expect(try submit.run().succeeded)
        let ran = try offstage("run --wait mute")
        #expect(ran.errors.contains("exit status 1") && !ran.errors.contains("logs"), "\(ran)")
        let explained = try offstage("explain mute").output
        #expect(explained.contains("Last run ") && !explained.contains("logs"), "\(explained)")
    }

    @Test func aFailureLeadsToItsLogAndCanBeDismissed() throws {
        try daemon.start()
        var submit = command(["submit", "--refresh", "--id", "once", "--"])
        submit.arguments += ["sh", "-c", "echo no room left; exit 3"]
        #expect(try submit.run().succeeded)
        try until("history") { $0.contains("command.once") && $0.contains("exit status 3") }
        let explained = try offstage("explain once")
        #expect(explained.output.contains("What it wrote: offstage logs command.once"))
        #expect(try offstage("logs command.once").output == "no room left\n")
        let status = try offstage("status").output
        #expect(status.contains("What it wrote: offstage logs command.once"), "\(status)")
        let way = "To take one off this list: offstage dismiss APP"
        #expect(status.contains(way), "\(status)")
        for words in [[], [""], ["", "--all"], ["once", "--all"]] {
            #expect(try command(["dismiss"] + words).run().status == .exited(2), "\(words)")
        }
        #expect(try offstage("status").output.contains(way), "nothing is dismissed by that")
        #expect(try offstage("dismiss once").succeeded)
        #expect(!(try offstage("status").output.contains("Failing")))
        #expect(try offstage("dismiss once").status == .exited(3))
        #expect(try offstage("dismiss --all").succeeded)
        #expect(try offstage("history").output.contains("exit status 3"))
    }

    @Test func aLogIsFollowedBeforeItIsThereAndOverItsRotation() throws {
        try daemon.start()
        let followed = daemon.scratch("followed")
        let follower = try command(["logs", "-f", "reader"]).start(logging: followed)
        defer {
            try? follower.send(Signal.kill)
            _ = try? follower.wait(block: true)
        }
        let log = daemon.scratch("state/logs/reader.log")
        // It watches the directory from its first look on: written until it is seen.
        try Wait.until("followed", { (try? Files.text(followed))?.isEmpty == false }) {
            try? Files.remove(log)
            try FileDescriptor(opening: log, [.writing, .create, .append]).writeAll("one\n")
            _ = try Command("true").run()
        }
        // It may have seen more than one of these files.
        try FileDescriptor(opening: log, [.writing, .append]).writeAll("begun\n")
        try Wait.until(file: followed) { $0.hasSuffix("one\nbegun\n") }
        // Two lines that it has no time to see before the log starts over.
        try follower.send(Signal.stop)
        try FileDescriptor(opening: log, [.writing, .append]).writeAll("two\nthree\n")
        try Files.replace(log + ".1", with: "one\nbegun\ntwo\nthree\n")
        try FileDescriptor(opening: log, [.writing, .truncate]).writeAll("4\n")
        try follower.send(Signal.proceed)
        try Wait.until(file: followed) { $0.hasSuffix("one\nbegun\ntwo\nthree\n4\n") }
    }

    @Test func logsAreFollowed() throws {
        try daemon.start()
        let fifo = daemon.scratch("fifo")
        #expect(try Command("mkfifo", fifo).run().succeeded)
        let script = "echo one; read line <\(fifo); echo $line"
        #expect(
            try command(["submit", "--refresh", "--id", "talk", "--", "sh", "-c", script]).run()
                .succeeded
        )
        let log = daemon.scratch("state/logs/command.talk.log")
        try Wait.until(file: log) { $0 == "one\n" }
        let followed = daemon.scratch("followed")
        let follower = try command(["logs", "-f", "command.talk"]).start(logging: followed)
        try Wait.until(file: followed) { $0 == "one\n" }
        #expect(try Command("sh", "-c", "echo two >\(fifo)").run().succeeded)
        try Wait.until(file: followed) { $0 == "one\ntwo\n" }
        try follower.send(Signal.kill)
        _ = try follower.wait(block: true)
    }

    /// Opens the app, as somebody types it in a terminal.
    private func open(in terminal: inout PseudoTerminal) throws -> PidFD {
        var program = Program(
            Products.path(of: "offstage"),
            arguments: ["offstage", "open", "reader"],
            environment: Command.cleanEnvironment([
                "OFFSTAGE_SOCKET": daemon.socket, "TERM": "vt100", "SECRET": "of the caller",
            ])
        )
        program.input = terminal.terminal?.number
        program.output = terminal.terminal?.number
        program.error = terminal.terminal?.number
        program.controlsTerminal = true
        defer { terminal.terminal = nil }
        return try program.start()
    }

    /// The app takes the place of the command, in a launch of its own.
    @Test func aTerminalAppRunsInTheCallersTerminal() throws {
        try daemon.start()
        var terminal = try PseudoTerminal()
        let process = try open(in: &terminal)
        var shown = ""
        func read(until part: String) throws {
            while !shown.contains(part) {
                try Wait.until(readable: terminal.master.number, "\(part) after \(shown)")
                shown += String(decoding: try terminal.master.read(upTo: 4096), as: UTF8.self)
            }
        }
        try read(until: "/launch-")
        #expect(shown.contains("pid \(process.pid)\r\n"))
        #expect(shown.contains("on \(terminal.path)\r\n"))
        #expect(shown.contains("with hello reader \(daemon.socket) vt100 clean\r\n"))
        #expect(try offstage("apps").output.contains("reader  foreground"))
        // From another terminal it is brought back where it is: nobody has asked to attach.
        #expect(try offstage("leave reader").succeeded)
        var other = try PseudoTerminal()
        let again = try open(in: &other)
        try Wait.until(readable: again.descriptor.number, "end of the command")
        #expect(try again.wait(block: true) == .exited(0))
        #expect(try offstage("apps").output.contains("reader  foreground"))
        try terminal.master.writeAll("words\n")
        try read(until: "read words")
        try Wait.until(readable: process.descriptor.number, "end of the app")
        #expect(try process.wait(block: true) == .exited(7))
        try until("apps") { $0.contains("reader  not running") }
    }

    /// Nobody writes into them.
    @Test func aPipeInThePlaceOfAFileLetsNobodyWait() throws {
        let manifest = daemon.scratch("data/applications/pipe.desktop")
        #expect(try Command("mkfifo", manifest).run().succeeded)
        try daemon.start()
        var terminal = try PseudoTerminal()
        var program = Program(
            Products.path(of: "offstage"),
            arguments: ["offstage", "open", "pipe"],
            environment: Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        )
        program.input = terminal.terminal?.number
        program.output = terminal.terminal?.number
        let errors = try FileDescriptor(
            opening: daemon.scratch("errors"),
            [.writing, .create, .append]
        )
        program.error = errors.number
        program.controlsTerminal = true
        let process = try program.start()
        terminal.terminal = nil
        defer { try? process.send(Signal.kill) }
        try Wait.until(readable: process.descriptor.number, "a refusal")
        #expect(try process.wait(block: true) == .exited(1))
        #expect(try daemon.scratch.read("errors").contains("it is a pipe, not a file"))

        let log = daemon.scratch("state/logs/reader.log")
        // It may have run already.
        try? Files.remove(log)
        #expect(try Command("mkfifo", log).run().succeeded)
        let followed = try offstage("logs -f reader")
        #expect(followed.status == .exited(1))
        #expect(followed.errors.contains(log), "\(followed)")
    }

    @Test func aRecordedLogIsDecidedTheSameAgain() throws {
        try daemon.start()
        #expect(try offstage("set battery 10").succeeded)
        #expect(try offstage("submit --processing -- true").succeeded)
        try daemon.stop()
        let log = daemon.scratch("state/events.log")
        let outcome = try command(["replay", log]).run()
        #expect(outcome.succeeded, "\(outcome)")
        #expect(outcome.output.contains("all decided as recorded"))
        var bytes = try Files.read(log)
        // More than one value: another number of some measurement would decide nothing else.
        for index in bytes.count / 2..<bytes.count / 2 + 64 { bytes[index] ^= 0x55 }
        let damaged = daemon.scratch("damaged.log")
        try Files.replace(damaged, with: bytes.span, permissions: 0o600)
        #expect(try command(["replay", damaged]).run().status == .exited(1))
        #expect(try command(["replay", daemon.scratch("absent")]).run().status == .exited(3))
    }

    @Test func aLogOfAnotherBuildSaysSo() throws {
        try daemon.start()
        #expect(try offstage("set battery 10").succeeded)
        try daemon.stop()
        let log = daemon.scratch("state/events.log")
        let ours = try command(["replay", log]).run()
        #expect(ours.output.hasPrefix("Written by this build, \(Version.build).\n"), "\(ours)")
        // The same, but for the name of the build in its header.
        let bytes = try Files.read(log)
        let end = 4 + bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        let header = try ValueDecoder().decode(
            EventLog.Header.self,
            from: try ValueBytes.decode(Array(bytes[4..<end]), limit: EventLog.pieceLimit)
        )
        let other = EventLog.Header(build: "offstage 0.1.0 (core 0)", device: header.device)
        let path = daemon.scratch("other.log")
        let renamed = try EventLog.piece(other) + bytes[end...]
        try Files.replace(path, with: renamed.span, permissions: 0o600)
        let theirs = try command(["replay", path]).run()
        #expect(theirs.succeeded, "its decisions are the same")
        #expect(
            theirs.output.hasPrefix(
                "Written by build offstage 0.1.0 (core 0); this is \(Version.build).\n"
            ),
            "\(theirs)"
        )
        let report = try command(["replay", "--json", path]).run().output
        #expect(report.contains("\"sameBuild\": false"), "\(report)")
        #expect(report.contains("\"equal\": true"), "\(report)")
    }
}
