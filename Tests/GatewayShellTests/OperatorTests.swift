import GatewayShell
import Linux
import SQLite
import TLS
import TestKit
import Testing
import Vocabulary

/// What an operator types, and what a person of little luck types.
struct OperatorTests {
    private let scratch = ScratchDirectory()

    private func run(_ directory: String, _ words: String...) throws -> Command.Outcome {
        try Command([ScratchGateway.program] + words + ["--directory=\(directory)"]).run()
    }

    // MARK: init

    @Test func `the curl line of init is one that a shell and curl take`() throws {
        let place = scratch("with a space")
        let outcome = try run(place, "init", "--host=::1")
        #expect(outcome.output.contains("--cacert '\(place)/ca.pem'"), "\(outcome.output)")
        #expect(outcome.output.contains("https://[::1]:8443/3/device/TOKEN"))
        #expect(outcome.output.contains("serve '--directory=\(place)'"))
    }

    @Test func `the curl line names a host that the certificate is for`() throws {
        let place = scratch("g")
        #expect(try run(place, "init", "--host=push.example.org,10.0.0.1").succeeded)
        let again = try run(place, "init")
        #expect(again.output.contains("https://push.example.org:8443/"))
        let address = try run(place, "init", "--host=10.0.0.1")
        #expect(address.output.contains("https://10.0.0.1:8443/"))
        let other = try run(place, "init", "--host=other.example")
        #expect(!other.succeeded && other.output == "")
        #expect(other.errors.contains("push.example.org"), "\(other.errors)")
    }

