import GatewayCore
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Every status and reason that a provider can see, over TLS from the program itself.
struct ProviderRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var fields: [String: String?] = [:]
        var path = "/3/device/TOKEN"
        var method = "POST"
        var body = #"{"aps":{"alert":"Hello"}}"#
        var outcome: Outcome

        var testDescription: String { name }
    }

    private static let cases = payloads + fields + addresses

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

    /// One field that is wrong, or (nil) not there.
    private static let fields = [
        ("apns-id", "x", "BadMessageId"), ("apns-topic", nil, "MissingTopic"),
        ("apns-topic", "a b", "BadTopic"),
        ("apns-topic", "org.example.Other", "DeviceTokenNotForTopic"),
        ("apns-push-type", "voip", "InvalidPushType"),
        ("apns-push-type", "loud", "InvalidPushType"),
        ("apns-push-type", "webpush", "InvalidPushType"), ("apns-priority", "7", "BadPriority"),
        ("apns-expiration", "soon", "BadExpirationDate"),
        ("apns-collapse-id", String(repeating: "c", count: 65), "BadCollapseId"),
    ].map { name, value, reason in
        Case(
            name: "\(name): \(value ?? "none")",
            fields: [name: value],
            outcome: Outcome(400, reason)
        )
    }

    /// TOKEN is that of an app, GONE of one that was unregistered.
    private static let addresses =
        [
            ("/3/device/", Outcome(400, "MissingDeviceToken")),
            ("/3/device/" + String(repeating: "ab", count: 32), Outcome(400, "BadDeviceToken")),
            ("/3/device/abcd", Outcome(400, "BadDeviceToken")),
            ("/3/device/GONE", Outcome(410, "Unregistered")),
            ("/2/device/TOKEN", Outcome(404, "BadPath")),
        ].map { Case(name: $0, path: $0, outcome: $1) } + [
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

    @Test(arguments: cases)
    func `each mistake has its status and its reason`(_ test: Case) throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        let gone = test.path.hasSuffix("GONE") ? try gateway.registerAndLeave() : ""
        try gateway.start()
        let id = "7B9C2F30-aaaa-4bbb-8ccc-000000000001"
        var fields: [String: String?] = [
            "apns-topic": ScratchGateway.topic, "authorization": try gateway.bearer(),
            "apns-id": id,
        ]
        fields.merge(test.fields) { $1 }
        let given = fields.keys.sorted().compactMap { name in
            (fields[name] ?? nil).map { (name: name, value: $0) }
        }
        let response = try gateway.client.send(
            test.method,
            test.path.replacing("TOKEN", with: token).replacing("GONE", with: gone),
            given,
            body: Array(test.body.utf8)
        )
        #expect(Outcome(response) == test.outcome)
        #expect(response.header("apns-id") == (test.fields["apns-id"] ?? id))
        #expect((response.header("apns-unique-id") != nil) == (response.status == 200))
    }

    @Test func `the answer to HEAD has no body`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let response = try gateway.client.send("HEAD", "/2/x", [], body: [])
        #expect(response.status == 404 && response.body.isEmpty)
        #expect(response.header("content-type") == "application/json")
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
        let foreign = try gateway.log(of: unique, for: "OTHER00001")
        #expect(foreign == Outcome(400, "BadMessageId"))
        // Who may not ask does not learn what there is.
        for push in [unique, "11111111-2222-4333-8444-555555555555", "x"] {
            let stranger = try gateway.client.send(
                "GET",
                "/3/log/" + push,
                [("authorization", "bearer x.y.z")],
                body: []
            )
            #expect(Outcome(stranger) == Outcome(403, "InvalidProviderToken"), "\(push)")
        }
    }

    @Test func `a silent payload that says no more is a background push, and the log says so`()
        throws
    {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        for (fields, isAssumed) in [([], true), ([("apns-push-type", "background")], false)] {
            let sender = [
                (name: "apns-topic", value: ScratchGateway.topic),
                (name: "authorization", value: try gateway.bearer()),
            ]
            let response = try gateway.client.send(
                "POST",
                "/3/device/" + token,
                sender + fields.map { (name: $0.0, value: $0.1) },
                body: Array(#"{"aps":{"content-available":1}}"#.utf8)
            )
            #expect(Outcome(response) == Outcome(200))
            let unique = try #require(response.header("apns-unique-id"))
            let report = try ValueJSON.parse(try gateway.run("log", unique, "--json").output)
            #expect(report["pushType"] == "background")
            #expect(report["priority"] == 5)
            #expect(report["assumedBackground"] == .bool(isAssumed))
        }
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
