import GatewayShell
import Glibc
import Linux
import TestKit

/// What a push costs the gateway, and how many it takes: the program itself, h2load as its sender,
/// devices that acknowledge. Beside it, in the same run, nghttpd's cost of a request and the cost
/// of a message of a bare TLS server.
struct PushFigures {
    static let devices = 1000
    static let pushes = 60_000
    static let topic = "org.example.App"
    static let body = """
        {"aps":{"alert":{"title":"Hello","body":"A message of usual length, as chats have them, \
        and a little more"},"sound":"default"},"room":"7"}
        """

    func run() throws -> [Figure] {
        let gateway = try BenchGateway()
        let fleet = try Fleet(gateway, Self.devices)
        let tokens = try fleet.tokens()
        _ = try gateway.load(tokens, 5000, beside: fleet)
        let connected = try gateway.load(tokens, Self.pushes, beside: fleet)
        let request = try requestCost(gateway)
        let message = try EchoServer(gateway).messageCost()
        let latency = try gateway.latencies(tokens, beside: fleet)
        fleet.stop()
        let away = try gateway.load(tokens, 20_000, beside: nil)
        return [
            Figure(
                name: "processor for a push to one of \(Self.devices) connected devices",
                unit: "us",
                ours: connected.processor * 1e6,
                peer: (request + message) * 1e6,
                peerName: "nghttpd's request and a bare TLS message",
                limit: .ratio(1.3)
            ),
            Figure(
                name: "pushes delivered and acknowledged, senders and devices on the same cores",
                unit: "/s",
                ours: connected.rate,
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

    /// Seconds of processor that nghttpd needs for a request of the same kind.
    private func requestCost(_ gateway: BenchGateway) throws -> Double {
        let port = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0)).port
        gateway.scratch.write(Array("ok\n".utf8), to: "file")
        let server = try Command(
            "nghttpd",
            "-d",
            gateway.scratch.path,
            "-a",
            "127.0.0.1",
            "\(port)",
            gateway.places.certificateKey,
            gateway.places.certificate
        ).start()
        defer {
            try? server.send(Signal.kill)
            _ = try? server.wait(block: true)
        }
        let address = InternetAddress(host: "127.0.0.1", port: port)
        while (try? InternetSocket.connect(to: address).number) == nil { usleep(10_000) }
        let before = Processor.seconds(of: server.pid)
        _ = try gateway.h2load(["https://localhost:\(port)/file"], Self.pushes, [])
        return (Processor.seconds(of: server.pid) - before) / Double(Self.pushes)
    }
}