    @Test func `the curl line is for a topic that the key may push to`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        #expect(try run(place, "topics", "set", "OFFSTAGE01", "org.example.Chat").succeeded)
        #expect(try run(place, "init").output.contains("apns-topic: org.example.Chat'"))
        // A key whose private half is elsewhere signs nothing here.
        try Files.remove(scratch("g/OFFSTAGE01.p8"))
        #expect(try run(place, "keys", "add", "SECOND0001", "--team=TEAM000001").succeeded)
        #expect(try run(place, "init").output.contains("key SECOND0001"))
    }

    @Test(arguments: [
        ["--host=,"], ["--team="], ["--key-id=../evil"], ["--key-id="], ["--team=a b"],
    ])
    func `init makes nothing of what it could not use`(_ words: [String]) throws {
        let command = [ScratchGateway.program, "init", "--directory=\(scratch("g"))"] + words
        let outcome = try Command(command).run()
        #expect(outcome.status == .exited(2), "\(outcome.output)\(outcome.errors)")
        #expect(scratch.entries == [])
    }

    @Test func `who has read enough of what is printed ends it without a word`() throws {
        var output = try Pipe()
        output.reading = nil
        let errors = scratch("errors")
        let log = try FileDescriptor(opening: errors, [.writing, .create])
        var program = Program(
            ScratchGateway.program,
            arguments: [ScratchGateway.program, "help", "send"],
            environment: Command.cleanEnvironment()
        )
        (program.output, program.error) = (output.writing?.number, log.number)
        let process = try program.start()
        try Wait.until(readable: process.descriptor.number, "its end")
        #expect(try process.wait(block: true) == .signalled(Signal.pipe))
        #expect(try Files.text(errors) == "")
    }

    // MARK: keys and topics

    @Test func `keys, teams and topics have names of letters and digits`() throws {
        let place = scratch("g/h")
        #expect(try run(place, "init").succeeded)
        let before = try Files.text(place + "/keys.conf")
        for words in [
            ["keys", "add", "../../X", "--team=T"], ["keys", "add", "X", "--team="],
            ["keys", "add", "a b", "--team=T"], ["keys", "add", "X", "--team=T", "--topics=a b!"],
            ["topics", "set", "OFFSTAGE01", "bad topic!"], ["keys", "certificate", "a b"],
        ] {
            let outcome = try Command(
                [ScratchGateway.program] + words + ["--directory=\(place)"]
            ).run()
            #expect(outcome.status == .exited(2), "\(words) \(outcome.output)\(outcome.errors)")
        }
        #expect(try Files.text(place + "/keys.conf") == before)
        #expect(scratch.entries == ["g"])
    }

    @Test func `who waits for another command says so once, and then goes on`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        let other = try FileDescriptor(opening: place, [.reading, .directory])
        try other.lock()
        let words = ["topics", "set", "OFFSTAGE01", "org.example.Chat", "--directory=\(place)"]
        let said = scratch("said")
        let process = try Command([ScratchGateway.program] + words).start(logging: said)
        try Wait.until(file: said) { $0.contains("\n") || process.hasExited }
        #expect(try !Files.text(place + "/keys.conf").contains("org.example.Chat"))
        _ = consume other
        try Wait.until(readable: process.descriptor.number, "its end")
        #expect(try process.wait(block: true) == .exited(0))
        #expect(try Files.text(place + "/keys.conf").contains("org.example.Chat"))
        let line = "offstage-gateway: waiting for another command that changes \(place)/keys.conf\n"
        #expect(try Files.text(said) == line)
    }

    @Test func `a key that is removed leaves nothing`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        let before = try Files.text(place + "/keys.conf")
        #expect(
            try run(place, "keys", "add", "LATE000001", "--team=T", "--environment=development")
                .succeeded
        )
        #expect(try run(place, "keys").output.contains("development"))
        #expect(try run(place, "keys", "remove", "LATE000001").succeeded)
        #expect(try Files.text(place + "/keys.conf") == before)
        #expect(!Files.exists(place + "/LATE000001.p8"))
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can give files away"))
    func `a file that root replaces stays that of the service`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        for path in try Files.list(place).map({ "\(place)/\($0)" }) + [place] {
            try Files.setOwner(path, user: 1234, group: 1234)
        }
        #expect(try run(place, "keys", "add", "LATE000001", "--team=T").succeeded)
        for name in ["keys.conf", "LATE000001.p8"] {
            #expect(Files.status("\(place)/\(name)")?.user == 1234, "\(name)")
        }
    }

    @Test func `commands that change the file of keys at once undo nothing of each other`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        try Files.remove(place + "/keys.conf")
        let apps = (0..<8).map { "org.c.a\($0)" }
        let add = "'\(ScratchGateway.program)' topics add $app --team=T '--directory=\(place)'"
        let script = "for app in \(apps.joined(separator: " ")); do \(add) & done; wait"
        // Whoever waits for long says so.
        let errors = try Command("sh", "-c", script).run().errors
        let lines = errors.split(separator: "\n")
        #expect(lines.allSatisfy { $0.contains("waiting for another command") }, "\(errors)")
        let keys = try Files.text(place + "/keys.conf")
        for app in apps { #expect(keys.contains(app), "\(keys)") }
    }

    @Test(arguments: [
        (["topics", "ad", "org.x", "--team=T"], "Did you mean topics add?"),
        (["topics", "any", "K", "--team=T"], "--team goes with add"),
        (["serve", "--listen=:18443,:18443"], "names an address twice"),
    ])
    func `a mistyped word is named`(words: [String], text: String) throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        let outcome = try Command(
            [ScratchGateway.program] + words + ["--directory=\(place)"]
        ).run()
        #expect(outcome.status == .exited(2) && outcome.errors.contains(text), "\(outcome)")
    }

    // MARK: send

    @Test func `a push with an alert is one, whatever else it does`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        let outcome = try gateway.run(
            "send",
            "--topic=org.example.Chat",
            "--alert=x",
            "--silent",
            "--json",
            "--host=localhost:\(gateway.port)",
            token
        )
        let unique = try #require(try ValueJSON.parse(outcome.output)["uniqueId"]?.stringValue)
        let report = try ValueJSON.parse(try gateway.run("log", unique, "--json").output)
        #expect(report["pushType"] == "alert")
    }

    @Test(arguments: [
        (["--payload={}", "--alert=x", "TOKEN"], "--payload"),
        (["--payload={}", "--data=a=b", "TOKEN"], "--payload"),
        (["--alert=x", "--data=aps=b", "TOKEN"], "--data cannot set aps"),
        (["--alert=x", "--data=a=b", "--data=a=c", "TOKEN"], "--data has \"a\" twice"),
        (["--alert=x", "--key-id=NOBODY", "TOKEN"], "NOBODY"),
        (["--alert=x", "--team=T", "TOKEN"], "--team"),
        (["--alert=x", "a b"], "a b"),
    ])
    func `send says what it cannot do`(_ words: [String], _ said: String) throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        let command = [ScratchGateway.program, "send", "--topic=a.b", "--directory=\(place)"]
        let outcome = try Command(command + words).run()
        #expect(outcome.errors.contains(said), "\(outcome.errors)")
        #expect(!outcome.succeeded && !outcome.errors.contains("refused"), "\(outcome.errors)")
    }

    @Test func `send signs with the key that it is told`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        #expect(
            try gateway.run("keys", "add", "OTHER00001", "--team=T", "--topics=org.example.Other")
                .succeeded
        )
        try gateway.start()
        let outcome = try gateway.run(
            "send",
            "--topic=org.example.Chat",
            "--alert=x",
            "--key-id=OTHER00001",
            "--host=localhost:\(gateway.port)",
            token
        )
        #expect(outcome.errors.contains("InvalidProviderToken"), "\(outcome.errors)")
    }

    // MARK: Names, owners, versions

    @Test func `the commands know the gateway's own names`() throws {
        let gateway = try ScratchGateway()
        for name in ["server.pem", "server.key", "ca.pem", "ca.key"] {
            try Files.remove(gateway.directory(name))
        }
        #expect(try gateway.run("init", "--host=push.example.org").succeeded)
        try gateway.start()
        let device = try ScratchDevice(gateway)
        let outcome = try gateway.run(
            "send",
            "--topic=\(ScratchGateway.topic)",
            "--alert=Hello",
            "--host=localhost:\(gateway.port)",
            try device.token()
        )
        #expect(outcome.succeeded, "\(outcome.errors)")
        try device.wait(for: "Hello")
        try device.end()
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can give files away"))
    func `nothing is made in a directory of another user's`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        try Files.setOwner(place, user: 1234, group: 1234)
        let before = try Files.list(place).sorted()
        let outcome = try run(place, "serve", "--listen=127.0.0.1:0", "--devices=127.0.0.1:0")
        #expect(!outcome.succeeded)
        #expect(outcome.errors.contains("1234"), "\(outcome.errors)")
        #expect(try Files.list(place).sorted() == before)
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can play others"))
    func `another user is told what it may not read`() throws {
        let gateway = try ScratchGateway()
        _ = try gateway.register(1)
        try gateway.start()
        for words in ["keys", "log", "topics", "devices", "stats", "devices remove 1"] {
            var command = Command(
                [ScratchGateway.program] + words.split(separator: " ").map(String.init)
            )
            command.arguments.append("--directory=\(gateway.directory.path)")
            command.user = Command.ordinaryUser
            let outcome = try command.run()
            #expect(!outcome.succeeded && outcome.output.isEmpty)
            #expect(outcome.errors.contains("no permission"), "\(words): \(outcome.errors)")
        }
    }

    @Test(arguments: ["serve", "log", "devices"])
    func `a file of a newer version is said to be that`(command: String) throws {
        let gateway = try ScratchGateway()
        _ = try gateway.register(1)
        try Database(path: gateway.paths.store, mode: .create).setUserVersion(99)
        let outcome = try gateway.run(command)
        #expect(!outcome.succeeded)
        #expect(outcome.errors.contains("newer"), "\(outcome.errors)")
    }

    @Test func `what is no topic is none for a device either`() throws {
        let place = scratch("g")
        #expect(try run(place, "init").succeeded)
        let outcome = try run(place, "device", "not a topic")
        #expect(outcome.status == .exited(2), "\(outcome.errors)")
    }

    @Test func `a key that is encrypted is said to be that`() {
        let text =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
        let error = #expect(throws: TLSError.self) { try P256PrivateKey(pem: text) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("encrypted"))
    }

    @Test(arguments: [(-1, "has expired", "failing"), (3, "expires in", "serving")])
    func `a certificate that ends is told of`(days: Int64, said: String, status: String) throws {
        let gateway = try ScratchGateway()
        let paths = gateway.paths
        let now = Clocks.now().wall.nanoseconds / 1_000_000_000
        let key = try P256PrivateKey()
        var template = CertificateTemplate(
            .server,
            commonName: "localhost",
            validity: (now - 10 * 86_400)...(now + days * 86_400 + 60)
        )
        template.hosts = ["localhost"]
        let authority = try Certificate(pem: try Files.text(paths.authority))
        let authorityKey = try P256PrivateKey(pem: try Files.text(paths.authorityKey))
        let certificate = try template.issue(for: key, by: (authority, authorityKey))
        try Files.replace(paths.certificate, with: try certificate.pem())
        try Files.replace(paths.certificateKey, with: try key.pem())
        try gateway.start()
        #expect(try Files.text(gateway.directory("log1")).contains(said))
        let stats = try ValueJSON.parse(try gateway.run("stats", "--json").output)
        #expect(stats["certificate_days_left"]?.integerValue == max(0, days))
        let socket = try UnixSocket.connect(to: paths.control)
        try socket.writeAll("GET /health HTTP/1.0\r\n\r\n")
        let health = String(decoding: try socket.readAll(limit: 4096), as: UTF8.self)
        #expect(health.contains(status), "\(health)")
        guard days < 0 else { return }
        let send = try gateway.run(
            "send",
            "--topic=a.b",
            "--alert=x",
            "--host=localhost:\(gateway.port)",
            "00"
        )
        let device = try gateway.run("device", "--host=localhost:\(gateway.devicePort)", "a.b")
        for outcome in [send, device] {
            #expect(outcome.errors.contains("has expired\n"), "\(outcome.errors)")
            #expect(outcome.errors.contains("init\" makes a new pair"), "\(outcome.errors)")
        }
    }

    // MARK: Settings

    @Test(arguments: [
        ("connections = 0", "connections"), ("links = 0", "links"), ("streams = 0", "streams"),
        ("silent-battery = 500", "silent-battery"), ("silent-refill = 20", "has no unit"),
        ("keep-alive-longest = 1s\nkeep-alive-shortest = 1h", "keep-alive-longest"),
        ("link-queue-largest = 10\nlink-queue = 20", "link-queue-largest"),
        ("request-time = 0", "request-time"),
    ])
    func `a setting that cannot be is refused in words`(_ text: String, _ said: String) throws {
        scratch.write(text + "\n", to: "gateway.conf")
        let failure = #expect(throws: (any Error).self) {
            try GatewaySettings.read(scratch("gateway.conf"))
        }
        #expect("\(failure.map { "\($0)" } ?? "")".contains(said))
    }
}
