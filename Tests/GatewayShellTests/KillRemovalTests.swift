import DeviceLink
import EventLoop
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary
import Wire

/// What a device or an operator was told is so after kill -9 as well.
struct KillRemovalTests {
    private func send(
        _ gateway: ScratchGateway,
        _ token: String,
        _ fields: (name: String, value: String)...
    ) throws -> Outcome {
        Outcome(
            try gateway.client.send(
                "POST",
                "/3/device/" + token,
                [("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer())]
                    + fields,
                body: Array(#"{"aps":{"alert":"x"}}"#.utf8)
            )
        )
    }

    /// A device of the project's own code, in this process.
    private final class Device {
        let loop: EventLoop
        private(set) var link: GatewayLink?
        var events: [GatewayLink.Event] = []
        /// What is done the moment that an event comes.
        var happened: (GatewayLink.Event) -> Void = { _ in }

        init(_ gateway: ScratchGateway) throws {
            loop = try EventLoop()
            link = try GatewayLink(
                loop,
                to: InternetAddress(host: "127.0.0.1", port: gateway.devicePort),
                try TLSContext(
                    clientTrusting: try Files.text(gateway.places.authority),
                    protocols: [LinkFormat.protocolName]
                ),
                key: try Ed25519PrivateKey(),
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

    @Test func `a token of which a device was told that it is no more is 410 for ever`() throws {
        let gateway = try ScratchGateway()
        for _ in 0..<5 {
            try gateway.start()
            let device = try Device(gateway)
            let token = try device.token()
            device.happened = { event in
                if case .unregistered = event { gateway.kill() }
            }
            device.link?.unregister(ScratchGateway.topic)
            try device.wait { event -> Void? in
                if case .unregistered = event { () } else { nil }
            }
            try gateway.start()
            #expect(try send(gateway, token) == Outcome(410, "Unregistered"))
            gateway.kill()
        }
    }

    @Test func `a device that the operator was told is removed stays so`() throws {
        let gateway = try ScratchGateway()
        let tokens = try gateway.register(4)
        let seal = try gateway.sealing()
        for token in tokens {
            try gateway.start()
            let device = try #require(seal.token(Array(token.utf8)[...])).device
            #expect(try gateway.run("devices", "remove", "\(device)").succeeded)
            gateway.kill()
            try gateway.start()
            #expect(try send(gateway, token) == Outcome(410, "Unregistered"))
            gateway.kill()
        }
    }

    @Test func `what a newer push replaced does not come back`() throws {
        let gateway = try ScratchGateway()
        for round in 0..<4 {
            try gateway.start()
            let device = try ScratchDevice(
                gateway,
                options: ["--identity=\(gateway.directory("key\(round)"))"]
            )
            let token = try device.token()
            let collapsing = (name: "apns-collapse-id", value: "game")
            #expect(try send(gateway, token, collapsing, ("apns-priority", "1")) == Outcome(200))
            #expect(try send(gateway, token, collapsing) == Outcome(200))
            gateway.kill()
            let seal = try gateway.sealing()
            let known = try #require(seal.token(Array(token.utf8)[...]))
            let reader = try StoreReader(gateway.places.store)
            #expect(try reader.push(in: SlotKey(known.device, known.app)) == nil)
            #expect(try device.pushes.count == 1)
            try device.end()
        }
    }
}
