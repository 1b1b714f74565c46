import Linux
import TestKit
import Testing
import Vocabulary

/// The program `offstage` against a real daemon that goes away, and against those that are none.
struct LostDaemonTests {
    private let daemon: ScratchDaemon
    private let relay: Relay

    init() throws {
        daemon = try ScratchDaemon(settings: DaemonTests.calm)
        relay = try Relay(daemon.scratch("relay"))
    }

    private func command(_ arguments: String..., at socket: String? = nil) -> Command {
        var command = Command([Products.path(of: "offstage")] + arguments)
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": socket ?? relay.path])
        return command
    }

    /// What it has printed, on either stream.
    private var said: String { daemon.scratch("said") }

    private func ended(_ process: borrowing PidFD) throws -> ProcessExit? {
        try Wait.until(readable: process.descriptor.number, "the end of offstage")
        return try process.wait(block: true)
    }

    enum Moment: CaseIterable {
        /// The daemon hears the request and stores it; its answer is lost.
        case answerIsLost
        /// The daemon never hears of it.
        case requestIsLost
        /// It is killed after it has stored it, and is started again.
        case daemonIsKilled
        /// The same, and a service manager holds the socket meanwhile.
        case socketIsHeld
    }

    @Test(arguments: Moment.allCases)
    func `a submit whose answer is lost is stored, and runs once`(moment: Moment) throws {
        try daemon.start()
        let home = daemon.scratch("home")
        var submit = command("submit", "--refresh", "--id", "once", "--")
        submit.arguments += ["sh", "-c", "echo run >> \(home)/runs"]
        let process = try submit.start(logging: said)
        do {
            let line = try relay.accept(for: daemon.socket)
            let request = try line.pass(upTo: "Submit")
            if moment != .requestIsLost { try line.answer(request) }
            if moment == .daemonIsKilled { relay.close() }
            if moment == .daemonIsKilled || moment == .socketIsHeld { try daemon.kill() }
        }
        if moment == .socketIsHeld {
            for _ in 0..<10 { _ = try relay.accept() }
            try daemon.start()
        }
        if moment == .daemonIsKilled {
            try Wait.until(file: said) { $0.contains("asking again") }
            try daemon.start()
            try relay.open()
        }
        try relay.accept(for: daemon.socket).passAll()
        #expect(try ended(process) == .exited(0))
        let words = try Files.text(said).split(separator: "\n")
        #expect(words.count == 2, "\(words)")
        #expect(words.first?.hasPrefix("offstage: the daemon does not answer: ") == true)
        #expect(words.first?.hasSuffix("; asking again, for 30s at most") == true)
        #expect(words.last?.hasPrefix("command.once is stored; ") == true)
        // It runs, once: all that was asked for of that name has left one line.
        let history = command("history", "command.once", "--json", at: daemon.socket)
        try Wait.until(file: daemon.scratch("state/events.log"), "the run") { _ in
            (try? history.run().output.contains("\"run\"")) == true
        }
        let tasks = try command("tasks", "command.once", at: daemon.socket).run()
        #expect(tasks.output == "Nothing is waiting.\n")
        #expect(try Files.text(home + "/runs") == "run\n")
        let lines = try #require(try ValueJSON.parse(history.run().output).listValue)
        #expect(lines.count { $0["what"] == "run" } == 1)
    }

    @Test func `who interrupts a watch in the middle of a call leaves it, and no call failed`()
        throws
    {
        try daemon.start()
        var watch = command("transfers", "--watch")
        watch.newSession = true
        let process = try watch.start(logging: said)
        let line = try relay.accept(for: daemon.socket)
        _ = try line.pass(upTo: "TransferProgress")
        try process.send(Signal.interrupt)
        #expect(try ended(process) == .signalled(Signal.interrupt))
        let words = "offstage: the transfers go on; \"offstage transfers\" lists them\n"
        // Before it the daemon may have been found slow.
        #expect(try Files.text(said).hasSuffix(words))
        withExtendedLifetime(line) {}
    }

