import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Programs that send to APNs, pointed at this gateway by name and port and nothing else.
struct RealClientTests {
    /// Where `scripts/setup` puts the libraries of providers.
    static let environments = Files.directory(of: Products.directory) + "/../provider-clients"

    static func python(_ environment: String) -> String {
        environments + "/" + environment + "/bin/python"
    }

    static let haveClients = Files.isExecutable(python("current"))
    static let haveOld = Files.isExecutable(python("apns2"))
    static let scripts =
        String(#filePath.dropLast("GatewayShellTests/RealClientTests.swift".count))
        + "ProviderClients/"

    private static let alert = Value.map(["aps": .map(["alert": "Hello"])])
    private static let silent = Value.map(["aps": .map(["content-available": 1])])
    private static let large = Value.map([
        "aps": .map(["alert": .string(String(repeating: "x", count: 5000))])
    ])

    private static func value(_ name: String, _ token: String, _ more: [(String, Value)]) -> Value {
        .map(
            ValueMap(
                [("name", .string(name)), ("token", .string(token)), ("payload", alert)] + more
            )
        )
    }

    /// What each library is asked to send.
    private func cases(
        _ gateway: ScratchGateway,
        _ token: String,
        _ gone: String
    ) throws -> [Value] {
        let wrong = gateway.directory("wrong.p8")
        let made = try gateway.run("keys", "add", "WRONG00001", "--team=TEAM000001")
        #expect(made.succeeded)
        try Files.rename(gateway.paths.providerKey("WRONG00001"), to: wrong)
        let voip = ScratchGateway.topic + ".voip"
        return [
            Self.value("alert", token, []),
            Self.value(
                "silent",
                token,
                [("payload", Self.silent), ("type", "background"), ("priority", 5)]
            ),
            Self.value("voip", token, [("topic", .string(voip)), ("type", "voip")]),
            Self.value("expired", token, [("expiration", 1)]),
            Self.value("once", token, [("expiration", 0), ("ttl", 0)]),
            Self.value("oversized", token, [("payload", Self.large)]),
            Self.value("badly signed", token, [("key", .string(wrong))]),
            Self.value("wrong topic", token, [("topic", "org.example.Other")]),
            Self.value("gone", gone, []),
        ]
    }

    private func run(
        _ script: String,
        _ environment: String,
        more: (_ token: String) -> [Value] = { _ in [] }
    ) throws -> [String: Value] {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        let gone = try gateway.registerAndLeave()
        let cases = try cases(gateway, token, gone) + more(token)
        try gateway.start()
        let setup = Value.map([
            "port": .integer(Int64(gateway.port)), "ca": .string(gateway.paths.authority),
            "key": .string(gateway.paths.providerKey("OFFSTAGE01")), "keyId": "OFFSTAGE01",
            "team": "TEAM000001", "topic": .string(ScratchGateway.topic), "cases": .list(cases),
        ])
        let answers = try Self.answers(of: script, environment, setup, gateway)
        #expect(answers.count == cases.count, "\(answers)")
        return answers
    }

    /// Runs a program of `ProviderClients`; what it says of each case, by the case's name.
    static func answers(
        of script: String,
        _ environment: String,
        _ setup: Value,
        _ gateway: ScratchGateway
    ) throws -> [String: Value] {
        gateway.directory.write(Array(setup.json().utf8), to: "cases.json")
        let outcome = try Command(
            python(environment),
            scripts + script,
            gateway.directory("cases.json")
        ).run()
        #expect(outcome.succeeded, "\(outcome.errors)")
        var answers: [String: Value] = [:]
        for line in outcome.output.split(separator: "\n") {
            let answer = try ValueJSON.parse(String(line))
            answers[answer["case"]?.stringValue ?? ""] = answer
        }
        return answers
    }

    @Test(.enabled(if: haveClients, "no aioapns; scripts/setup test fetches it"))
    func `aioapns sends, and reads every answer`() throws {
        let answers = try run(
            "with_aioapns.py",
            "current",
            more: { [Self.value("many", $0, [("burst", 50)])] }
        )
        func outcome(_ name: String) -> Outcome {
            Outcome(
                Int(answers[name]?["status"]?.integerValue ?? 0),
                answers[name]?["reason"]?.stringValue ?? ""
            )
        }
        for name in ["alert", "silent", "voip", "expired", "once"] {
            #expect(outcome(name) == Outcome(200), "\(name): \(String(describing: answers[name]))")
        }
        #expect(outcome("oversized") == Outcome(413, "PayloadTooLarge"))
        #expect(outcome("badly signed") == Outcome(403, "InvalidProviderToken"))
        #expect(outcome("wrong topic") == Outcome(400, "DeviceTokenNotForTopic"))
        #expect(outcome("gone") == Outcome(410, "Unregistered"))
        // It begins before it knows how many streams it has, and waits for each.
        #expect(answers["many"]?["statuses"] == .list([200]))
    }

    @Test(.enabled(if: haveClients, "no kalyke; scripts/setup test fetches it"))
    func `kalyke sends, and raises what each answer is called`() throws {
        try expectRaised(run("with_kalyke.py", "current"))
    }

    @Test(.enabled(if: haveOld, "no apns2; scripts/setup test fetches it"))
    func `apns2 sends, and raises what each answer is called`() throws {
        try expectRaised(run("with_apns2.py", "apns2"))
    }

    /// Libraries that have a class for each reason.
    private func expectRaised(_ answers: [String: Value]) {
        for name in ["alert", "silent", "voip", "expired", "once"] {
            #expect(
                answers[name]?["status"]?.integerValue == 200,
                "\(name): \(String(describing: answers[name]))"
            )
        }
        for (name, reason) in [
            ("oversized", "PayloadTooLarge"), ("badly signed", "InvalidProviderToken"),
            ("wrong topic", "DeviceTokenNotForTopic"), ("gone", "Unregistered"),
        ] {
            #expect(answers[name]?["raised"]?.stringValue == reason)
        }
    }

