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
        let first = try Device(gateway)
        let token = try first.token()
        let unique = try send(gateway, token, "--alert=Hello")
        try first.wait(for: "Hello")
        try first.end()
        let stored = try send(gateway, token, "--alert=Later")
        let second = try Device(gateway)
        #expect(try second.token() == token)
        try second.wait(for: "Later")
        try expect(gateway, unique, ["accepted", "delivered"])
        try expect(gateway, stored, ["accepted", "stored", "delivered"])
        try second.end()
    }

    @Test func `kill -9 while devices are away and there loses nothing that was answered 200`()
        throws
    {
        let gateway = try ScratchGateway()
        let away = try gateway.register(100)
        try gateway.start()
        let device = try Device(gateway, (0..<50).map { "org.example.App\($0)" })
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

    private func send(
        _ gateway: ScratchGateway,
        _ token: String,
        _ what: String,
        topic: String = ScratchGateway.topic
    ) throws -> String {
        let sent = try gateway.run(
            "send",
            "--topic=\(topic)",
            what,
            "--json",
            "--host=localhost:\(gateway.port)",
            token
        )
        #expect(sent.succeeded, "\(sent.errors)")
        return try #require(try ValueJSON.parse(sent.output)["uniqueId"]?.stringValue)
    }

    /// Until the log has these events, which may be a second behind.
    private func expect(
        _ gateway: ScratchGateway,
        _ unique: String,
        _ events: [String]
    ) throws {
        let store = gateway.places.store + "-wal"
        try Wait.until(file: store, "\(events) in the log") { _ in
            let log = try? gateway.run("log", unique, "--json")
            let report = log.flatMap { try? ValueJSON.parse($0.output) }
            let found = report?["events"]?.listValue?.compactMap { $0["event"]?.stringValue }
            return found == events
        }
    }

    /// The program's own device, with what it prints.
    private final class Device {
        private let log: String
        private var process: PidFD?

        init(_ gateway: ScratchGateway, _ topics: [String] = [ScratchGateway.topic]) throws {
            log = gateway.directory("device\(gateway.directory.entries.count)")
            process = try Command(
                [
                    ScratchGateway.program, "device", "--directory=\(gateway.directory.path)",
                    "--host=localhost:\(gateway.devicePort)",
                ] + topics
            ).start(logging: log)
        }

        deinit { try? end() }

        func token(_ topic: String = ScratchGateway.topic) throws -> String {
            let line = "token \(topic) "
            let text = try Wait.until(file: log, line) {
                $0.split(separator: "\n").contains { $0.hasPrefix(line) }
            }
            let found = text.split(separator: "\n").first { $0.hasPrefix(line) } ?? ""
            return String(found.dropFirst(line.count))
        }

        func wait(for text: String) throws {
            try Wait.until(file: log, text) { $0.contains(text) }
        }

        func end() throws {
            guard let process = process.take() else { return }
            try process.send(Signal.terminate)
            try Wait.until(readable: process.descriptor.number, "the end of the device")
            _ = try process.wait(block: true)
        }
    }
}
