import DeviceLink
import EventLoop
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Wire

/// A device of the project's own code, in this process; `key` nil: a new one.
final class LinkedDevice {
    let loop: EventLoop
    private(set) var link: GatewayLink?
    var events: [GatewayLink.Event] = []
    /// What is done the moment that an event comes.
    var happened: (GatewayLink.Event) -> Void = { _ in }

    init(_ gateway: ScratchGateway, _ key: Ed25519PrivateKey? = nil) throws {
        loop = try EventLoop()
        link = try GatewayLink(
            loop,
            to: InternetAddress(host: "127.0.0.1", port: gateway.devicePort),
            try TLSContext(
                clientTrusting: try Files.text(gateway.paths.authority),
                protocols: [LinkFormat.protocolName]
            ),
            key: try key ?? Ed25519PrivateKey(),
            LinkClient(condition: LinkCondition(), seed: 1)
        ) { [unowned self] _, event in
            events.append(event)
            happened(event)
        }
        link?.start()
    }

    /// Until there is an event that is wanted.
    func wait<Found>(_ wanted: (GatewayLink.Event) -> Found?) throws -> Found {
        while true {
            if let found = events.lazy.compactMap(wanted).first { return found }
            guard try loop.runTurn(limit: 1, once: true) else {
                throw DidNotHappen(description: "event of the link")
            }
        }
    }

    func token() throws -> String {
        link?.register(ScratchGateway.topic)
        return try wait {
            if case .registered(_, _, let token) = $0 { Hexadecimal.text(token) } else { nil }
        }
    }
}
