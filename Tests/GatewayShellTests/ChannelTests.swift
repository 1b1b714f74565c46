import GatewayCore
import GatewayShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// Broadcast channels from a provider's request to a device's line, through the programs.
struct ChannelTests {
    private static let management = "/1/apps/\(ScratchGateway.topic)/channels"
    private static let sending = "/4/broadcasts/apps/\(ScratchGateway.topic)"

    private func ask(
        _ gateway: ScratchGateway,
        _ method: String,
        _ path: String,
        _ fields: [(name: String, value: String)] = [],
        body: String = ""
    ) throws -> ProviderClient.Response {
        try gateway.client.send(
            method,
            path,
            [("authorization", try gateway.bearer()), ("apns-request-id", "Request 7")] + fields,
            body: Array(body.utf8)
        )
    }

    private func create(_ gateway: ScratchGateway, policy: Int) throws -> String {
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        let made = try ask(gateway, "POST", Self.management, body: body)
        #expect(made.status == 201, "\(Outcome(made))")
        #expect(made.header("apns-request-id") == "Request 7")
        return try #require(made.header("apns-channel-id"))
    }

    private func send(
        _ gateway: ScratchGateway,
        _ channel: String,
        _ text: String,
        _ more: [(name: String, value: String)] = []
    ) throws -> Outcome {
        let fields = [("apns-channel-id", channel), ("apns-push-type", "liveactivity")] + more
        return Outcome(try ask(gateway, "POST", Self.sending, fields, body: "{\"t\":\"\(text)\"}"))
    }

    @Test func `a gateway without channels says so`() throws {
        let gateway = try ScratchGateway(settings: "channels = 0\n")
        try gateway.start()
        let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        let made = try ask(gateway, "POST", Self.management, body: body)
        #expect(Outcome(made) == Outcome(400, "FeatureNotEnabled"))
    }

