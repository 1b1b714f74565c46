import EventLoop
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Web Push from a library that knows nothing of us, to a device and the app's decryption.
struct WebPushClientTests {
    private typealias Case = [(String, Value)]

    private static let haveClient = Files.isExecutable(
        RealClientTests.environments + "/current/bin/pywebpush"
    )

    /// A gateway, a sender's key, and an address that is bound to it.
    private struct Scene {
        let gateway: ScratchGateway
        let key: P256PrivateKey
        let options: [String]

        init() throws {
            gateway = try ScratchGateway()
            try gateway.start()
            key = try P256PrivateKey()
            gateway.directory.write(Array(try key.pem().utf8), to: "sender.pem")
            gateway.directory.write(Array(try P256PrivateKey().pem().utf8), to: "other.pem")
            options = ["--sender=" + Base64.urlText(try key.publicKey().point())]
        }

        func device() throws -> ScratchDevice {
            try ScratchDevice(
                gateway,
                [ScratchGateway.topic, "org.example.Mail"],
                options: options
            )
        }

        /// What the library got for each case, and what the bodies hold.
        func run(_ cases: [String: Case], bodies: [String] = []) throws -> [String: Value] {
            let list = cases.sorted { $0.key < $1.key }.map { name, fields in
                Value.map(ValueMap([("name", .string(name))] + fields))
            }
            let setup = Value.map([
                "ca": .string(gateway.paths.authority),
                "appKey": .string(gateway.directory("app.pem")), "cases": .list(list),
                "bodies": .list(bodies.map { .string($0) }),
            ])
            let answers = try RealClientTests.answers(
                of: "with_pywebpush.py",
                "current",
                setup,
                gateway
            )
            #expect(answers.count == cases.count + bodies.count, "\(answers)")
            return answers
        }

        func signed(_ endpoint: String, _ more: Case = []) -> Case {
            [
                ("endpoint", .string(endpoint)), ("key", .string(gateway.directory("sender.pem"))),
                ("data", "Hello"),
            ].filter { field in !more.contains { $0.0 == field.0 } } + more
        }
    }

    private static func outcome(_ answer: Value?) -> Outcome {
        Outcome(
            Int(answer?["status"]?.integerValue ?? 0),
            answer?["reason"]?.stringValue ?? "\(String(describing: answer))"
        )
    }

    /// What a device printed of a push's body.
    private static func body(_ line: String) -> String {
        line.split(separator: " ").last.map(String.init) ?? ""
    }

    private static let day: Int64 = 86_400

    @Test(.enabled(if: haveClient, "no pywebpush; scripts/setup test fetches it"))
    func `pywebpush sends to one device, and reads every answer`() throws {
        let scene = try Scene()
        let device = try scene.device()
        let endpoint = try device.endpoint()
        let now = Clocks.now().wall.nanoseconds / 1_000_000_000
        func claims(_ name: String, _ value: Value) -> Case {
            [("claims", .map(ValueMap([(name, value)])))]
        }
        let other = Value.string(scene.gateway.directory("other.pem"))
        let text = String(repeating: "x", count: 3993)
        let answers = try scene.run([
            "hello": scene.signed(endpoint),
            "largest": scene.signed(endpoint, [("data", .string(text))]),
            "oversized": scene.signed(endpoint, [("data", .string(text + "x"))]),
            "unsigned": [("endpoint", .string(endpoint)), ("data", "Hello")],
            "other sender": scene.signed(endpoint, [("key", other)]),
            "other audience": scene.signed(endpoint, claims("aud", "https://push.example.com")),
            "for too long": scene.signed(endpoint, claims("exp", .integer(now + 3 * Self.day))),
            "older encryption": scene.signed(endpoint, [("encoding", "aesgcm")]),
            "nobody": scene.signed(String(endpoint.dropLast(8))),
            "urgency": scene.signed(endpoint, [("headers", .map(["Urgency": "now"]))]),
            "topic": scene.signed(endpoint, [("headers", .map(["Topic": "a b"]))]),
        ])
        #expect(Self.outcome(answers["hello"]) == Outcome(201))
        #expect(Self.outcome(answers["largest"]) == Outcome(201))
        #expect(Self.outcome(answers["oversized"]) == Outcome(413, "PayloadTooLarge"))
        #expect(Self.outcome(answers["unsigned"]) == Outcome(401, "MissingVapid"))
        #expect(Self.outcome(answers["other sender"]) == Outcome(403, "OtherSender"))
        #expect(Self.outcome(answers["other audience"]) == Outcome(403, "BadVapid"))
        #expect(Self.outcome(answers["for too long"]) == Outcome(403, "BadVapid"))
        #expect(Self.outcome(answers["older encryption"]) == Outcome(415, "UnsupportedEncoding"))
        #expect(Self.outcome(answers["nobody"]) == Outcome(404, "NoSubscription"))
        #expect(Self.outcome(answers["urgency"]) == Outcome(400, "BadUrgency"))
        #expect(Self.outcome(answers["topic"]) == Outcome(400, "BadTopic"))
        #expect(answers["hello"]?["ttl"] == "60")
        // What the device got is what was sent, byte for byte: the app can decrypt it.
        let lines = try device.pushes(2)
        let start = "push \(ScratchGateway.topic) webpush aes128gcm "
        #expect(lines.allSatisfy { $0.hasPrefix(start) })
        let bodies = lines.map(Self.body)
        let plain = try scene.run([:], bodies: bodies)
        #expect(Set(plain.values.map { $0["text"]?.stringValue }) == ["Hello", text])
        try device.end()
        try expectLogged(scene, answers["hello"])
    }

