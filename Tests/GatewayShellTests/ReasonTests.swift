import EventLoop
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Reasons that take more than one request, or a connection of one's own. `Forbidden`,
/// `ExpiredToken` and `InternalServerError` have no occasion here.
struct ReasonTests {
    private typealias Sender = ScratchSender

    private static func reason(_ frame: RawConnection.Frame?) -> String {
        String(decoding: (frame?.payload ?? []).dropFirst(8), as: UTF8.self)
    }

    private static let topic = ("apns-topic", ScratchGateway.topic)

    private func token(
        _ gateway: ScratchGateway,
        _ id: String = "OFFSTAGE01",
        age: Interval = .zero
    ) throws -> (String, String) {
        let key = try Files.text(gateway.paths.providerKey(id))
        let text = try ProviderClient.token(key: key, id: id, team: "TEAM000001", age: age)
        return ("authorization", "bearer " + text)
    }

    @Test func `a token is of its time, of this environment and of its kind`() throws {
        let gateway = try ScratchGateway()
        let device = try gateway.register(1)[0]
        for (id, option) in [
            ("TOPIC00001", "--topics=\(ScratchGateway.topic)"),
            ("DEVELOP001", "--environment=development"),
        ] {
            #expect(try gateway.run("keys", "add", id, "--team=TEAM000001", option).succeeded)
        }
        try gateway.start()
        let sender = try Sender(gateway, device)
        let old = try token(gateway, age: .minutes(61))
        #expect(sender.push([Self.topic, old]) == "ExpiredProviderToken")
        let development = try token(gateway, "DEVELOP001")
        #expect(sender.push([Self.topic, development]) == "BadEnvironmentKeyIdInToken")
        let own = try token(gateway)
        #expect(sender.push([Self.topic, own]) == "")
        let topical = try token(gateway, "TOPIC00001")
        #expect(sender.push([Self.topic, topical]) == "UnrelatedKeyIdInToken")
        #expect(sender.push([Self.topic, Self.topic, own]) == "DuplicateHeaders")
        let newer = try token(gateway, age: .seconds(5))
        #expect(sender.push([Self.topic, newer]) == "TooManyProviderTokenUpdates")
        #expect(sender.push([Self.topic, own]) == "TooManyProviderTokenUpdates")
        // Another connection is not its concern.
        #expect(try Sender(gateway, device).push([Self.topic, newer]) == "")
    }

    private static func streams(_ frame: RawConnection.Frame?) -> UInt32? {
        let payload = frame?.payload ?? []
        for start in stride(from: 0, to: payload.count - 5, by: 6)
        where payload[start] == 0 && payload[start + 1] == 3 {
            return payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        return nil
    }

    @Test func `one request at a time is allowed until a good token came, and more are answered`()
        throws
    {
        let gateway = try ScratchGateway()
        let device = try gateway.register(1)[0]
        let certificate = try gateway.run("keys", "certificate", ScratchGateway.topic).output
        try gateway.start()
        let raw = try RawConnection(gateway)
        raw.send(RawConnection.preface + RawConnection.settings)
        #expect(Self.streams(raw.frames { $0.type == 4 }.last) == 1)
        // Faster than the settings: none is refused.
        let path = "/3/device/" + device
        let bad = RawConnection.request(path, [Self.topic])
        raw.send([1, 3, 5].flatMap { RawConnection.frame(1, 5, $0, bad) })
        let refused = raw.frames { $0.stream == 5 && $0.flags & 1 != 0 }
        #expect(refused.filter { $0.type == 0 }.count == 3)
        #expect(refused.allSatisfy { Self.streams($0) == nil || $0.type != 4 })
        let good = RawConnection.request(path, [Self.topic, try token(gateway)])
        raw.send(RawConnection.frame(1, 4, 7, good))
        raw.send(RawConnection.frame(0, 1, 7, Array("{}".utf8)))
        let allowed = raw.frames { $0.type == 4 && !$0.payload.isEmpty }.last
        #expect(Self.streams(allowed) == 1000)
        let known = try RawConnection(gateway, identity: certificate)
        known.send(RawConnection.preface + RawConnection.settings)
        #expect(Self.streams(known.frames { $0.type == 4 }.last) == 1000)
    }

    @Test func `more to one token than anybody means are too many`() throws {
        let gateway = try ScratchGateway(settings: "token-burst = 2\ntoken-rate = 1\n")
        let devices = try gateway.register(2)
        try gateway.start()
        let own = try token(gateway)
        let sender = try Sender(gateway, devices[0])
        let answers = (0..<6).map { _ in sender.push([Self.topic, own]) }
        #expect(answers.prefix(2) == ["", ""])
        #expect(answers.contains("TooManyRequests"))
        #expect(try Sender(gateway, devices[1]).push([Self.topic, own]) == "")
    }

    @Test func `a certificate of another authority is a bad one`() throws {
        let gateway = try ScratchGateway()
        let other = try ScratchGateway()
        let device = try gateway.register(1)[0]
        let foreign = try other.run("keys", "certificate", ScratchGateway.topic).output
        try gateway.start()
        let sender = try Sender(gateway, device, certificate: foreign)
        #expect(sender.push([Self.topic]) == "BadCertificate")
        // A token makes up for it.
        #expect(sender.push([Self.topic, try token(gateway)]) == "")
    }

    @Test func `a certificate is of its environment`() throws {
        let gateway = try ScratchGateway(settings: "environment = development\n")
        let device = try gateway.register(1)[0]
        let production = ScratchCertificate.production
        let shown = try ScratchCertificate.make(gateway, ScratchGateway.topic, [production])
        try gateway.start()
        let sender = try Sender(gateway, device, certificate: shown)
        #expect(sender.push([Self.topic]) == "BadCertificateEnvironment")
    }

    @Test func `a certificate is for what it lists, and never for places and managers`() throws {
        let gateway = try ScratchGateway()
        let device = try gateway.register(1, topic: "org.example.Mail")[0]
        func pushes(_ certificate: String, _ topic: String?, _ type: String) throws -> String {
            let sender = try Sender(gateway, device, certificate: certificate)
            let fields = [("apns-push-type", type)] + (topic.map { [("apns-topic", $0)] } ?? [])
            return sender.push(fields)
        }
        let list = ScratchCertificate.list(["org.example.Mail.voip", "voip"])
        let calls = try ScratchCertificate.make(gateway, "org.example.Mail.voip", [list])
        let own = try ScratchCertificate.make(gateway, "org.example.Mail", [])
        try gateway.start()
        #expect(try pushes(calls, "org.example.Mail.voip", "voip") == "")
        #expect(try pushes(calls, nil, "voip") == "")
        #expect(try pushes(calls, "org.example.Mail", "alert") == "TopicDisallowed")
        #expect(try pushes(own, "org.example.Mail.voip", "voip") == "")
        #expect(try pushes(own, "org.example.Mail", "alert") == "")
        #expect(try pushes(own, nil, "alert") == "")
        #expect(
            try pushes(own, "org.example.Mail.location-query", "location") == "TopicDisallowed"
        )
        #expect(try pushes(own, "org.example.Mail", "mdm") == "TopicDisallowed")
        let mail = try Sender(gateway, device)
        let field = try token(gateway)
        let place = ("apns-topic", "org.example.Mail.location-query")
        #expect(mail.push([field, place, ("apns-push-type", "location")]) == "")
        let manager = [field, ("apns-topic", "org.example.Mail"), ("apns-push-type", "mdm")]
        #expect(mail.push(manager) == "TopicDisallowed")
    }