    @Test func `a message reaches who follows, and the newest who comes after a restart`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let keeping = try create(gateway, policy: 1)
        let passing = try create(gateway, policy: 0)
        let device = try ScratchDevice(
            gateway,
            options: ["--channel=\(keeping)", "--channel=\(passing)"]
        )
        _ = try device.token()
        try device.wait(for: "following \(keeping)")
        try device.wait(for: "following \(passing)")
        #expect(try send(gateway, keeping, "one") == Outcome(200))
        #expect(try send(gateway, passing, "two") == Outcome(200))
        try device.wait(for: #"broadcast org.example.Chat {"t":"one"}"#)
        try device.wait(for: #"broadcast org.example.Chat {"t":"two"}"#)
        try device.end()
        #expect(try send(gateway, keeping, "three") == Outcome(200))
        #expect(try send(gateway, passing, "four", [("apns-expiration", "0")]) == Outcome(200))
        gateway.kill()
        try gateway.start()
        let later = try ScratchDevice(
            gateway,
            options: ["--channel=\(keeping)", "--channel=\(passing)"]
        )
        try later.wait(for: #"{"t":"three"}"#)
        #expect(try send(gateway, passing, "five") == Outcome(200))
        try later.wait(for: #"{"t":"five"}"#)
        #expect(try !later.text.contains("one") && !later.text.contains("four"))
        let gone = try ask(gateway, "DELETE", Self.management, [("apns-channel-id", keeping)])
        #expect(gone.status == 204)
        try later.wait(for: "channel \(keeping): there is no such channel")
        try later.end()
        let stats = try ValueJSON.parse(try gateway.run("stats", "--json").output)
        #expect(stats["broadcasts_accepted_total"] == 1)
    }

    @Test func `the log says what became of a message, to its provider and to nobody else`() throws
    {
        let gateway = try ScratchGateway()
        #expect(try gateway.run("keys", "add", "OTHER00001", "--team=TEAM000001").succeeded)
        try gateway.start()
        let channel = try create(gateway, policy: 1)
        let devices = try (0..<2).map { number in
            let identity = "--identity=" + gateway.directory("device\(number).key")
            return try ScratchDevice(gateway, options: ["--channel=\(channel)", identity])
        }
        for device in devices { try device.wait(for: "following \(channel)") }
        let fields = [("apns-channel-id", channel), ("apns-push-type", "liveactivity")]
        let sent = try ask(gateway, "POST", Self.sending, fields, body: "{\"t\":1}")
        let unique = try #require(sent.header("apns-unique-id"))
        #expect(sent.status == 200)
        // It is on the disk with what is kept, and so with the answer.
        let report = try ValueJSON.parse(try gateway.run("log", unique, "--json").output)
        #expect(report["channel"]?.stringValue == channel)
        #expect(report["pushType"] == "liveactivity")
        #expect(report["provider"] == "OFFSTAGE01")
        let events = report["events"]?.listValue ?? []
        #expect(events.map { $0["event"]?.stringValue } == ["accepted", "sent"])
        #expect(events.last?["devices"] == 2)
        #expect(events.last?["reason"] == "and stored for devices that connect later")
        let text = try gateway.run("log").output
        #expect(text.contains("\(unique)  \(ScratchGateway.topic)  channel \(channel)  sent\n"))
        #expect(text.contains("sent to 2 devices (and stored"))
        let own = try ask(gateway, "GET", "/3/log/" + unique)
        #expect(try ValueJSON.parse(own.body) == report)
        let foreign = try gateway.log(of: unique, for: "OTHER00001")
        #expect(foreign == Outcome(400, "BadMessageId"))
        for device in devices { try device.end() }
    }

    @Test func `channels are read, listed and removed, wherever a client puts their id`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let channel = try create(gateway, policy: 1)
        let url = channel.replacing("+", with: "-").replacing("/", with: "_")
        for (path, fields) in [
            (Self.management, [(name: "apns-channel-id", value: channel)]),
            (Self.management + "/" + url, []), (Self.management + "/" + channel, []),
        ] {
            let found = try ask(gateway, "GET", path, fields)
            #expect(found.status == 200, "\(path)")
            let report = try ValueJSON.parse(found.body)
            #expect(report["message-storage-policy"] == 1)
            #expect(report["push-type"] == "LiveActivity")
        }
        for path in [Self.management, "/1/apps/\(ScratchGateway.topic)/all-channels"] {
            let all = try ValueJSON.parse(try ask(gateway, "GET", path).body)
            #expect(all == .map(["channels": .list([.string(channel)])]))
        }
        #expect(try ask(gateway, "DELETE", Self.management + "/" + channel).status == 204)
        let none = try ask(gateway, "GET", Self.management)
        #expect(try ValueJSON.parse(none.body) == .map(["channels": .list([])]))
    }

    @Test func `each mistake has its reason`() throws {
        let gateway = try ScratchGateway(settings: "channels = 2\n")
        try gateway.start()
        let keeping = try create(gateway, policy: 1)
        let passing = try create(gateway, policy: 0)
        func expect(
            _ outcome: Outcome,
            _ method: String,
            _ path: String,
            _ fields: [(name: String, value: String)] = [],
            _ body: String = "{}",
            at line: Int = #line
        ) throws {
            let response = try ask(gateway, method, path, fields, body: body)
            #expect(Outcome(response) == outcome, "line \(line)")
            #expect(response.header("apns-request-id") == "Request 7")
        }
        let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        try expect(Outcome(400, "CannotCreateChannelConfig"), "POST", Self.management, [], body)
        try expect(Outcome(400, "BadRequestPayload"), "POST", Self.management, [], "{")
        try expect(Outcome(400, "MissingPushType"), "POST", Self.management)
        let policy = body.replacing("1", with: "2")
        try expect(Outcome(400, "BadRequestParams"), "POST", Self.management, [], policy)
        let type = body.replacing("Live", with: "Dead")
        try expect(Outcome(400, "InvalidPushType"), "POST", Self.management, [], type)
        try expect(Outcome(405, "MethodNotAllowed"), "PUT", Self.management)
        try expect(Outcome(400, "MissingChannelId"), "DELETE", Self.management)
        func sent(_ more: [(String, String)]) -> [(name: String, value: String)] {
            [(name: "apns-push-type", value: "liveactivity")]
                + more.map { (name: $0.0, value: $0.1) }
        }
        let sending = Self.sending
        try expect(Outcome(400, "MissingPushType"), "POST", sending)
        try expect(
            Outcome(400, "InvalidPushType"),
            "POST",
            sending,
            [("apns-push-type", "alert"), ("apns-channel-id", keeping)]
        )
        try expect(Outcome(400, "MissingChannelId"), "POST", sending, sent([]))
        let bad = sent([("apns-channel-id", "AAAA")])
        try expect(Outcome(400, "BadChannelId"), "POST", sending, bad)
        let unknown = sent([("apns-channel-id", "AAAAAAAAAAAAAAAAAAAAAA==")])
        try expect(Outcome(400, "ChannelNotRegistered"), "POST", sending, unknown)
        let foreign = "/4/broadcasts/apps/org.example.Other"
        let here = sent([("apns-channel-id", keeping)])
        try expect(Outcome(403, "TopicMismatch"), "POST", foreign, here)
        let kept = sent([("apns-channel-id", passing), ("apns-expiration", "1999999999")])
        try expect(Outcome(400, "BadExpirationDate"), "POST", sending, kept)
        try expect(Outcome(400, "BadRequestPayload"), "POST", sending, here, "hello")
        try expect(Outcome(400, "PayloadEmpty"), "POST", sending, here, "")
        let long = "{\"a\":\"" + String(repeating: "x", count: 5113) + "\"}"
        try expect(Outcome(413, "PayloadTooLarge"), "POST", sending, here, long)
        try expect(Outcome(200), "POST", sending, here, long.replacing("xx\"", with: "x\""))
        let nothing = try ask(gateway, "POST", "/1/apps/a%20b/channels")
        #expect(Outcome(nothing) == Outcome(404, "BadPath"))
    }

    @Test func `a store from before there were channels gets them`() throws {
        let scratch = ScratchDirectory()
        _ = try SQLiteStorage(scratch("store"))
        do {
            let database = try Database(path: scratch("store"), mode: .create)
            try database.execute(
                """
                DROP TABLE channels; DROP INDEX devices_by_seen;
                ALTER TABLE devices DROP COLUMN seen; PRAGMA user_version = 1
                """
            )
        }
        let storage = try SQLiteStorage(scratch("store"))
        #expect(try storage.reader.channels().isEmpty)
    }
}