    /// The location names the push in the log, and the log the sender.
    private func expectLogged(_ scene: Scene, _ answer: Value?) throws {
        let location = try #require(answer?["location"]?.stringValue)
        let id = try #require(location.split(separator: "/").last.map(String.init))
        try Wait.until(file: scene.gateway.paths.store + "-wal", "the push in the log") { _ in
            (try? scene.gateway.run("log", id).succeeded) == true
        }
        let report = try ValueJSON.parse(try scene.gateway.run("log", id, "--json").output)
        #expect(report["pushType"] == "webpush")
        let point = try scene.key.publicKey().point()
        let sender = "vapid " + Base64.urlText(WebPushAddress.compressed(point))
        #expect(report["provider"] == .string(sender))
    }

    @Test(.enabled(if: haveClient, "no pywebpush; scripts/setup test fetches it"))
    func `for a device that is away the newest is kept, until its time is over or never`() throws {
        let scene = try Scene()
        let first = try scene.device()
        let chat = try first.endpoint()
        let mail = try first.endpoint("org.example.Mail")
        try first.end()
        func topic(_ text: String) -> Case {
            [
                ("data", .string(text)), ("ttl", 600),
                ("headers", .map(["Topic": "score", "Urgency": "high"])),
            ]
        }
        let answers = try scene.run([
            "1 one to nil": scene.signed(chat, topic("1:0")),
            "2 two to nil": scene.signed(chat, topic("2:0")),
            "3 once": scene.signed(chat, [("data", "once"), ("ttl", 0)]),
            "4 short": scene.signed(mail, [("data", "short"), ("ttl", 1)]),
        ])
        for answer in answers.values { #expect(Self.outcome(answer) == Outcome(201)) }
        #expect(answers["3 once"]?["ttl"] == "0")
        try Self.pass(.milliseconds(1100))
        let second = try scene.device()
        #expect(try second.endpoint() == chat)
        #expect(try second.pushes(1).count == 1)
        // Whatever else was kept would have come in front of this.
        _ = try scene.run(["last": scene.signed(mail, [("data", "last")])])
        let lines = try second.pushes(2)
        #expect(lines.count == 2)
        let plain = try scene.run([:], bodies: lines.map(Self.body))
        #expect(Set(plain.values.map { $0["text"]?.stringValue }) == ["2:0", "last"])
        try second.end()
        #expect(try scene.gateway.run("devices", "remove", "1").succeeded)
        let gone = try scene.run(["gone": scene.signed(chat)])
        #expect(Self.outcome(gone["gone"]) == Outcome(410, "Gone"))
    }

    @Test(.enabled(if: haveClient, "no pywebpush; scripts/setup test fetches it"))
    func `for a device that is away many are kept, over a restart, and of too many the newest`()
        throws
    {
        let scene = try Scene()
        let first = try scene.device()
        let chat = try first.endpoint()
        try first.end()
        let sent = (10..<28).map { "message \($0)" }
        let answers = try scene.run(
            Dictionary(
                uniqueKeysWithValues: sent.map {
                    (
                        $0,
                        scene.signed(
                            chat,
                            [
                                ("data", .string($0)), ("ttl", 600),
                            ]
                        )
                    )
                }
            )
        )
        for answer in answers.values { #expect(Self.outcome(answer) == Outcome(201)) }
        scene.gateway.kill()
        try scene.gateway.start()
        let second = try scene.device()
        let lines = try second.pushes(16)
        let plain = try scene.run([:], bodies: lines.map(Self.body))
        #expect(Set(plain.values.map { $0["text"]?.stringValue }) == Set(sent.suffix(16)))
        try second.end()
        let log = try scene.gateway.run("log", "--state=dropped", "--json").output
        #expect(try ValueJSON.parse(log).listValue?.count == 2, "\(log)")
    }

    /// Until the clock says that a time to live is over.
    private static func pass(_ span: Interval) throws {
        let loop = try EventLoop()
        let timer = try TimerSource(loop) { [unowned loop] in loop.exit() }
        try timer.arm(at: Clocks.boot() + span)
        while try loop.runTurn() {}
    }

    @Test func `curl sends over both versions of HTTP, to an address for anyone`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway, options: ["--web-push"])
        let endpoint = try device.endpoint()
        func curl(_ more: String...) throws -> String {
            try Command(
                ["curl", "-sS", "--cacert", gateway.paths.authority, "-w", "%{http_code}"]
                    + more + [endpoint]
            ).run().output
        }
        #expect(try curl("--http2", "-H", "TTL: 60", "-d", "two") == "201")
        #expect(try curl("--http1.1", "--no-alpn", "-H", "TTL: 60", "-d", "one") == "201")
        #expect(
            try curl("--http1.1", "-H", "TTL: 60", "-H", "Expect: 100-continue", "-d", "wait")
                == "201"
        )
        #expect(try curl("--http2", "-X", "POST") == #"{"reason":"MissingTTL"}400"#)
        #expect(try curl("--http1.1") == #"{"reason":"MethodNotAllowed"}405"#)
        #expect(
            try curl("--http1.1", "-H", "TTL: 1", "-H", "Transfer-Encoding: chunked", "-d", "x")
                == #"{"reason":"LengthRequired"}411"#
        )
        // None of them names an encoding.
        let start = "push \(ScratchGateway.topic) webpush "
        for line in try device.pushes(3) {
            #expect(line.hasPrefix(start) && !line.dropFirst(start.count).contains(" "), "\(line)")
        }
        let bodies = try device.pushes(3).map { $0.split(separator: " ").last ?? "" }
        let sent = ["two", "one", "wait"].map { Array($0.utf8) }
        #expect(bodies.map { Base64.decode($0.utf8) } == sent)
        let stats = try ValueJSON.parse(try gateway.run("stats", "--json").output)
        for reason in ["MissingTTL", "MethodNotAllowed", "LengthRequired"] {
            #expect(stats["web_pushes_refused_total"]?[reason] == 1, "\(reason)")
        }
        #expect(stats["pushes_accepted_total"] == 3)
        try device.end()
    }

    @Test func `a token counts that the key beside it has signed, and no other`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway, options: ["--web-push"])
        let endpoint = try device.endpoint()
        let (own, other) = (try P256PrivateKey(), try P256PrivateKey())
        func push(signedBy key: P256PrivateKey) throws -> String {
            let exp = Clocks.now().wall.nanoseconds / 1_000_000_000 + 3600
            let parts = [
                #"{"typ":"JWT","alg":"ES256"}"#,
                #"{"aud":"https://localhost:\#(gateway.port)","exp":\#(exp)}"#,
            ]
            let signed = parts.map { Base64.urlText(Array($0.utf8)) }.joined(separator: ".")
            let signature = Base64.urlText(try key.sign(Array(signed.utf8)))
            let point = Base64.urlText(try own.publicKey().point())
            return try Command(
                [
                    "curl", "-sS", "--cacert", gateway.paths.authority, "-w", "%{http_code}",
                    "-H", "authorization: vapid t=\(signed).\(signature), k=\(point)",
                    "-H", "ttl: 60", "-d", "hello", endpoint,
                ]
            ).run().output
        }
        #expect(try push(signedBy: own) == "201")
        #expect(try push(signedBy: other) == #"{"reason":"BadVapid"}403"#)
        try device.end()
    }

    @Test func `what comes over HTTP 1 slowly, or says nothing, is ended, and others are served`()
        throws
    {
        let gateway = try ScratchGateway(settings: "request-time = 1s\n")
        try gateway.start()
        let device = try ScratchDevice(gateway, options: ["--web-push"])
        let endpoint = try device.endpoint()
        let slow = try RawConnection(gateway, protocols: ["http/1.1"])
        slow.send(Array("POST /push/x HTTP/1.1\r\nHost: localhost\r\n".utf8))
        // Only its end ends this.
        #expect(slow.text().isEmpty)
        #expect(slow.isClosed)
        let wild = try RawConnection(gateway, protocols: ["http/1.1"])
        wild.send(Array("\u{16}\u{3}\u{1}hello\r\n\r\n".utf8))
        #expect(wild.text().hasPrefix("HTTP/1.1 400 "))
        for (path, status) in [
            ("/3/device/00", "505"), ("/3/log/0", "505"), ("/1/apps/a.b/channels", "505"),
            ("/other", "404"),
        ] {
            let raw = try RawConnection(gateway, protocols: ["http/1.1"])
            let head = "POST \(path) HTTP/1.1\r\nHost: l\r\nContent-Length: 0\r\n"
            raw.send(Array((head + "Connection: close\r\n\r\n").utf8))
            let text = raw.text()
            #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(path): \(text)")
            #expect(text.contains("VersionNotSupported") == (status == "505"), "\(text)")
        }
        let outcome = try Command(
            "curl",
            "-sS",
            "--cacert",
            gateway.paths.authority,
            "-w",
            "%{http_code}",
            "-H",
            "TTL: 60",
            "-d",
            "hello",
            endpoint
        ).run()
        #expect(outcome.output == "201")
        try device.end()
    }
}