    @Test func `whoever says nothing, or is there at the end, is told why`() throws {
        let gateway = try ScratchGateway(settings: "idle-time = 1s\n")
        try gateway.start()
        let idle = try Sender(gateway, "00").raw
        #expect(Self.reason(idle.frames { $0.type == 7 }.last) == #"{"reason":"IdleTimeout"}"#)
        let late = try ScratchGateway(settings: "drain-time = 1s\n")
        try late.start()
        let sender = try Sender(late, "00")
        #expect(sender.push([Self.topic]) == "MissingProviderToken")
        #expect(try late.terminate() == .exited(0))
        // Behind the announcement, though the PING was not answered.
        let goodbye = sender.raw.frames().last { $0.type == 7 }
        #expect(Self.reason(goodbye) == #"{"reason":"Shutdown"}"#)
    }

    /// Providers, as far as a node knows them.
    private final class Answers: PushSenders {
        var list: [Answer] = []

        func tell(_ call: CallID, _ answer: LogAnswer) {}
        func answer(_ call: CallID, _ answer: Answer) { list.append(answer) }
    }

    @Test func `what the disk does not take is answered 503, until it does again`() throws {
        let directory = ScratchDirectory()
        let disk = FaultyDisk()
        let loop = try EventLoop()
        let node = try GatewayNode(
            loop,
            try SQLiteStorage(directory("gateway.db"), fileSystem: disk.name),
            GatewayLimits(),
            seal: try SyntheticTokens(key: [UInt8](repeating: 5, count: 32)),
            identity: 0
        )
        let (links, senders) = (ScratchGateway.Links(), Answers())
        (node.links, node.senders) = (links, senders)
        node.identify([UInt8](repeating: 1, count: 32)) { who in
            node.connected(who?.device ?? DeviceID(0), LinkID(1), DeviceCondition())
            node.register(ScratchGateway.topic, renewing: false, over: LinkID(1))
            node.disconnected(LinkID(1))
        }
        node.settle()
        let address = try #require(node.seal.token(Array(links.tokens[0].utf8)[...]))
        func push(_ call: UInt64) throws {
            var request = PushRequest()
            request.payload = Array("{}".utf8)
            let id = PushUUID(high: 1, low: call)
            let push = try AdmittedPush(request, to: address, id: id, provider: "KEY")
            node.push(push, for: CallID(call))
            node.settle()
        }
        disk.fail(nth: 1, with: .ioWrite, forever: true)
        try push(1)
        #expect(senders.list == [.refused(.serviceUnavailable)])
        disk.heal()
        try push(2)
        guard case .accepted = senders.list.last else {
            Issue.record("\(senders.list)")
            return
        }
    }
}
