import GatewayShell
import Glibc
import Linux
import TestKit
import Vocabulary

/// The gateway's program in a scratch directory, and h2load as its sender.
final class BenchGateway {
    let scratch = ScratchDirectory()
    let paths: GatewayPaths
    private let server: GatewayProcess
    let token: String

    init() throws {
        paths = try GatewayProcess.makeGateway(in: scratch)
        server = try GatewayProcess(serving: paths.directory, logging: scratch("log"))
        token =
            "bearer "
            + (try ProviderClient.token(
                key: try Files.text(paths.providerKey("OFFSTAGE01")),
                id: "OFFSTAGE01",
                team: "TEAM000001"
            ))
        scratch.write(Array(PushFigures.body.utf8), to: "body")
    }

    var pid: Int32 { server.pid }
    var port: UInt16 { server.port }
    var devicePort: UInt16 { server.devicePort }

    struct Load {
        /// Each second.
        var rate: Double
        /// Seconds of the gateway's processor for one.
        var processor: Double
    }

    /// Of h2load, for each request.
    var headers: [String] {
        ["-H", "apns-topic: \(PushFigures.topic)", "-H", "authorization: \(token)"]
    }

    private func urls(_ tokens: [String]) -> [String] {
        tokens.map { "https://localhost:\(server.port)/3/device/\($0)" }
    }

    /// Sends so many pushes to the tokens in turn; devices do their part meanwhile.
    func load(_ tokens: [String], _ count: Int, beside fleet: Fleet?) throws -> Load {
        let before = try Processor.seconds(of: server.pid)
        let output = try h2load(urls(tokens), count, headers, beside: fleet)
        let line = output.split(separator: "\n").first { $0.hasPrefix("finished in") } ?? ""
        let words = line.split(separator: " ")
        guard words.count > 3, let rate = Double(words[3]) else {
            throw DidNotHappen(description: output)
        }
        let spent = try Processor.seconds(of: server.pid) - before
        return Load(rate: rate, processor: spent / Double(count))
    }

    /// Milliseconds, at 500 pushes a second of each client. A push is answered when its device has
    /// acknowledged it.
    struct Latencies {
        /// Within which 99 of 100 were answered. Without those of the first 200 ms, when a
        /// connection is new and its first push has not been taken yet.
        var p99: Double
        /// From the beginning of a connection to its first answer; of several the slowest.
        var first: Double
    }

    func latencies(
        _ tokens: [String],
        _ count: Int = 20_000,
        clients: Int = 4,
        beside fleet: Fleet
    ) throws -> Latencies {
        let log = scratch("requests")
        let more = headers + ["--rps=500", "--log-file=\(log)", "-c", "\(clients)"]
        try? Files.remove(log)
        let output = try h2load(urls(tokens), count, more, beside: fleet)
        // Each line: its start in us since 1970, the status, how long it took in us.
        let rows = try Files.text(log, limit: 16 << 20).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t").compactMap { Double($0) }
            return fields.count == 3 ? (start: fields[0], time: fields[2]) : nil
        }
        guard let begin = rows.map(\.start).min(), rows.count >= count * 19 / 20 else {
            throw DidNotHappen(description: "\(rows.count) times")
        }
        let times = rows.filter { $0.start >= begin + 200_000 }.map(\.time).sorted()
        let line = output.split(separator: "\n").first { $0.hasPrefix("time to 1st byte:") }
        let words = (line ?? "").split(separator: " ")
        guard times.count > count / 2, words.count > 5, let first = Self.milliseconds(words[5])
        else { throw DidNotHappen(description: output) }
        return Latencies(p99: times[times.count * 99 / 100] / 1000, first: first)
    }

    /// As h2load writes a time, such as `1.23ms`.
    private static func milliseconds(_ text: Substring) -> Double? {
        for (unit, factor) in [("us", 1e-3), ("ms", 1), ("s", 1e3)] where text.hasSuffix(unit) {
            if let number = Double(text.dropLast(unit.count)) { return number * factor }
        }
        return nil
    }

    /// What h2load printed; four connections, up to 100 requests at a time on each.
    func h2load(
        _ urls: [String],
        _ count: Int,
        _ more: [String],
        beside fleet: Fleet? = nil
    ) throws -> String {
        scratch.write(Array(urls.joined(separator: "\n").utf8), to: "urls")
        let log = scratch("h2load")
        try? Files.remove(log)
        let words =
            ["h2load", "-n", "\(count)", "-c", "4", "-m", "100", "-d", scratch("body")] + more
            + ["-i", scratch("urls")]
        let sender = try Command(Scheduling.words(words)).start(logging: log)
        if let fleet {
            try fleet.serve(until: sender.descriptor.number)
        } else {
            try Wait.until(readable: sender.descriptor.number, "the end of h2load")
        }
        _ = try sender.wait(block: true)
        let output = try Files.text(log)
        guard output.contains("\(count) 2xx") else { throw DidNotHappen(description: output) }
        return output
    }
}
