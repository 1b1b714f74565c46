import DeviceLink
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary
import Wire

/// What hostile devices can say. The right reason, nothing kept, the others undisturbed.
struct BadPeerTests {
    @Test(
        arguments: [
            ([0x42, 0x01, 0x01], EndReason.outOfOrder),
            ([0x46, 0x01, 0x0A], .outOfOrder),
            ([0x41, 0x00], .malformed),
            ([0x41, 0x7F, 0xFF], .malformed),
            ([0x41, 0xC0], .malformed),
            ([0x07, 0x00], .malformed),
            ([0xFF, 0x00], .malformed),
            ([0x42, 0x02, 0x40, 0x01], .malformed),
        ] as [([UInt8], EndReason)]
    )
    func aFrameThatMayNotBeEndsTheLinkWithItsReason(bytes: [UInt8], reason: EndReason) throws {
        let world = try LinkWorld()
        let peer = try HostilePeer(world)
        _ = try peer.challenge()
        try peer.send(bytes)
        try peer.read()
        #expect(peer.ending == reason)
        #expect(world.server.door.count == 0)
        #expect(world.server.door.counters.welcomed == 0)
    }

    @Test func aHelloOfAnotherConnectionProvesNothing() throws {
        let world = try LinkWorld()
        let key = try Ed25519PrivateKey()
        let victim = try HostilePeer(world)
        let hello = try victim.hello(key, challenge: victim.challenge())
        try victim.send(hello.bytes)
        try victim.read { $0.count == 2 }
        guard case .welcome = victim.frames[1] else {
            Issue.record("no welcome")
            return
        }
        // The very same bytes, on a connection of one's own.
        let thief = try HostilePeer(world)
        _ = try thief.challenge()
        try thief.send(hello.bytes)
        try thief.read()
        #expect(thief.ending == .badSignature)
        #expect(world.server.door.count == 1)
    }

    @Test func aChallengeOfAnotherConnectionProvesNothing() throws {
        let world = try LinkWorld()
        let key = try Ed25519PrivateKey()
        let (one, two) = (try HostilePeer(world), try HostilePeer(world))
        let other = try one.challenge()
        _ = try two.challenge()
        try two.send(try two.hello(key, challenge: other).bytes)
        try two.read()
        #expect(two.ending == .badSignature)
    }

    @Test func nobodyIsTakenForTheOwnerOfAnotherKey() throws {
        let world = try LinkWorld()
        let (own, others) = (try Ed25519PrivateKey(), try Ed25519PrivateKey())
        let peer = try HostilePeer(world)
        guard case .hello(var hello) = try peer.hello(own, challenge: peer.challenge()) else {
            Issue.record("no hello")
            return
        }
        hello.key = try others.publicKey().bytes
        try peer.send(DeviceFrame.hello(hello).bytes)
        try peer.read()
        #expect(peer.ending == .badSignature)
    }

    @Test func aSecondHelloEndsTheLink() throws {
        let world = try LinkWorld()
        let peer = try HostilePeer(world)
        let hello = try peer.hello(try Ed25519PrivateKey(), challenge: peer.challenge()).bytes
        try peer.send(hello + hello)
        try peer.read()
        #expect(peer.ending == .outOfOrder)
        #expect(world.server.door.count == 0)
    }

    @Test func anotherProtocolGetsNothing() throws {
        let world = try LinkWorld()
        let peer = try HostilePeer(world, [])
        try peer.read()
        #expect(peer.frames.isEmpty)
        #expect(world.server.door.count == 0)
        #expect(throws: TLSError.self) { _ = try HostilePeer(world, ["h2"]) }
    }

