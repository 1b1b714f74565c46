import GatewayShell
import Glibc
import Linux
import TestKit
import Vocabulary

/// The gateway's program in a scratch directory, and h2load as its sender.
final class BenchGateway {
    let scratch = ScratchDirectory()
    let places: GatewayPlaces
    private let server: GatewayProcess
    let token: String

    init() throws {
        places = try GatewayProcess.makeGateway(in: scratch)
        server = try GatewayProcess(serving: places.directory, logging: scratch("log"))
        token =
            "bearer "
            + (try ProviderClient.token(
                key: try Files.text(places.providerKey("OFFSTAGE01")),
                id: "OFFSTAGE01",
                team: "TEAM000001"
            ))
        scratch.write(Array(PushFigures.body.utf8), to: "body")
    }

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

    /// Milliseconds within which 99 of 100 pushes were answered, at 500 a second of each client:
    /// each is answered when its device has acknowledged it.
    func latencies(
        _ tokens: [String],
        _ count: Int = 20_000,
        clients: Int = 4,
        beside fleet: Fleet
    ) throws -> Double {
        let log = scratch("requests")
        let more = headers + ["--rps=500", "--log-file=\(log)", "-c", "\(clients)"]
        try? Files.remove(log)
        _ = try h2load(urls(tokens), count, more, beside: fleet)
        let times = try Files.text(log, limit: 16 << 20).split(separator: "\n").compactMap {
            $0.split(separator: "\t").last.flatMap { Double($0) }
        }.sorted()
        guard times.count >= count * 19 / 20 else {
            throw DidNotHappen(description: "\(times.count) times")
        }
        return times[times.count * 99 / 100] / 1000
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
        let sender = try Command(
            ["h2load", "-n", "\(count)", "-c", "4", "-m", "100", "-d", scratch("body")] + more
                + ["-i", scratch("urls")]
        ).start(logging: log)
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
