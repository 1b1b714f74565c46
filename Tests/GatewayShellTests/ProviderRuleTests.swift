import GatewayCore
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Every status and reason that a provider can see, over TLS from the program itself.
struct ProviderRuleTests {
    private struct Case {
        var name: String
        var fields: [String: String?] = [:]
        var path: String?
        var method = "POST"
        var body = #"{"aps":{"alert":"Hello"}}"#
        var outcome: Outcome
    }

    private static func cases(token: String, gone: String) -> [Case] {
        payloads + fields + addresses(token: token, gone: gone)
    }

    private static let payloads: [Case] = {
        let long = String(repeating: "x", count: 4097 - 11)
        func bytes(_ count: Int) -> String {
            #"{"a":"\#(String(repeating: "x", count: count - 8))"}"#
        }
        return [
            Case(name: "alert", outcome: Outcome(200)),
            Case(name: "largest", body: bytes(4096), outcome: Outcome(200)),
            Case(name: "too large", body: bytes(4097), outcome: Outcome(413, "PayloadTooLarge")),
            Case(
                name: "far too large",
                body: long + long,
                outcome: Outcome(413, "PayloadTooLarge")
            ),
            Case(
                name: "largest of a call",
                fields: ["apns-topic": "org.example.Chat.voip", "apns-push-type": "voip"],
                body: bytes(5120),
                outcome: Outcome(200)
            ),
            Case(
                name: "silent",
                fields: ["apns-push-type": "background", "apns-priority": "5"],
                body: #"{"aps":{"content-available":1}}"#,
                outcome: Outcome(200)
            ),
            Case(
                name: "silent at once",
                fields: ["apns-push-type": "background", "apns-priority": "10"],
                body: #"{"aps":{"content-available":1}}"#,
                outcome: Outcome(400, "BadPriority")
            ),
            Case(name: "empty", body: "", outcome: Outcome(400, "PayloadEmpty")),
            Case(name: "no JSON", body: "hello", outcome: Outcome(400, "PayloadEmpty")),
            Case(
                name: "deep",
                body: String(repeating: #"{"a":"#, count: 800),
                outcome: Outcome(400, "PayloadEmpty")
            ),
        ]
    }()

    private static let fields = [
        Case(name: "id", fields: ["apns-id": "x"], outcome: Outcome(400, "BadMessageId")),
        Case(name: "topic", fields: ["apns-topic": nil], outcome: Outcome(400, "MissingTopic")),
        Case(name: "bad topic", fields: ["apns-topic": "a b"], outcome: Outcome(400, "BadTopic")),
        Case(
            name: "other topic",
            fields: ["apns-topic": "org.example.Other"],
            outcome: Outcome(400, "DeviceTokenNotForTopic")
        ),
        Case(
            name: "type and topic",
            fields: ["apns-push-type": "voip"],
            outcome: Outcome(400, "InvalidPushType")
        ),
        Case(
            name: "type",
            fields: ["apns-push-type": "loud"],
            outcome: Outcome(400, "InvalidPushType")
        ),
        Case(
            name: "priority",
            fields: ["apns-priority": "7"],
            outcome: Outcome(400, "BadPriority")
        ),
        Case(
            name: "expiration",
            fields: ["apns-expiration": "soon"],
            outcome: Outcome(400, "BadExpirationDate")
        ),
        Case(
            name: "collapse id",
            fields: ["apns-collapse-id": String(repeating: "c", count: 65)],
            outcome: Outcome(400, "BadCollapseId")
        ),
    ]

    private static func addresses(token: String, gone: String) -> [Case] {
        [
            Case(
                name: "no token",
                path: "/3/device/",
                outcome: Outcome(400, "MissingDeviceToken")
            ),
            Case(
                name: "made-up token",
                path: "/3/device/" + String(repeating: "ab", count: 32),
                outcome: Outcome(400, "BadDeviceToken")
            ),
            Case(
                name: "short token",
                path: "/3/device/abcd",
                outcome: Outcome(400, "BadDeviceToken")
            ),
            Case(
                name: "token of the past",
                path: "/3/device/" + gone,
                outcome: Outcome(410, "Unregistered")
            ),
            Case(name: "path", path: "/2/device/" + token, outcome: Outcome(404, "BadPath")),
            Case(name: "method", method: "PUT", outcome: Outcome(405, "MethodNotAllowed")),
            Case(
                name: "nobody",
                fields: ["authorization": nil],
                outcome: Outcome(403, "MissingProviderToken")
            ),
            Case(
                name: "nonsense",
                fields: ["authorization": "bearer x.y.z"],
                outcome: Outcome(403, "InvalidProviderToken")
            ),
        ]
    }

    @Test func `each mistake has its status and its reason`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        let gone = try gateway.registerAndLeave()
        try gateway.start()
        let bearer = try gateway.bearer()
        for test in Self.cases(token: token, gone: gone) {
            var fields: [String: String?] = [
                "apns-topic": ScratchGateway.topic, "authorization": bearer,
            ]
            fields.merge(test.fields) { $1 }
            let id = "7B9C2F30-aaaa-4bbb-8ccc-000000000001"
            if fields["apns-id"] == nil { fields["apns-id"] = id }
            let given = fields.keys.sorted().compactMap { name in
                (fields[name] ?? nil).map { (name: name, value: $0) }
            }
            let response = try gateway.client.send(
                test.method,
                test.path ?? "/3/device/" + token,
                given,
                body: Array(test.body.utf8)
            )
            #expect(Outcome(response) == test.outcome, "\(test.name)")
            let echo = (test.fields["apns-id"] ?? nil) ?? id
            #expect(response.header("apns-id") == echo, "\(test.name)")
            let isUnique = response.header("apns-unique-id") != nil
            #expect(isUnique == (response.status == 200), "\(test.name)")
        }
    }

