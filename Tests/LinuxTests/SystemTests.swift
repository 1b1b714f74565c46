import Linux
import TestKit
import Testing
import Vocabulary

struct SystemTests {
    let scratch = ScratchDirectory()

    @Test func `the clocks are read together`() throws {
        Clocks.readZone()
        let now = Clocks.now()
        let later = Clocks.now()
        #expect(now.boot <= later.boot && now.awake <= later.awake)
        #expect(now.awake.nanoseconds <= now.boot.nanoseconds)
        #expect(now.wall > WallTime(nanoseconds: 1_700_000_000_000_000_000))
        #expect(abs(now.utcOffset) <= 14 * 3600)
        #expect(now.zone != nil && now.utcOffset(at: now.wall) == now.utcOffset)
        #expect(try Clocks.bootID().utf8.count == 36)
    }

    @Test func `the offset is that of the zone`() throws {
        // In a process of its own: the zone belongs to a whole process.
        var command = Command("date", "+%z")
        command.environment = Command.cleanEnvironment(["TZ": "Asia/Kolkata"])
        #expect(try command.run().output == "+0530\n")
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can set the clock"))
    func `a clock that is set is noticed once`() throws {
        let jumps = try ClockJumps()
        #expect(try !jumps.happened())
        // To the time it has: a jump of a few microseconds.
        try Clocks.setWall(Clocks.now().wall)
        try Wait.until(readable: jumps.descriptor.number)
        #expect(try jumps.happened())
        #expect(try !jumps.happened())
    }

    @Test func `a socket is reachable for its user only`() throws {
        let path = scratch("run/socket")
        let listener = try UnixListener(path)
        #expect(Files.status(path)?.permissions == 0o600)
        #expect(Files.status(scratch("run"))?.permissions == 0o700)
        #expect(try listener.accept() == nil)
        let client = try UnixSocket.connect(to: path)
        var accepted = try listener.accept()
        let server = accepted.take()!
        var peer = try Peer(of: server)
        #expect(peer.pid == CurrentProcess.pid)
        #expect(peer.user == CurrentProcess.user)
        #expect(peer.identity == ProcessIdentity(of: CurrentProcess.pid))
        let process = peer.process.take()
        let hasExited = process?.hasExited
        #expect(hasExited == false)
        try client.writeAll("hello")
        try Wait.until(readable: server.number)
        #expect(try server.readAvailable(upTo: 10) == Array("hello".utf8))
        #expect(try server.readAvailable(upTo: 10) == nil)
    }

    @Test func `a directory that others may enter is closed before the socket is there`() throws {
        try Files.makeDirectory(scratch("run"), permissions: 0o755)
        try Files.setPermissions(scratch("run"), 0o755)
        _ = try UnixListener(scratch("run/socket"))
        #expect(Files.status(scratch("run"))?.permissions == 0o700)
    }

    @Test func `a socket left behind is replaced, a file is not`() throws {
        try leaveSocket(at: scratch("run/socket"))
        _ = try UnixListener(scratch("run/socket"))
        let path = try scratch.write("run/file", "precious")
        #expect(throws: LinuxError("bind", path, .addressInUse)) { _ = try UnixListener(path) }
        #expect(try Files.text(path) == "precious")
    }

    @Test func `a path that does not fit into an address is refused with its name`() {
        let path = scratch(String(repeating: "x", count: 100))
        #expect(path.utf8.count > UnixListener.longestPath)
        #expect(throws: LinuxError("bind", path, .nameTooLong)) { _ = try UnixListener(path) }
        #expect(throws: LinuxError("connect", path, .nameTooLong)) {
            _ = try UnixSocket.connect(to: path)
        }
        #expect(throws: LinuxError("connect", scratch("none"), .noEntry)) {
            _ = try UnixSocket.connect(to: scratch("none"))
        }
    }

    @Test func `the user has a home and a shell`() throws {
        let user = try #require(User.current())
        #expect(user.user == CurrentProcess.user)
        #expect(user.home.hasPrefix("/") && user.shell.hasPrefix("/"))
        #expect(User.named("root")?.user == 0)
        #expect(User.named("no such user") == nil)
    }

    @Test func `the environment is read`() {
        #expect(CurrentProcess.environment("PATH") != nil)
        #expect(CurrentProcess.environment("OFFSTAGE_NOT_SET") == nil)
        #expect(CurrentProcess.environment().contains { $0.hasPrefix("PATH=") })
    }

    @Test func `signals have names`() {
        #expect(Signal.name(Signal.terminate) == "SIGTERM")
        #expect(Signal.name(40) == "signal 40")
    }
}

struct OptionsTests {
    static let table: [Options.Option] = [
        .init("state", "s", .required), .init("verbose", "v"), .init("after", nil, .required),
        .init("color", nil, .optional), .init("version"),
    ]

    func parse(_ words: String..., inOrder: Bool = false) throws -> Options {
        try Options(words, Self.table, inOrder: inOrder)
    }

    @Test func `options and operands mix, and two dashes end the options`() throws {
        let options = try parse(
            "one",
            "--state",
            "/a",
            "-v",
            "two",
            "--after=2h",
            "--",
            "-s",
            "three"
        )
        #expect(options["state"] == "/a")
        #expect(options["after"] == "2h")
        #expect(options.has("verbose") && !options.has("version"))
        #expect(options.operands == ["one", "two", "-s", "three"])
    }

    @Test func `long names may be shortened and short ones bundled`() throws {
        let options = try parse("--st=/a", "-vvs/b", "--color", "--color=never")
        #expect(options.all("state") == ["/a", "/b"])
        #expect(options["state"] == "/b")
        #expect(options.given.filter { $0.name == "verbose" }.count == 2)
        #expect(options.all("color") == ["never"])
    }

    @Test func `a negative number is an operand`() throws {
        let options = try parse("-1", "-v", "set", "-20", "--state", "-3", "--", "-4")
        #expect(options.operands == ["-1", "set", "-20", "-4"])
        #expect(options["state"] == "-3" && options.has("verbose"))
        #expect(try parse("-v", "-1", "-v", inOrder: true).operands == ["-1", "-v"])
    }

    @Test func `a command's own options are left alone`() throws {
        let options = try parse("-v", "restic", "-v", "--state", "x", inOrder: true)
        #expect(options.given.map(\.name) == ["verbose"])
        #expect(options.operands == ["restic", "-v", "--state", "x"])
    }

    @Test(
        arguments: [
            (["--nope"], Options.Failure.unknown("--nope")),
            (["a", "--nope=1", "b"], .unknown("--nope=1")),
            (["--ver"], .unknown("--ver")),
            (["-vx"], .unknown("-vx")),
            (["-x"], .unknown("-x")),
            (["--state"], .missingArgument("--state")),
            (["a", "-vs"], .missingArgument("-vs")),
            (["--verbose=1"], .unknown("--verbose=1")),
        ]
    )
    func `what is wrong is named as it was typed`(words: [String], failure: Options.Failure) {
        #expect(throws: failure) { try Options(words, Self.table) }
    }

    @Test func `no words give nothing`() throws {
        let options = try parse()
        #expect(options.given.isEmpty && options.operands.isEmpty)
    }
}
