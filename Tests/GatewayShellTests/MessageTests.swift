import GatewayShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// What an operator is told when something is wrong: which file, and what to do.
struct MessageTests {
    private func refused(_ outcome: Command.Outcome, _ status: Int32, _ said: String...) {
        #expect(outcome.status == .exited(status), "\(outcome)")
        for text in said { #expect(outcome.errors.contains(text), "\(outcome.errors)") }
    }

    private func send(_ gateway: ScratchGateway, _ words: String...) throws -> Command.Outcome {
        let options = ["send", "--topic=a.b", "--alert=x", "--directory=\(gateway.directory.path)"]
        return try Command([ScratchGateway.program] + options + words + ["00"]).run()
    }

    @Test func `a certificate or key that is none is named`() throws {
        let gateway = try ScratchGateway()
        let paths = gateway.paths
        let (certificate, key) = (
            try Files.text(paths.certificate), try Files.text(paths.certificateKey)
        )
        gateway.directory.write("garbage", to: "server.pem")
        refused(try gateway.run("serve"), 1, "\(paths.certificate): ", "there is none in the text")
        gateway.directory.write(certificate, to: "server.pem")
        gateway.directory.write("garbage", to: "server.key")
        refused(
            try gateway.run("serve"),
            1,
            "\(paths.certificateKey): ",
            "there is none in the text"
        )
        gateway.directory.write(try Files.text(paths.authorityKey), to: "server.key")
        refused(try gateway.run("serve"), 1, "\(paths.certificateKey): ", "not that of the cert")
        gateway.directory.write(key, to: "server.key")
        refused(
            try send(gateway, "--key=\(paths.authority)", "--key-id=A", "--team=B"),
            1,
            "\(paths.authority): ",
            "there is none in the text"
        )
    }

    @Test func `a store that is none is named, and where to take another from`() throws {
        let gateway = try ScratchGateway()
        gateway.directory.write(String(repeating: "garbage ", count: 1000), to: "gateway.db")
        let store = gateway.paths.store
        for command in ["serve", "devices"] {
            refused(try gateway.run(command), 1, "\(store) is damaged", "help backup")
        }
        refused(try gateway.run("backup", gateway.directory("b.tar")), 1, "\(store) is damaged")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount"))
    func `a file that a full disk does not take is named`() throws {
        let scratch = ScratchDirectory()
        let disk = try #require(SmallDisk(at: scratch.path, megabytes: 4))
        defer { disk.unmount() }
        func run(_ words: String...) throws -> Command.Outcome {
            try Command([ScratchGateway.program] + words + ["--directory=\(scratch.path)"]).run()
        }
        #expect(try run("init").succeeded)
        try disk.fill()
        let outcome = try run("topics", "add", "org.example.Chat", "--team=TEAM000001")
        refused(outcome, 1, " \(scratch.path)/keys.conf: No space left on device")
    }

    @Test func `what cannot be removed is not said to be absent`() throws {
        let gateway = try ScratchGateway()
        _ = try gateway.register(1)
        try gateway.start()
        refused(try gateway.run("devices", "remove", "77"), 3, "no device 77")
        let database = try Database(path: gateway.paths.store, mode: .create)
        try database.execute("ALTER TABLE apps RENAME TO away")
        refused(try gateway.run("topics", "remove", ScratchGateway.topic), 1, "cannot be written")
    }

    @Test func `an address that cannot be right is told of once, with what may be meant`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        refused(
            try send(gateway, "--host=no host:8443"),
            1,
            "offstage-gateway: connect no host:8443: there is no host of that name\n"
        )
        refused(
            try send(gateway, "--host=127.0.0.1:\(gateway.devicePort)"),
            1,
            "does not speak HTTP/2",
            "the gateway's port for devices"
        )
        refused(
            try Command(
                ScratchGateway.program,
                "device",
                "a.b",
                "--directory=\(gateway.directory.path)",
                "--host=localhost:\(gateway.port)"
            ).run(),
            1,
            " does not speak the protocol for devices (",
            "the gateway's port for providers"
        )
    }

    @Test func `a mistake in a file that is read again is said in whole sentences`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let keys = gateway.paths.keys
        let text = try Files.text(keys)
        func wait(_ text: String) throws {
            _ = try Wait.until(file: gateway.directory("log1"), text) { $0.contains(text) }
        }
        gateway.directory.write("[BAD\n", to: "keys.conf")
        try wait(
            "\(keys): line 1: \"[BAD\" is not a section; nothing was changed. Write a name "
                + "between [ and ], and nothing after it.\n"
        )
        gateway.directory.write(text, to: "keys.conf")
        gateway.directory.write("lnks = 7\n", to: "gateway.conf")
        try wait("\(gateway.paths.settings): line 1: there is no setting \"lnks\"; nothing was")
        gateway.directory.write("", to: "gateway.conf")
        try Files.remove(keys)
        try gateway.signal(Signal.hangUp)
        try wait(
            "\(keys) is gone; nothing was changed. Started without it, the gateway has no keys.\n"
        )
    }

    @Test func `a start without keys says what that means`() throws {
        let gateway = try ScratchGateway()
        try Files.remove(gateway.paths.keys)
        try gateway.start()
        let text = "there is no key in \(gateway.paths.keys): every push"
        _ = try Wait.until(file: gateway.directory("log1"), text) { $0.contains(text) }
    }

    // MARK: The port for Prometheus

    /// Head and body of an answer.
    private func ask(_ port: UInt16, _ line: String) throws -> (head: String, body: String) {
        let socket = try InternetSocket.connect(to: InternetAddress(host: "127.0.0.1", port: port))
        try socket.writeAll("\(line) HTTP/1.0\r\n\r\n")
        let text = String(decoding: try socket.readAll(limit: 1 << 20), as: UTF8.self)
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        return (String(text[..<end.lowerBound]), String(text[end.upperBound...]))
    }

    @Test func `the port for metrics is said, and answers as HTTP wants it`() throws {
        let gateway = try ScratchGateway(settings: "metrics = 127.0.0.1:0\n")
        try gateway.start()
        let port = try #require(gateway.metricsPort)
        let page = try ask(port, "GET /health")
        #expect(page.head.hasPrefix("HTTP/1.0 200 ") && page.body.contains("serving"))
        let head = try ask(port, "HEAD /health")
        #expect(head.head == page.head && head.body == "")
        #expect(try ask(port, "GET /health?from=balancer") == page)
        let metrics = try ask(port, "HEAD /metrics?x=y")
        #expect(metrics.head.hasPrefix("HTTP/1.0 200 ") && metrics.body == "")
        let post = try ask(port, "POST /health")
        #expect(post.head.hasPrefix("HTTP/1.0 405 "))
        #expect(post.head.hasSuffix("\r\nAllow: GET, HEAD"))
        let absent = try ask(port, "GET /nothing")
        #expect(absent.head.hasPrefix("HTTP/1.0 404 "))
        #expect(absent.head.contains("\r\nContent-Type: text/plain\r\n"))
    }
}
