import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// `log` and what it finds.
struct LogCommandTests {
    private static let id = "123e4567-e89b-12d3-a456-426614174000"

    /// Two devices with an app each that are away: three pushes were stored, one of which was
    /// replaced, and one could not be.
    private static func gateway() throws -> ScratchGateway {
        let gateway = try ScratchGateway()
        let tokens = try gateway.register(2)
        try gateway.start()
        let client = try gateway.client
        for (token, fields) in [
            (tokens[0], [("apns-id", id)]), (tokens[0], []), (tokens[1], []),
            (tokens[1], [("apns-expiration", "0")]),
        ] {
            let response = try client.send(
                "POST",
                "/3/device/" + token,
                [
                    ("apns-topic", ScratchGateway.topic),
                    ("authorization", try gateway.bearer()),
                ] + fields,
                body: Array(#"{"aps":{"alert":"x"}}"#.utf8)
            )
            #expect(response.status == 200)
        }
        // It writes what is left of the log.
        #expect(try gateway.terminate() == .exited(0))
        return gateway
    }

    private static func log(
        _ gateway: ScratchGateway,
        _ options: [String]
    ) throws -> Command.Outcome {
        try Command(
            [ScratchGateway.program, "log", "--directory=\(gateway.directory.path)"] + options
        ).run()
    }

    private static func found(_ gateway: ScratchGateway, _ options: [String]) throws -> [Value] {
        let outcome = try log(gateway, options + ["--json"])
        #expect(outcome.succeeded, "\(outcome.errors)")
        return try ValueJSON.parse(outcome.output).listValue ?? []
    }

    @Test func `pushes are found by what is known of them`() throws {
        let gateway = try Self.gateway()
        func count(_ options: String...) throws -> Int { try Self.found(gateway, options).count }
        #expect(try count() == 4)
        #expect(try count("--apns-id=\(Self.id)") == 1)
        #expect(try count("--apns-id=\(Self.id.uppercased())") == 1)
        #expect(try count("--device=1") == 2)
        #expect(try count("--device=3") == 0)
        #expect(try count("--topic=org.example.Chat") == 4)
        #expect(try count("--state=replaced") == 1)
        #expect(try count("--state=stored") == 2)
        #expect(try count("--state=dropped", "--device=2") == 1)
        #expect(try count("--state=dropped", "--device=1") == 0)
        #expect(try count("--since=1h") == 4)
        #expect(try count("--until=1h") == 0)
        #expect(try count("--since=2020-01-01", "--until=2020-01-02 00:00") == 0)
        #expect(try count("--since=2020-01-01") == 4)
        #expect(try count("--lines=1", "--state=stored") == 1)
    }

    @Test func `a time that it has printed includes what came then`() throws {
        let gateway = try Self.gateway()
        let lines = try Self.log(gateway, []).output.split(separator: "\n")
        let line = try #require(lines.first { $0.contains("accepted") })
        let time = try #require(line.split(separator: " ").first { $0.contains(":") })
        let now = Clocks.now()
        let day = now.local(now.wall).description.prefix(10)
        let options = ["--since=\(day) \(time)", "--until=\(day) \(time)"]
        #expect(try !Self.found(gateway, options).isEmpty, "\(line)")
    }

    @Test func `what was sent to an app that was removed has no topic`() throws {
        let gateway = try Self.gateway()
        try gateway.start()
        #expect(try gateway.run("topics", "remove", ScratchGateway.topic).succeeded)
        let found = try Self.found(gateway, [])
        #expect(found.map { $0["topic"] } == [Value?](repeating: .null, count: 4))
        let text = try Self.log(gateway, []).output
        #expect(text.split(separator: "\n").contains { $0.contains("  removed app  device ") })
        let outcome = try Self.log(gateway, ["--topic=\(ScratchGateway.topic)"])
        #expect(outcome.status == .exited(3))
        #expect(outcome.errors.contains("without --topic it lists its pushes too"))
    }

    /// From an hour ago to an hour from now, by the clock: not to that time of yesterday.
    @Test func `a time of day after since ends the same day`() throws {
        let gateway = try Self.gateway()
        let now = Clocks.now()
        func clock(_ hours: Int64) -> Substring {
            now.local(now.wall + .hours(hours)).description.suffix(8)
        }
        let options = ["--since=\(clock(-1))", "--until=\(clock(1))"]
        #expect(try Self.found(gateway, options).count == 4)
        #expect(try Self.found(gateway, ["--since=2h", "--until=\(clock(-1))"]).isEmpty)
        #expect(try Self.found(gateway, ["--until=\(clock(-1))"]).isEmpty)
    }

    @Test(arguments: [
        (["--since=-1h"], "--since \"-1h\" is less than nothing\nWrite it without"),
        (["--until=99999d"], "--until \"99999d\" is more than 100 years\nWrite "),
        (["--since=later"], "--since \"later\" is not a time\nWrite a number and a unit"),
        (["--since=1h", "--until=2h"], "--until \"2h\" is before --since\n"),
    ])
    func `what is no time is told why`(options: [String], message: String) throws {
        let outcome = try Self.log(try Self.gateway(), options)
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `times have milliseconds`() throws {
        let gateway = try Self.gateway()
        let report = try #require(try Self.found(gateway, ["--apns-id=\(Self.id)"]).first)
        let stamp = try #require(report["events"]?.listValue?.first?["timestamp"]?.integerValue)
        let milliseconds = String(1000 + stamp % 1000).dropFirst()
        let text = try gateway.run("log", "--apns-id=\(Self.id)").output
        #expect(text.contains(".\(milliseconds)  accepted"), "\(text)")
    }

    @Test(arguments: [
        ["--apns-id=7"], ["--device=0"], ["--device=x"], ["--state=lost"], ["--since=someday"],
        ["--until=2026-13-01"], ["--since=2026-02-30"], ["--lines=0"],
        [id, "--state=stored"],
    ])
    func `what is no filter is refused before anything is read`(options: [String]) throws {
        let gateway = try Self.gateway()
        let outcome = try Self.log(gateway, options)
        #expect(outcome.status == .exited(2), "\(outcome)")
        #expect(outcome.output.isEmpty)
    }

    @Test func `an app that nobody knows is named, and nothing found is said`() throws {
        let gateway = try Self.gateway()
        let unknown = try gateway.run("log", "--topic=org.example.None")
        #expect(unknown.errors.contains("no app \"org.example.None\" is known here"))
        let nothing = try gateway.run("log", "--state=expired")
        #expect(nothing.output == "No push in the log fits.\n")
    }
}
