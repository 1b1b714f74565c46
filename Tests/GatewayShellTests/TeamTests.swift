import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Keys and the apps that they may push to, as an operator sets them while the gateway runs.
struct TeamTests {
    /// A gateway with one app on one device, and its provider.
    private struct Scene {
        let gateway: ScratchGateway
        let token: String

        init() throws {
            gateway = try ScratchGateway()
            token = try gateway.register(1)[0]
            try gateway.start()
        }

        /// What one who sends with this key is told.
        func push(_ key: String, of id: String, _ team: String) throws -> Outcome {
            let text = try ProviderClient.token(key: key, id: id, team: team)
            return Outcome(
                try gateway.client.send(
                    "POST",
                    "/3/device/" + token,
                    [("apns-topic", ScratchGateway.topic), ("authorization", "bearer " + text)],
                    body: Array("{}".utf8)
                )
            )
        }

        func push(of id: String, _ team: String) throws -> Outcome {
            try push(try Files.text(gateway.paths.providerKey(id)), of: id, team)
        }

        /// Changes something and waits until the gateway has read it.
        @discardableResult
        func change(_ arguments: String...) throws -> Command.Outcome {
            let log = gateway.directory("log1")
            let before = try Files.text(log).split(separator: "\n").count
            let outcome = try Command(
                [ScratchGateway.program] + arguments + ["--directory=\(gateway.directory.path)"]
            ).run()
            #expect(outcome.succeeded, "\(outcome.errors)")
            try Wait.until(file: log, "reloaded") {
                $0.split(separator: "\n").count > before
            }
            return outcome
        }
    }

    private static let refused = Outcome(403, "InvalidProviderToken")
    private static let topic = ScratchGateway.topic

    @Test func `a key that is added, kept to a topic or removed counts at once`() throws {
        let scene = try Scene()
        try scene.change("keys", "add", "LATE000001", "--team=TEAM000001")
        let key = try Files.text(scene.gateway.paths.providerKey("LATE000001"))
        func push() throws -> Outcome { try scene.push(key, of: "LATE000001", "TEAM000001") }
        #expect(try push() == Outcome(200))
        try scene.change("topics", "set", "LATE000001", "org.example.Other")
        #expect(try push() == Self.refused)
        try scene.change("topics", "any", "LATE000001")
        #expect(try push() == Outcome(200))
        try scene.change("keys", "remove", "LATE000001")
        #expect(try push() == Self.refused)
    }

    @Test func `an app of no team is open while there is one, and then to none`() throws {
        let scene = try Scene()
        #expect(try scene.push(of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
        let added = try scene.change("keys", "add", "OTHER00001", "--team=TEAM000002")
        #expect(added.errors.contains("push to apps of no team: \(Self.topic)"))
        #expect(try scene.push(of: "OFFSTAGE01", "TEAM000001") == Self.refused)
        #expect(try scene.push(of: "OTHER00001", "TEAM000002") == Self.refused)
        try scene.change("topics", "set", "OTHER00001", Self.topic)
        #expect(try scene.push(of: "OTHER00001", "TEAM000002") == Outcome(200))
        let again = try scene.change("keys", "add", "OTHER00002", "--team=TEAM000002")
        #expect(again.errors.isEmpty)
    }

    @Test func `an app is its team's alone, until another gets it or it is removed`() throws {
        let scene = try Scene()
        try scene.change("keys", "add", "OTHER00001", "--team=TEAM000002")
        try scene.change("topics", "add", Self.topic, "--team=TEAM000001")
        #expect(try scene.push(of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
        #expect(try scene.push(of: "OTHER00001", "TEAM000002") == Self.refused)
        let moved = try scene.change("topics", "add", Self.topic, "a.new", "--team=TEAM000002")
        #expect(moved.output == "\(Self.topic) was an app of team TEAM000001\n")
        #expect(try scene.push(of: "OFFSTAGE01", "TEAM000001") == Self.refused)
        #expect(try scene.push(of: "OTHER00001", "TEAM000002") == Outcome(200))
        let list = try ValueJSON.parse(try scene.gateway.run("topics", "--json").output)
        #expect(
            list
                == .list([
                    .map(["topic": .string(Self.topic), "team": "TEAM000002", "isKnown": true]),
                    .map(["topic": "a.new", "team": "TEAM000002", "isKnown": false]),
                ])
        )
        // A key that may push to one app only may not do so when that is another team's.
        try scene.change("topics", "set", "OFFSTAGE01", Self.topic)
        #expect(try scene.push(of: "OFFSTAGE01", "TEAM000001") == Self.refused)
        try scene.change("topics", "remove", "a.new")
        try scene.change("topics", "remove", Self.topic)
        #expect(try scene.gateway.run("topics").output == "TOPIC  TEAM  DEVICES\n")
    }

    @Test func `a team without a key is named`() throws {
        let scene = try Scene()
        let outcome = try scene.change("topics", "add", "a.b", "--team=TEAM000009")
        #expect(outcome.output.contains("team TEAM000009 has no key yet"))
        #expect(outcome.errors.contains("there are several teams now"))
    }

    @Test func `an app of two teams in the file changes nothing, and is named`() throws {
        let scene = try Scene()
        let path = scene.gateway.paths.keys
        let text = try Files.text(path)
        let log = scene.gateway.directory("log1")
        try Files.replace(path, with: text + "[team A]\ntopics = a.b\n[team B]\ntopics = a.b\n")
        try Wait.until(file: log, "the refusal") {
            $0.contains("a.b belongs to two teams, A and B; nothing was changed")
        }
        #expect(try scene.push(of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
    }

    @Test(arguments: [
        Rule([:], hasOneTeam: true, own: true, other: true),
        Rule([:], hasOneTeam: false, own: false, other: false),
        Rule(["a.b": "A"], hasOneTeam: true, own: true, other: true),
        Rule(["a.b": "A"], hasOneTeam: false, own: true, other: false),
        Rule(["a.b": "B"], hasOneTeam: false, own: false, other: false),
    ])
    fileprivate func `which apps are open to team A`(rule: Rule) {
        let apps = TeamApps(rule.owners, hasOneTeam: rule.hasOneTeam)
        #expect(apps.isOpen("a.b", to: "A") == rule.own)
        #expect(apps.isOpen("a.c", to: "A") == rule.other)
        #expect(apps.mayBe("a.b", of: "A") == (rule.owners["a.b"] != "B"))
    }
}

/// Which of `a.b` and `a.c` are open to team A.
private struct Rule {
    let owners: [String: String]
    let hasOneTeam: Bool
    let own: Bool
    let other: Bool

    init(_ owners: [String: String], hasOneTeam: Bool, own: Bool, other: Bool) {
        (self.owners, self.hasOneTeam, self.own, self.other) = (owners, hasOneTeam, own, other)
    }
}
