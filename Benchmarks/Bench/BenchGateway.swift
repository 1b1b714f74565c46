import GatewayShell
import Glibc
import Linux
import TestKit
import Vocabulary

/// The gateway's program in a scratch directory, and h2load as its sender.
final class BenchGateway {
    let scratch = ScratchDirectory()
    let places: GatewayPlaces
    let port: UInt16
    let devicePort: UInt16
    private let process: PidFD
    private let bearer: String

    init() throws {
        places = GatewayPlaces(scratch("gateway"))
        let program = Products.path(of: "offstage-gateway")
        let place = "--directory=\(places.directory)"
        let made = try Command(program, "init", place).run()
        guard made.succeeded else { throw DidNotHappen(description: made.errors) }
        let limits = "token-burst = 100000000\ntoken-rate = 100000000\n"
        try Files.replace(places.settings, with: limits)
        let log = scratch("log")
        process = try Command(
            program,
            "serve",
            place,
            "--listen=127.0.0.1:0",
            "--devices=127.0.0.1:0"
        ).start(logging: log)
        let line = try Wait.until(file: log, "the gateway serves") { $0.contains("\n") }
        let ports = line.split { !$0.isNumber }.compactMap { UInt16($0) }
        guard ports.count >= 2 else { throw DidNotHappen(description: line) }
        (port, devicePort) = (ports[0], ports[1])
        bearer =
            "authorization: bearer "
            + (try ProviderClient.token(
                key: try Files.text(places.providerKey("OFFSTAGE01")),
                id: "OFFSTAGE01",
                team: "TEAM000001"
            ))
        scratch.write(Array(PushFigures.body.utf8), to: "body")
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    struct Load {
        /// Each second.
        var rate: Double
        /// Seconds of the gateway's processor for one.
        var processor: Double
    }

    private var headers: [String] {
        ["-H", "apns-topic: \(PushFigures.topic)", "-H", bearer]
    }

    private func urls(_ tokens: [String]) -> [String] {
        tokens.map { "https://localhost:\(port)/3/device/\($0)" }
    }

    /// Sends so many pushes to the tokens in turn; devices do their part meanwhile.
    func load(_ tokens: [String], _ count: Int, beside fleet: Fleet?) throws -> Load {
        let before = Processor.seconds(of: process.pid)
        let output = try h2load(urls(tokens), count, headers, beside: fleet)
        guard output.contains("\(count) 2xx") else { throw DidNotHappen(description: output) }
        let line = output.split(separator: "\n").first { $0.hasPrefix("finished in") } ?? ""
        let words = line.split(separator: " ")
        guard words.count > 3, let rate = Double(words[3]) else {
            throw DidNotHappen(description: output)
        }
        let spent = Processor.seconds(of: process.pid) - before
        return Load(rate: rate, processor: spent / Double(count))
    }

    /// Milliseconds within which 99 of 100 pushes were answered, at 2,000 a second: each is
    /// answered when its device has acknowledged it.
    func latencies(_ tokens: [String], beside fleet: Fleet) throws -> Double {
        let log = scratch("requests")
        let more = headers + ["--rps=500", "--log-file=\(log)"]
        _ = try h2load(urls(tokens), 20_000, more, beside: fleet)
        let times = try Files.text(log, limit: 16 << 20).split(separator: "\n").compactMap {
            $0.split(separator: "\t").last.flatMap { Double($0) }
        }.sorted()
        guard times.count >= 19_000 else { throw DidNotHappen(description: "\(times.count) times") }
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
        return try Files.text(log)
    }
}

enum Processor {
    /// What a process has used so far, by itself and for itself in the kernel.
    static func seconds(of pid: Int32) -> Double {
        guard let text = try? Files.text("/proc/\(pid)/stat"),
            let end = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13])
        else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
