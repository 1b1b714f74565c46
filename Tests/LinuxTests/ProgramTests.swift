import Linux
import TestKit
import Testing

struct ProgramTests {
    let scratch = ScratchDirectory()

    func shell(_ script: String) -> Program {
        Program(
            "/bin/sh",
            arguments: ["sh", "-c", script],
            environment: Command.cleanEnvironment(["COLOUR": "green"])
        )
    }

    func status(of process: borrowing PidFD) throws -> ProcessExit? {
        try Wait.until(readable: process.descriptor.number, "end of process \(process.pid)")
        return try process.wait(block: false)
    }

    @Test(arguments: [
        ("exit 0", ProcessExit.exited(0)), ("exit 75", .exited(75)), ("kill -9 $$", .signalled(9)),
    ])
    func `a child's end is told`(script: String, expected: ProcessExit) throws {
        let process = try shell(script).start()
        #expect(try status(of: process) == expected)
        #expect(process.hasExited == true)
        #expect(try process.wait(block: true) == .unknown)
    }

    @Test(
        .enabled(if: ProcessEnds.areTold, "this kernel tells it to parents only"),
        arguments: [
            ("exit 0", ProcessExit.exited(0)), ("exit 7", .exited(7)),
            ("kill -TERM $$", .signalled(15)),
        ]
    )
    func `how a process ended is told to who is not its parent, reaped or not`(
        script: String,
        expected: ProcessExit
    ) throws {
        let (gate, reap, number) = (scratch("gate"), scratch("reap"), scratch("number"))
        #expect(try Command("mkfifo", gate, reap).run().succeeded)
        let child = "sh -c 'read word < \(gate); \(script)'"
        let parent = try shell(
            "\(child) & echo $! > \(number); read word < \(reap); wait"
        ).start()
        try Wait.until(file: number, "its number") { $0.hasSuffix("\n") }
        let process = try PidFD(of: try #require(Int32(scratch.read("number").dropLast())))
        #expect(process.end == nil, "it runs")
        try Files.set(gate, to: "go\n")
        try Wait.until(readable: process.descriptor.number, "its end")
        #expect(process.end == expected)
        try Files.set(reap, to: "go\n")
        _ = try parent.wait(block: true)
        #expect(process.end == expected)
    }

    @Test func `an end that nobody has reaped is known where the kernel tells none`() throws {
        let outcome = try Command(Products.path(of: "ProcessPeer"), "without-ioctl").run()
        #expect(outcome.status == .exited(0), "\(outcome)")
    }

    @Test(arguments: [Errno.noSystemCall, .permission])
    func `programs are started where clone3 is refused`(errno: Errno) throws {
        let outcome = try Command(
            Products.path(of: "ProcessPeer"),
            "without-clone3",
            "\(errno.number)"
        ).run()
        #expect(outcome.status == .exited(0), "\(outcome)")
    }

    @Test func `arguments, environment, directory and descriptors arrive`() throws {
        let log = try FileDescriptor(opening: scratch("log"), [.writing, .create, .append])
        let extra = try FileDescriptor(opening: scratch("extra"), [.writing, .create])
        var program = shell(
            #"echo "$1 $COLOUR"; pwd; readlink /proc/$$/fd/0; echo more >&3; ls /proc/$$/fd; true"#
        )
        program.arguments += ["zero", "two words"]
        program.directory = scratch.path
        (program.output, program.error) = (log.number, log.number)
        program.passed = [extra.number]
        let process = try program.start()
        #expect(try status(of: process) == .exited(0))
        let text = try scratch.read("log")
        #expect(text == "two words green\n\(scratch.path)\n/dev/null\n0\n1\n2\n3\n")
        #expect(try scratch.read("extra") == "more\n")
    }

    @Test func `standard descriptors may be given in any order`() throws {
        let file = try FileDescriptor(opening: try scratch.write("in", "text\n"), .reading)
        let log = try FileDescriptor(opening: scratch("log"), [.writing, .create])
        var program = shell("cat; readlink /proc/$$/fd/2")
        (program.input, program.output, program.error) = (file.number, log.number, file.number)
        let process = try program.start()
        #expect(try status(of: process) == .exited(0))
        #expect(try scratch.read("log") == "text\n\(scratch("in"))\n")
    }

    @Test func `the child leads a session and blocks and ignores no signal`() throws {
        var output = try Pipe()
        var program = shell("grep -E 'Sig(Blk|Ign|Cgt)|NSsid' /proc/self/status; ps -o sid= -p $$")
        program.path = "/bin/grep"
        program.arguments = ["grep", "-E", "Sig(Blk|Ign)|NSsid", "/proc/self/status"]
        program.output = output.writing?.number
        let process = try program.start()
        output.writing = nil
        let text = String(decoding: try output.reading?.readAll(limit: 4096) ?? [], as: UTF8.self)
        #expect(
            text == "NSsid:\t\(process.pid)\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
        )
        #expect(try status(of: process) == .exited(0))
    }

