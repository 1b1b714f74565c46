import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Keys and the apps that they may push to, as an operator sets them while the gateway runs.
struct TeamTests {
    private static let refused = Outcome(403, "InvalidProviderToken")
    private static let topic = ScratchGateway.topic

    @Test func `a key that is added, kept to a topic or removed counts at once`() throws {
        let bench = try KeyBench()
        try bench.change("keys", "add", "LATE000001", "--team=TEAM000001")
        let key = try Files.text(bench.gateway.paths.providerKey("LATE000001"))
        func push() throws -> Outcome { try bench.push(key, of: "LATE000001", "TEAM000001") }
        #expect(try push() == Outcome(200))
        try bench.change("topics", "set", "LATE000001", "org.example.Other")
        #expect(try push() == Self.refused)
        try bench.change("topics", "any", "LATE000001")
        #expect(try push() == Outcome(200))
        try bench.change("keys", "remove", "LATE000001")
        #expect(try push() == Self.refused)
    }

    @Test func `an app of no team is open while there is one, and then to none`() throws {
        let bench = try KeyBench()
        #expect(try bench.push(of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
        let added = try bench.change("keys", "add", "OTHER00001", "--team=TEAM000002")
        #expect(added.errors.contains("push to apps without a team: \(Self.topic)"))
        #expect(try bench.push(of: "OFFSTAGE01", "TEAM000001") == Self.refused)
        #expect(try bench.push(of: "OTHER00001", "TEAM000002") == Self.refused)
        try bench.change("topics", "set", "OTHER00001", Self.topic)
        #expect(try bench.push(of: "OTHER00001", "TEAM000002") == Outcome(200))
        let again = try bench.change("keys", "add", "OTHER00002", "--team=TEAM000002")
        #expect(again.errors.isEmpty)
    }

    @Test func `an app is its team's alone, until another gets it or it is removed`() throws {
        let bench = try KeyBench()
        try bench.change("keys", "add", "OTHER00001", "--team=TEAM000002")
        try bench.change("topics", "add", Self.topic, "--team=TEAM000001")
        #expect(try bench.push(of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
        #expect(try bench.push(of: "OTHER00001", "TEAM000002") == Self.refused)
        let moved = try bench.change("topics", "add", Self.topic, "a.new", "--team=TEAM000002")
        #expect(moved.output == "\(Self.topic) was an app of team TEAM000001\n")
        #expect(try bench.push(of: "OFFSTAGE01", "TEAM000001") == Self.refused)
        #expect(try bench.push(of: "OTHER00001", "TEAM000002") == Outcome(200))
        let list = try ValueJSON.parse(try bench.gateway.run("topics", "--json").output)
        #expect(
            list
                == .list([
                    .map(["topic": .string(Self.topic), "team": "TEAM000002", "isKnown": true]),
                    .map(["topic": "a.new", "team": "TEAM000002", "isKnown": false]),
                ])
        )
        // A key that may push to one app only may not do so when that is another team's.
        try bench.change("topics", "set", "OFFSTAGE01", Self.topic)
        #expect(try bench.push(of: "OFFSTAGE01", "TEAM000001") == Self.refused)
        try bench.change("topics", "remove", "a.new")
        try bench.change("topics", "remove", Self.topic)
        #expect(try bench.gateway.run("topics").output == "TOPIC  TEAM  DEVICES\n")
    }

    @Test func `a team without a key is named`() throws {
        let bench = try KeyBench()
        let outcome = try bench.change("topics", "add", "a.b", "--team=TEAM000009")
        #expect(outcome.output.contains("team TEAM000009 has no key yet"))
        #expect(outcome.errors.contains("there are several teams now"))
    }

    @Test func `an app of two teams in the file changes nothing, and is named`() throws {
        let bench = try KeyBench()
        let path = bench.gateway.paths.keys
        let text = try Files.text(path)
        let log = bench.gateway.directory("log1")
        try Files.replace(path, with: text + "[team A]\ntopics = a.b\n[team B]\ntopics = a.b\n")
        try Wait.until(file: log, "the refusal") {
            $0.contains("a.b belongs to two teams, A and B; nothing was changed")
        }
        #expect(try bench.push(of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
    }
}
