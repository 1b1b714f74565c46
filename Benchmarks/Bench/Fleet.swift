import DeviceLink
import EventLoop
import GatewayShell
import Linux
import TLS
import TestKit
import Vocabulary
import Wire

/// Devices with one app each, that acknowledge whatever comes; served on the caller's thread.
final class Fleet {
    private let loop: EventLoop
    private var links: [GatewayLink] = []
    private var found: [Int: String] = [:]
    private let count: Int

    init(_ gateway: BenchGateway, _ count: Int) throws {
        loop = try EventLoop()
        self.count = count
        let context = try TLSContext(
            clientTrusting: try Files.text(gateway.paths.authority),
            protocols: [LinkFormat.protocolName]
        )
        let address = InternetAddress(host: "localhost", port: gateway.devicePort)
        for index in 0..<count {
            let link = try GatewayLink(
                loop,
                to: address,
                context,
                key: try Ed25519PrivateKey(),
                LinkClient(condition: LinkCondition(), seed: UInt64(index))
            ) { [unowned self] link, event in
                switch event {
                case .registered(_, _, let token): found[index] = hexadecimal(token)
                case .push(let delivery): link.acknowledge(delivery)
                case .online, .offline, .unregistered, .refused, .subscribed, .following,
                    .broadcast, .problem, .untrusted, .otherProtocol:
                    break
                }
            }
            link.register(PushFigures.topic)
            link.start()
            links.append(link)
        }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }

    /// Their tokens, once all have one.
    func tokens() throws -> [String] {
        while found.count < count { _ = try loop.runTurn(limit: 256) }
        return (0..<count).compactMap { found[$0] }
    }

    /// Lets them work until the descriptor is readable.
    func serve(until descriptor: Int32) throws {
        var isOver = false
        let source = try DescriptorSource(loop, descriptor, .readable) { _ in isOver = true }
        while !isOver { _ = try loop.runTurn(limit: 256) }
        try source.setEnabled(false)
    }

    func stop() {
        for link in links { link.stop() }
        links = []
    }
}