    @Test func `a program that does not exist is an error of execve and leaves no process`() throws
    {
        let program = Program("/no/such/program", arguments: ["x"], environment: [])
        #expect(throws: LinuxError("execve", "/no/such/program", .noEntry)) {
            _ = try program.start()
        }
    }

    @Test func `a script without an interpreter line is an error of its format`() throws {
        let path = try scratch.write("script", "echo hello\n", permissions: 0o755)
        let program = Program(path, arguments: ["script"], environment: [])
        #expect(throws: LinuxError("execve", path, .badFormat)) { _ = try program.start() }
    }

    @Test func `a directory that is gone is named`() throws {
        var program = shell("true")
        program.directory = scratch("gone")
        #expect(throws: LinuxError("chdir", scratch("gone"), .noEntry)) { _ = try program.start() }
    }

    @Test func `the marker holds who was started, written before the program ran`() throws {
        let marker = try FileDescriptor(opening: scratch("marker"), [.writing, .create, .append])
        let log = try FileDescriptor(opening: scratch("log"), [.writing, .create])
        var program = shell("cat \(scratch("marker"))")
        program.marker = marker.number
        program.output = log.number
        let process = try program.start()
        let identity = ProcessIdentity(of: process.pid)
        #expect(try status(of: process) == .exited(0))
        #expect(ProcessIdentity(marker: try scratch.read("log")) == identity)
        #expect(identity?.pid == process.pid)
    }

    @Test
    func `the marker stays empty when the program was never tried, and tells a failed execve`()
        throws
    {
        let marker = try FileDescriptor(opening: scratch("marker"), [.writing, .create, .append])
        var program = Program("/no/such", arguments: ["x"], environment: [])
        program.marker = marker.number
        program.directory = scratch("gone")
        #expect(throws: LinuxError.self) { _ = try program.start() }
        #expect(try scratch.read("marker") == "")
        program.directory = nil
        #expect(throws: LinuxError.self) { _ = try program.start() }
        let lines = try scratch.read("marker").split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last == "failed 11 2")
        #expect(Program.step(11) == "execve")
    }

    @Test func `a start that does not wait for execve tells its failure by exit and marker`()
        throws
    {
        try scratch.write("noformat", "")
        try Files.setPermissions(scratch("noformat"), 0o755)
        let marker = try FileDescriptor(opening: scratch("marker"), [.writing, .create, .append])
        var program = Program(scratch("noformat"), arguments: ["x"], environment: [])
        program.marker = marker.number
        #expect(throws: LinuxError("execve", program.path, .badFormat)) {
            _ = try program.start()
        }
        program.waitsForExecve = false
        let process = try program.start()
        let identity = try #require(ProcessIdentity(of: process.pid))
        #expect(try status(of: process) == .exited(127))
        // The child has told it: there is nobody left to ask.
        #expect(process.identity == identity)
        let lines = try scratch.read("marker").split(separator: "\n")
        #expect(lines.last == "failed 11 8")
    }

    @Test func `what fails before execve is told at once, also without waiting for it`() throws {
        var program = shell("true")
        program.directory = scratch("gone")
        program.waitsForExecve = false
        #expect(throws: LinuxError("chdir", scratch("gone"), .noEntry)) { _ = try program.start() }
    }

    @Test(arguments: [true, false])
    func `nobody is executed with a marker that is void or deleted`(isDeleted: Bool) throws {
        let path = scratch("marker")
        let marker = try FileDescriptor(opening: path, [.both, .create, .append])
        if isDeleted { try Files.remove(path) } else { try Program.voidMarker(path) }
        var program = shell("echo ran > \(scratch("ran"))")
        program.marker = marker.number
        #expect(throws: LinuxError("write marker", program.path, .stale)) {
            _ = try program.start()
        }
        #expect(Files.status(scratch("ran")) == nil)
        let lines = try marker.read(at: 0, count: 100).split(separator: 10)
        #expect(lines.last.map { String(decoding: $0, as: UTF8.self) } == "failed 10 116")
    }

    /// A pipe that is full keeps a child from executing as a file system that hangs does.
    @Test func `a child that does not come to execute holds up neither its caller nor others`()
        throws
    {
        var pipe = try Pipe()
        try pipe.writing?.setNonBlocking(true)
        let filling = [UInt8](repeating: 0, count: 4096)
        while (try? pipe.writing?.write(filling.span)) != nil {}
        try pipe.writing?.setNonBlocking(false)
        var stuck = shell("exit 3")
        stuck.marker = pipe.writing?.number
        stuck.patienceMilliseconds = 1
        let process = try stuck.start()
        #expect(ProcessIdentity(of: process.pid) != nil)
        #expect(process.hasExited == false)
        // Nothing of ours stays open meanwhile: its three, and the marker.
        let open = "/proc/\(process.pid)/fd"
        try Wait.until("only what it is given is open in the child") {
            try Files.list(open).count == 4
        } step: {
            _ = try status(of: try shell("true").start())
        }
        #expect(try status(of: try shell("exit 4").start()) == .exited(4))
        pipe.writing = nil
        _ = try pipe.reading?.readAll(limit: 1 << 20)
        #expect(try status(of: process) == .exited(3))
    }

    @Test func `limits hold in the child and not here`() throws {
        let before = try ResourceLimit(current: .core)
        let log = try FileDescriptor(opening: scratch("log"), [.writing, .create])
        // All numbers below the limit are in use here.
        var held: [SharedDescriptor] = []
        for _ in 0..<100 {
            held.append(SharedDescriptor(try FileDescriptor(opening: "/dev/null", [.writing])))
        }
        var program = shell("ulimit -S -c; ulimit -S -n")
        program.output = log.number
        program.limits = [
            .init(.core, soft: 0, hard: before.hard), .init(.openFiles, soft: 90, hard: 100),
        ]
        let process = try withExtendedLifetime(held) { try program.start() }
        #expect(try status(of: process) == .exited(0))
        #expect(try scratch.read("log") == "0\n90\n")
        #expect(try ResourceLimit(current: .core) == before)
    }

    @Test func `a child without room for another file marks itself all the same`() throws {
        let marker = try FileDescriptor(opening: scratch("marker"), [.writing, .create, .append])
        var program = Program("/bin/true", arguments: ["true"], environment: [])
        program.marker = marker.number
        program.limits = [.init(.openFiles, soft: 3, hard: 3)]
        let process = try program.start()
        let identity = try #require(ProcessIdentity(of: process.pid))
        _ = try status(of: process)
        #expect(try scratch.read("marker") == "\(identity.pid) \(identity.startTime)\n")
    }

    @Test func `an identity is not fooled by a number used again`() throws {
        let process = try shell("exec sleep 1000").start()
        let identity = try #require(ProcessIdentity(of: process.pid))
        #expect(identity.isAlive)
        var wrong = identity
        wrong.startTime -= 1
        #expect(!wrong.isAlive)
        #expect(throws: LinuxError("pidfd_open", "process \(process.pid)", .noProcess)) {
            _ = try PidFD(of: wrong)
        }
        let same = try PidFD(of: identity)
        #expect(PidFD.pid(of: same.descriptor) == process.pid)
        try same.send(Signal.kill)
        try Wait.until(readable: same.descriptor.number)
        #expect(!identity.isAlive, "dead, though nobody reaped it")
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(throws: LinuxError("pidfd_send_signal", "process \(process.pid)", .noProcess)) {
            try same.send(Signal.kill)
        }
        #expect(PidFD.pid(of: same.descriptor) == nil)
    }

    @Test func `a stat line is read whatever the process calls itself`() throws {
        let fields = "S 1 42 43 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 1 0 98765 0 0"
        let status = try #require(ProcessStatus("41 (a) b (c) " + fields))
        #expect(status.pid == 41)
        #expect(status.startTime == 98765)
        #expect((status.parent, status.group, status.session) == (1, 42, 43))
        #expect(status.processorTime == 120_000_000)
        #expect(status.end == nil)
        #expect(ProcessStatus("41 (a) S 1") == nil)
        #expect(ProcessStatus("") == nil)
    }

    @Test func `a stat line tells how one ended if its status may be read`() throws {
        func end(mayRead: Int, _ status: Int) throws -> ProcessExit? {
            let fields = [
                "24587 (b) Z 24586 24585 22841 0 -1 4227148 17 0 0 0 0 0 0 0 20 0 1 0",
                "1759815 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 \(mayRead)",
                "0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 \(status)\n",
            ]
            return try #require(ProcessStatus(fields.joined(separator: " "))).end
        }
        #expect(try end(mayRead: 1, 7 << 8) == .exited(7))
        #expect(try end(mayRead: 1, 15) == .signalled(15))
        #expect(try end(mayRead: 0, 0) == nil)
    }

    @Test func `a terminal is made whose session sees it`() throws {
        var terminal = try PseudoTerminal(rows: 30, columns: 99)
        let side = terminal.terminal?.number
        let number = try #require(side)
        #expect(Terminal.isTerminal(number))
        #expect(Terminal.size(number)?.columns == 99)
        #expect(Terminal.size(number)?.rows == 30)
        #expect(!Terminal.isTerminal(try FileDescriptor(opening: "/dev/null", .reading).number))
        var program = shell("tty; read line; echo got $line")
        (program.input, program.output, program.error) = (number, number, number)
        program.controlsTerminal = true
        let process = try program.start()
        terminal.terminal = nil
        try terminal.master.writeAll("hello\n")
        var text = ""
        while let bytes = try? terminal.master.read(upTo: 4096), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
        }
        #expect(text.contains("\(terminal.path)\r\n"))
        #expect(text.contains("got hello\r\n"))
        #expect(try status(of: process) == .exited(0))
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can become somebody else"))
    func `a program runs as another user`() throws {
        let user = try #require(Command.ordinaryUser)
        var command = Command("id", "-u")
        command.user = user
        #expect(try command.run().output == "\(user.user)\n")
    }
}
