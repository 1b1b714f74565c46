import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// From a provider to a device through the programs, as an operator tries it.
struct DeliveryTests {
    @Test func `a push reaches a device at once, or when it comes back, and the log says so`()
        throws
    {
        let gateway = try ScratchGateway()
        try gateway.start()
        let first = try ScratchDevice(gateway)
        let token = try first.token()
        let unique = try send(gateway, token, "--alert=Hello")
        try first.wait(for: "Hello")
        try first.end()
        let stored = try send(gateway, token, "--alert=Later")
        let second = try ScratchDevice(gateway)
        #expect(try second.token() == token)
        try second.wait(for: "Later")
        // It comes before the answer that says which app it is for.
        #expect(try second.pushes(1)[0].hasPrefix("push org.example.Chat alert "))
        try expect(gateway, unique, ["accepted", "delivered"])
        try expect(gateway, stored, ["accepted", "stored", "delivered"])
        try second.end()
    }

    @Test func `what the flags of send say is what the app gets`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway)
        let token = try device.token()
        _ = try send(gateway, token, "--alert=Hello", "--data=room=7", "--data=who=Ada")
        try device.wait(
            for: #"alert {"aps":{"alert":"Hello"},"room":"7","who":"Ada"}"#
        )
        _ = try send(gateway, token, "--silent", "--data=room=8")
        try device.wait(for: #"background {"aps":{"content-available":1},"room":"8"}"#)
        try device.end()
    }

    @Test func `kill -9 while devices are away and there loses nothing that was answered 200`()
        throws
    {
        let gateway = try ScratchGateway()
        let away = try gateway.register(100)
        try gateway.start()
        let device = try ScratchDevice(gateway, (0..<50).map { "org.example.App\($0)" })
        let there = try (0..<50).map { try device.token("org.example.App\($0)") }
        var answered: [String: String] = [:]
        let client = try LoadSender(gateway, away)
        _ = try client.run(until: 50) {
            for (index, token) in there.prefix(10).enumerated() {
                answered[token] = try? send(
                    gateway,
                    token,
                    "--alert=Number\(index)",
                    topic: "org.example.App\(index)"
                )
            }
            gateway.kill()
        }
        #expect(answered.count == 10)
        // Each was acknowledged, which the device wrote down first, or is in the store.
        for index in 0..<10 { try device.wait(for: "Number\(index)") }
        try device.end()
    }

    @Test func `limits of devices are settings, and what came of them is counted`() throws {
        let gateway = try ScratchGateway(settings: "links = 1\n")
        try gateway.start()
        let first = try ScratchDevice(gateway)
        _ = try first.token()
        let second = try RawConnection(
            gateway,
            port: gateway.devicePort,
            protocols: ["offstage-link"]
        )
        // An end, because it is busy.
        #expect(second.bytes().starts(with: [0x08, 4, 2]))
        #expect(second.isClosed)
        let stats = try ValueJSON.parse(try gateway.run("stats", "--json").output)
        #expect(stats["link_connections_total"] == 2)
        #expect(stats["link_welcomed_total"] == 1)
        #expect(stats["link_sent_away_total"] == 1)
        #expect(stats["link_too_slow_total"] == 0)
        try first.end()
    }

    private func send(
        _ gateway: ScratchGateway,
        _ token: String,
        _ what: String...,
        topic: String = ScratchGateway.topic
    ) throws -> String {
        let place = ["--directory=\(gateway.directory.path)", "--host=localhost:\(gateway.port)"]
        let words = ["send", "--topic=\(topic)", "--json"] + what + place + [token]
        let sent = try Command([ScratchGateway.program] + words).run()
        #expect(sent.succeeded, "\(sent.errors)")
        return try #require(try ValueJSON.parse(sent.output)["uniqueId"]?.stringValue)
    }

    /// Until the log has these events, which may be a second behind.
    private func expect(
        _ gateway: ScratchGateway,
        _ unique: String,
        _ events: [String]
    ) throws {
        let store = gateway.paths.store + "-wal"
        try Wait.until(file: store, "\(events) in the log") { _ in
            let log = try? gateway.run("log", unique, "--json")
            let report = log.flatMap { try? ValueJSON.parse($0.output) }
            let found = report?["events"]?.listValue?.compactMap { $0["event"]?.stringValue }
            return found == events
        }
    }
}