    /// The transfers go on with the next one.
    @Test func `who watches transfers waits for the next daemon`() throws {
        try daemon.start()
        #expect(try command("set", "network", "off", at: daemon.socket).run().succeeded)
        let url = "http://127.0.0.1:9/file"
        let home = daemon.scratch("home")
        let download = command("download", "-d", home, url, at: daemon.socket)
        #expect(try download.run().succeeded)
        let process = try command("transfers", "--watch").start(logging: said)
        do {
            let line = try relay.accept(for: daemon.socket)
            relay.close()
            try line.passAll()
        }
        let words = try Wait.until(file: said) {
            $0.contains("asking again") || $0.contains("Start it") || process.hasExited
        }
        try #require(words.contains("; asking again, for 30s at most"))
        try daemon.restart()
        #expect(try command("cancel", "1", at: daemon.socket).run().succeeded)
        try relay.open()
        // What is left, and then how each has ended.
        for _ in 0..<2 { try relay.accept(for: daemon.socket).passAll() }
        #expect(try ended(process) == .exited(0))
        #expect(try Files.text(said).contains("cancelled"))
    }

    @Test func `who interrupts a watch while no daemon is there leaves it`() throws {
        try daemon.start()
        var watch = command("transfers", "--watch")
        watch.newSession = true
        let process = try watch.start(logging: said)
        do {
            let line = try relay.accept(for: daemon.socket)
            _ = try line.pass(upTo: "TransferProgress")
            relay.close()
        }
        try Wait.until(file: said) { $0.contains("asking again") }
        try process.send(Signal.interrupt)
        #expect(try ended(process) == .signalled(Signal.interrupt))
        #expect(try Files.text(said).contains("the transfers go on"))
    }

    @Test func `a daemon that dies while a client connects is said to have gone, and waited for`()
        throws
    {
        let process = try command("status").start(logging: said)
        do {
            // The kernel has taken the client before anybody accepts it.
            let client = try relay.accept()
            relay.close()
            withExtendedLifetime(client.number) {}
        }
        let place = relay.path
        try Wait.until(file: said) {
            $0.contains("the daemon at \(place) went away while this connected to it; asking again")
        }
        try daemon.start()
        try relay.open()
        try relay.accept(for: daemon.socket).passAll()
        #expect(try ended(process) == .exited(0))
    }

    @Test(arguments: [
        ("", "hangs up: it is not Offstage, or accepts no more connections"),
        ("HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n", "is not Offstage\n"),
    ])
    func `what is not Offstage is said to be that`(answer: String, words: String) throws {
        let path = relay.path
        let process = try command("status").start(logging: said)
        // It may try more than once. Who has answered stays connected: one that hung up before the
        // client said anything would be told from a daemon that is full by nobody.
        var answered: [SharedDescriptor] = []
        try Wait.until("it has given up", { process.hasExited }) {
            let ready = try Poll.wait(
                for: [(process.descriptor.number, .readable), (relay.number, .readable)],
                milliseconds: Wait.limitMilliseconds
            )
            guard !ready[1].isEmpty else { return }
            let client = SharedDescriptor(try relay.accept())
            try client.descriptor.writeAll(answer)
            if !answer.isEmpty { answered.append(client) }
        }
        #expect(try ended(process) == .exited(4))
        let said = try Files.text(said)
        #expect(said.hasPrefix("offstage: the program listening at \(path) \(words)"), "\(said)")
        #expect(said.hasSuffix("\nGive the daemon's socket with --socket or OFFSTAGE_SOCKET.\n"))
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can become somebody else"))
    func `the daemon of another user is said to be that`() throws {
        let user = try #require(Command.ordinaryUser)
        let theirs = try ScratchDaemon(as: user)
        try theirs.start()
        let ours = try command("status", at: theirs.socket).run()
        #expect(ours.status == .exited(4))
        let words = "offstage: the socket \(theirs.socket) belongs to user \(user.user), and this "
        #expect(ours.errors.hasPrefix(words + "is user 0\nAsk as that user,"), "\(ours.errors)")
        // Where a directory keeps it from everybody else.
        try daemon.start()
        var other = command("status", at: daemon.socket)
        other.user = user
        let outcome = try other.run()
        #expect(outcome.status == .exited(4))
        #expect(
            outcome.errors.hasPrefix(
                "offstage: the socket \(daemon.socket) belongs to user 0, and this is user "
                    + "\(user.user)\n"
            ),
            "\(outcome.errors)"
        )
    }
}
