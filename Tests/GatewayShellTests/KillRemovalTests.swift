import DeviceLink
import GatewayCore
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What a device or an operator was told is so after kill -9 as well.
struct KillRemovalTests {
    /// Kills of each test; more of them in `make soak`.
    private static let rounds =
        CurrentProcess.environment("OFFSTAGE_ROUNDS").flatMap { Int($0) } ?? 4

    private func send(
        _ gateway: ScratchGateway,
        _ token: String,
        _ fields: (name: String, value: String)...
    ) throws -> Outcome {
        try gateway.push(to: token, fields)
    }

    @Test func `a token of which a device was told that it is no more is 410 for ever`() throws {
        let gateway = try ScratchGateway()
        for _ in 0..<Self.rounds {
            try gateway.start()
            let device = try LinkedDevice(gateway)
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
        let tokens = try gateway.register(Self.rounds)
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
        for round in 0..<Self.rounds {
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
            let reader = try StoreReader(gateway.paths.store)
            #expect(try reader.push(in: SlotKey(known.device, known.app)) == nil)
            #expect(try device.pushes.count == 1)
            try device.end()
        }
    }
}