    @Test func whatIsNotOnesOwnCannotBeReached() throws {
        let world = try LinkWorld()
        let device = try world.device(acknowledging: false)
        device.link?.register("org.example.App")
        device.link?.start()
        try world.until("a token") { device.tokens.count == 1 }
        let token = try #require(device.tokens["org.example.App"])
        _ = try world.push(to: token)
        try world.until("the push") { device.pushes.count == 1 }

        let peer = try HostilePeer(world)
        let hello = try peer.hello(try Ed25519PrivateKey(), challenge: peer.challenge())
        try peer.send(hello.bytes)
        try peer.read { $0.count == 2 }
        // The other's sending, its app, its registration.
        let sending = device.pushes[0].sending
        let app = device.pushes[0].app
        let mine: [DeviceFrame] = [
            .acknowledge(Array(0...UInt64(sending + 20))), .decline(sending), .opened(app),
            .keepAlive(.init(next: 60, budgets: [.init(app: app, left: 0)])),
            .unregister(topic: "org.example.App"),
        ]
        try peer.send(mine.flatMap(\.bytes))
        try peer.read { $0.contains(.unregistered(topic: "org.example.App")) }
        #expect(world.node.gateway.counters.delivered == 0)
        let address = try #require(world.node.seal.open(token).flatMap { DeviceToken(bytes: $0) })
        #expect(world.node.gateway.refusal(of: address) == nil)
        #expect(device.isOnline)
    }

    @Test func aPeerThatSendsWithoutEndIsHeldToItsFrames() throws {
        let world = try LinkWorld()
        let device = try world.device()
        device.link?.start()
        try world.until("the other device") { device.isOnline }
        let peer = try HostilePeer(world)
        _ = try peer.challenge()
        // The head of the longest frame there may be, and then the same byte for ever.
        try peer.send([0x42, 0x43, 0xFF])
        try peer.send([UInt8](repeating: 1, count: 100_000))
        try peer.read()
        #expect(peer.isClosed)
        #expect(world.server.door.count == 1)
        #expect(device.isOnline)
    }

    @Test func aPeerThatNeverReadsIsCutOff() throws {
        var limits = LinkLimits()
        limits.queue = 8 << 10
        limits.largestQueue = 64 << 10
        limits.frames = 1_000_000
        let world = try LinkWorld(limits)
        let peer = try HostilePeer(world)
        let hello = try peer.hello(try Ed25519PrivateKey(), challenge: peer.challenge())
        try peer.send(hello.bytes)
        try peer.read { $0.count == 2 }
        let question = DeviceFrame.unregister(topic: String(repeating: "a", count: 200)).bytes
        let many = (0..<50).flatMap { _ in question }
        // Each is answered; the answers are not read.
        try world.until("the end of the link") {
            _ = try? peer.send(many)
            return world.server.door.count == 0
        }
        #expect(world.server.door.counters.tooSlow == 1)
    }

    @Test func aPeerThatAsksWithoutEndIsToldToComeBack() throws {
        var limits = LinkLimits()
        limits.frames = 20
        let world = try LinkWorld(limits)
        let peer = try HostilePeer(world)
        let hello = try peer.hello(try Ed25519PrivateKey(), challenge: peer.challenge())
        try peer.send(hello.bytes)
        try peer.read { $0.count == 2 }
        let acknowledging = DeviceFrame.acknowledge([1]).bytes
        try peer.send((0..<100).flatMap { _ in acknowledging })
        let register = DeviceFrame.register(topic: "org.example.App", renewing: true).bytes
        try peer.send((0..<100).flatMap { _ in register })
        try peer.read()
        #expect(peer.ending == .busy)
        #expect(world.server.door.counters.tooBusy == 1)
    }

    @Test func silentConnectionsMakeRoomForDevices() throws {
        var limits = LinkLimits()
        limits.handshakes = 2
        let world = try LinkWorld(limits)
        let silent = try InternetSocket.connect(to: world.address)
        let other = try InternetSocket.connect(to: world.address)
        try world.until("the silent ones") { world.server.door.count == 2 }
        let device = try world.device()
        device.link?.start()
        try world.until("the device") { device.isOnline }
        // Not because their time was over.
        #expect(world.server.door.counters.displaced == 1)
        #expect(world.server.door.counters.tooSlow == 0)
        #expect(silent.number != other.number)
    }

    @Test func noiseInsteadOfTLSDisturbsNobody() throws {
        let world = try LinkWorld()
        let device = try world.device()
        device.link?.start()
        try world.until("the device") { device.isOnline }
        let noise = try InternetSocket.connect(to: world.address)
        try noise.writeAll("GET / HTTP/1.1\r\n\r\n")
        try world.until("the end of the noise") {
            world.server.door.counters.accepted == 2 && world.server.door.count == 1
        }
        #expect(device.isOnline)
    }
}