    @Test func `the line of curl that init prints sends a push`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1, topic: "org.example.App")[0]
        try gateway.start()
        let line = try gateway.run("init", "--json")
        let printed = try #require(try ValueJSON.parse(line.output)["curl"]?.stringValue)
        let curl = printed.replacing(":8443/", with: ":\(gateway.port)/")
            .replacing("TOKEN", with: token)
        let outcome = try Command("/bin/sh", "-c", curl + " -sS -w '%{http_code}'").run()
        #expect(outcome.output == "200", "\(outcome.errors)")
    }

    @Test func `a client certificate sends without a token, to its topic only`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        let made = try gateway.run("keys", "certificate", ScratchGateway.topic)
        let pem = gateway.directory("client.pem")
        gateway.directory.write(Array(made.output.utf8), to: "client.pem")
        try gateway.start()
        func push(_ more: String...) throws -> String {
            try Command(
                [
                    "curl", "--http2", "-sS", "--cacert", gateway.paths.authority, "--cert", pem,
                    "-d", "{}", "-w", "%{http_code}",
                ] + more + ["https://localhost:\(gateway.port)/3/device/\(token)"]
            ).run().output
        }
        #expect(try push() == "200")
        #expect(try push("-H", "apns-topic: \(ScratchGateway.topic)") == "200")
        #expect(
            try push("-H", "apns-topic: org.example.Other") == #"{"reason":"TopicDisallowed"}400"#
        )
    }

    @Test func `h2load is answered each of its requests, over many streams`() throws {
        let gateway = try ScratchGateway(settings: "token-burst = 100000\n")
        let token = try gateway.register(1)[0]
        try gateway.start()
        gateway.directory.write(Array(#"{"aps":{"alert":"Hello"}}"#.utf8), to: "body")
        let outcome = try Command(
            "h2load",
            "-n",
            "2000",
            "-c",
            "4",
            "-m",
            "100",
            "-d",
            gateway.directory("body"),
            "-H",
            "apns-topic: \(ScratchGateway.topic)",
            "-H",
            "authorization: \(try gateway.bearer())",
            "https://localhost:\(gateway.port)/3/device/\(token)"
        ).run()
        #expect(outcome.output.contains("2000 2xx, 0 3xx, 0 4xx, 0 5xx"), "\(outcome.output)")
    }
}
