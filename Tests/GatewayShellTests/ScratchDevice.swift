import GatewayShell
import Linux
import TestKit

/// The program's own device, with what it prints.
final class ScratchDevice {
    private let log: String
    private var process: PidFD?

    init(
        _ gateway: ScratchGateway,
        _ topics: [String] = [ScratchGateway.topic],
        options: [String] = []
    ) throws {
        log = gateway.directory("device\(gateway.directory.entries.count)")
        process = try Command(
            [
                ScratchGateway.program, "device", "--directory=\(gateway.directory.path)",
                "--host=localhost:\(gateway.devicePort)",
            ] + options + topics
        ).start(logging: log)
    }

    deinit { try? end() }

    func token(_ topic: String = ScratchGateway.topic) throws -> String {
        try word(behind: "token \(topic) ")
    }

    /// The address for a sender of Web Push.
    func endpoint(_ topic: String = ScratchGateway.topic) throws -> String {
        try word(behind: "endpoint \(topic) ")
    }

    private func word(behind start: String) throws -> String {
        let text = try Wait.until(file: log, start) {
            $0.split(separator: "\n").contains { $0.hasPrefix(start) }
        }
        let found = text.split(separator: "\n").first { $0.hasPrefix(start) } ?? ""
        return String(found.dropFirst(start.count))
    }

    /// The pushes so far, as it prints them.
    var pushes: [String] {
        get throws {
            try Files.text(log).split(separator: "\n").filter { $0.hasPrefix("push ") }
                .map(String.init)
        }
    }

    /// The token that it was given after `count - 1` others.
    func token(number count: Int, _ topic: String = ScratchGateway.topic) throws -> String {
        let start = "token \(topic) "
        func tokens(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { $0.hasPrefix(start) }
        }
        let text = try Wait.until(file: log, "\(count) tokens") { tokens($0).count >= count }
        return String(tokens(text)[count - 1].dropFirst(start.count))
    }

    /// All that it printed.
    var text: String { get throws { try Files.text(log) } }

    /// Until there are so many.
    func pushes(_ count: Int) throws -> [String] {
        try Wait.until(file: log, "\(count) pushes") {
            $0.split(separator: "\n").filter { $0.hasPrefix("push ") }.count >= count
        }
        return try pushes
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