    @Test func `a token of the past comes with the time at which it went`() throws {
        let gateway = try ScratchGateway()
        let before = Clocks.now().wall.nanoseconds / 1_000_000
        let gone = try gateway.registerAndLeave()
        try gateway.start()
        let response = try gateway.client.send(
            "POST",
            "/3/device/" + gone,
            [("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer())],
            body: Array("{}".utf8)
        )
        let stamp = try #require(try ValueJSON.parse(response.body)["timestamp"]?.integerValue)
        #expect(stamp >= before && stamp <= Clocks.now().wall.nanoseconds / 1_000_000)
    }

    @Test func `what became of a push is told to its provider and to nobody else`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        #expect(try gateway.run("keys", "add", "OTHER00001", "--team=TEAM000001").succeeded)
        try gateway.start()
        let sent = try gateway.run(
            "send",
            "--topic=org.example.Chat",
            "--alert=Hello",
            "--data=room=7",
            "--json",
            "--host=localhost:\(gateway.port)",
            token
        )
        #expect(sent.succeeded, "\(sent.errors)")
        let unique = try #require(
            try ValueJSON.parse(sent.output)["uniqueId"]?.stringValue
        )
        let log = try gateway.run("log", unique, "--json")
        let report = try ValueJSON.parse(log.output)
        let events = report["events"]?.listValue?.compactMap { $0["event"]?.stringValue }
        #expect(events == ["accepted", "stored"])
        let silent = try gateway.run(
            "send",
            "--topic=org.example.Chat",
            "--silent",
            "--json",
            "--host=localhost:\(gateway.port)",
            token
        )
        let second = try #require(try ValueJSON.parse(silent.output)["uniqueId"]?.stringValue)
        let woken = try ValueJSON.parse(try gateway.run("log", second, "--json").output)
        #expect(woken["pushType"] == "background")
        #expect(woken["priority"] == 5)
        let now = try ValueJSON.parse(try gateway.run("log", unique, "--json").output)
        #expect(now["state"] == "replaced")
        let own = try gateway.client.send(
            "GET",
            "/3/log/" + unique,
            [("authorization", try gateway.bearer())],
            body: []
        )
        #expect(own.status == 200)
        #expect(try ValueJSON.parse(own.body) == now)
        let key = try Files.text(gateway.places.providerKey("OTHER00001"))
        let other = try ProviderClient.token(key: key, id: "OTHER00001", team: "TEAM000001")
        let foreign = try gateway.client.send(
            "GET",
            "/3/log/" + unique,
            [("authorization", "bearer " + other)],
            body: []
        )
        #expect(Outcome(foreign) == Outcome(400, "BadMessageId"))
    }

    @Test func `a key that is added, kept to a topic or removed counts at once`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        func push() throws -> Outcome {
            let key = try Files.text(gateway.places.providerKey("LATE000001"))
            let text = try ProviderClient.token(key: key, id: "LATE000001", team: "TEAM000002")
            return Outcome(
                try gateway.client.send(
                    "POST",
                    "/3/device/" + token,
                    [("apns-topic", ScratchGateway.topic), ("authorization", "bearer " + text)],
                    body: Array("{}".utf8)
                )
            )
        }
        func change(_ arguments: String...) throws {
            let log = gateway.directory("log1")
            let before = try Files.text(log).split(separator: "\n").count
            let command = [ScratchGateway.program] + arguments
            let place = "--directory=\(gateway.directory.path)"
            #expect(try Command(command + [place]).run().succeeded)
            try Wait.until(file: log, "read again") {
                $0.split(separator: "\n").count > before
            }
        }
        try change("keys", "add", "LATE000001", "--team=TEAM000002")
        #expect(try push() == Outcome(200))
        try change("topics", "set", "LATE000001", "org.example.Other")
        #expect(try push() == Outcome(403, "InvalidProviderToken"))
        try change("topics", "any", "LATE000001")
        #expect(try push() == Outcome(200))
        try change("keys", "remove", "LATE000001")
        #expect(try push() == Outcome(403, "InvalidProviderToken"))
    }

    @Test func `SIGTERM ends it, and what was stored is there after a start`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        let response = try gateway.client.send(
            "POST",
            "/3/device/" + token,
            [("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer())],
            body: Array("{}".utf8)
        )
        #expect(response.status == 200)
        #expect(try gateway.terminate() == .exited(0))
        try gateway.start()
        let devices = try ValueJSON.parse(try gateway.run("devices", "--json").output)
        #expect(devices.listValue?.first?["stored"]?.integerValue == 1)
        let stats = try ValueJSON.parse(try gateway.run("stats", "--json").output)
        #expect(stats["pushes_accepted_total"]?.integerValue == 0)
    }
}
