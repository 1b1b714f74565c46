import GatewayShell
import Glibc
import Linux
import TestKit

/// What a push costs the gateway, and how many it takes: the program itself, h2load as its sender,
/// devices that acknowledge. Beside it, in the same run, nghttpd's cost of a request and the cost
/// of a message of a bare TLS server.
struct PushFigures {
    static let devices = 1000
    /// In each of the rounds, whose medians count.
    static let pushes = 20_000
    static let rounds = 7
    static let topic = "org.example.App"
    static let body = """
        {"aps":{"alert":{"title":"Hello","body":"A message of usual length, as chats have them, \
        and a little more"},"sound":"default"},"room":"7"}
        """

    func run() throws -> [Figure] {
        let gateway = try BenchGateway()
        let fleet = try Fleet(gateway, Self.devices)
        let tokens = try fleet.tokens()
        let plain = try PlainServer(gateway, path: "/3/device/\(tokens[0])")
        let echo = try EchoServer(gateway)
        _ = try gateway.load(tokens, 5000, beside: fleet)
        var connected: [BenchGateway.Load] = []
        var requests: [Double] = []
        var messages: [Double] = []
        // In turn, so that whatever else the machine does meets all of them.
        for _ in 0..<Self.rounds {
            connected.append(try gateway.load(tokens, Self.pushes, beside: fleet))
            requests.append(try plain.requestCost(Self.pushes))
            messages.append(try echo.messageCost(Self.pushes))
        }
        let latency = try gateway.latencies(tokens, beside: fleet).p99
        fleet.stop()
        let away = try gateway.load(tokens, 20_000, beside: nil)
        return [
            Figure(
                name: "processor for a push to one of \(Self.devices) connected devices",
                unit: "us",
                ours: connected.map(\.processor).median * 1e6,
                peer: (requests.median + messages.median) * 1e6,
                peerName: "nghttpd's request and a bare TLS message",
                limit: .ratio(1.3)
            ),
            Figure(
                name: "pushes delivered and acknowledged, senders and devices on the same cores",
                unit: "/s",
                ours: connected.map(\.rate).median,
                limit: .atLeast(20_000)
            ),
            Figure(
                name: "pushes stored because their devices are away",
                unit: "/s",
                ours: away.rate,
                limit: .atLeast(5000)
            ),
            Figure(
                name: "from a provider's request to its answer at 2,000 pushes/s, p99",
                unit: "ms",
                ours: latency,
                limit: .atMost(25)
            ),
        ]
    }
}
