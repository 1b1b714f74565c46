import DeviceLink
import GatewayCore
import GatewayShell
import TLS
import TestKit
import Testing
import Vocabulary
import Wire

/// Devices of ours at a gateway of ours, over TLS.
struct LinkServerTests {
    @Test func aDeviceRegistersAndIsPushedTo() throws {
        let world = try LinkWorld()
        let device = try world.device()
        device.link?.register("org.example.App")
        device.link?.start()
        try world.until("a token") { device.tokens.count == 1 }
        #expect(device.events.first == .online(isNew: true))
        let token = try #require(device.tokens["org.example.App"])
        #expect(token.count == 32)

        _ = try world.push(to: token)
        try world.until("the push") { device.pushes.count == 1 }
        #expect(device.pushes[0].payload == Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
        #expect(device.pushes[0].type == 1)
        #expect(device.pushes[0].priority == 10)
        #expect(!device.pushes[0].isRider)
        try world.until("the acknowledgement") { world.node.gateway.counters.delivered == 1 }
    }

    @Test func aDeviceIsKnownAgainByItsKeyAndGetsWhatWasKept() throws {
        let world = try LinkWorld()
        let key = try Ed25519PrivateKey()
        let first = try world.device(key)
        first.link?.register("org.example.App")
        first.link?.start()
        try world.until("a token") { first.tokens.count == 1 }
        let token = try #require(first.tokens["org.example.App"])
        first.link?.stop()
        try world.until("the end of the link") { world.server.door.count == 0 }
        _ = try world.push(to: token, "{\"n\":1}")
        let newest = try world.push(to: token, "{\"n\":2}")
        try world.until("both pushes stored") { world.node.isSettled }

        let second = try world.device(key)
        second.link?.register("org.example.App")
        second.link?.start()
        try world.until("the newest push") { second.pushes.count == 1 }
        #expect(second.pushes[0].payload == Array("{\"n\":2}".utf8))
        #expect(second.pushes[0].isRider)
        #expect(second.events.first == .online(isNew: false))
        try world.until("its token") { second.tokens.count == 1 }
        #expect(second.tokens["org.example.App"] == token)
        try world.until("the empty slot") {
            world.node.gateway.counters.delivered == 1 && world.node.isSettled
        }
        #expect(newest.number > 0)
    }

    @Test func anotherKeyIsAnotherDevice() throws {
        let world = try LinkWorld()
        let (one, two) = (try world.device(), try world.device())
        for device in [one, two] {
            device.link?.register("org.example.App")
            device.link?.start()
        }
        try world.until("both tokens") { one.tokens.count == 1 && two.tokens.count == 1 }
        #expect(one.tokens != two.tokens)
        _ = try world.push(to: try #require(two.tokens["org.example.App"]))
        try world.until("the push") { two.pushes.count == 1 }
        #expect(one.pushes.isEmpty)
    }

    @Test func whatIsNotAcknowledgedComesAgain() throws {
        let world = try LinkWorld()
        let key = try Ed25519PrivateKey()
        let first = try world.device(key, acknowledging: false)
        first.link?.register("org.example.App")
        first.link?.start()
        try world.until("a token") { first.tokens.count == 1 }
        _ = try world.push(to: try #require(first.tokens["org.example.App"]))
        try world.until("the push") { first.pushes.count == 1 }
        first.link?.stop()
        try world.until("the end of the link") { world.server.door.count == 0 }

        let second = try world.device(key)
        second.link?.start()
        try world.until("the push again") { second.pushes.count == 1 }
        #expect(second.pushes[0].payload == first.pushes[0].payload)
    }

    @Test func aNewerLinkEndsTheOlderOne() throws {
        let world = try LinkWorld()
        let key = try Ed25519PrivateKey()
        let (one, two) = (try world.device(key), try world.device(key))
        one.link?.start()
        try world.until("the first link") { one.isOnline }
        two.link?.start()
        try world.until("the end of the first") { one.events.contains(.offline(.superseded)) }
        try world.until("the second link") { two.isOnline }
    }

    @Test func anUnregisteredAppsTokenIsGone() throws {
        let world = try LinkWorld()
        let device = try world.device()
        device.link?.register("org.example.App")
        device.link?.start()
        try world.until("a token") { device.tokens.count == 1 }
        let token = try #require(device.tokens["org.example.App"])
        device.link?.unregister("org.example.App")
        try world.until("the answer") {
            device.events.contains(.unregistered(topic: "org.example.App"))
        }
        let address = try #require(
            world.node.seal.open(token).flatMap { DeviceToken(bytes: $0) }
        )
        guard case .refused(.unregistered, let timestamp) = world.node.gateway.refusal(of: address)
        else {
            Issue.record("the token is taken")
            return
        }
        #expect(timestamp != nil)
    }

    @Test func anAddressForAWebPushSenderIsSealedForItAndItsApp() throws {
        let world = try LinkWorld()
        world.node.origin = "https://push.example.org"
        let device = try world.device()
        let sender = try P256PrivateKey().publicKey().point()
        let (bound, free) = (
            LinkClient.Subscription(topic: "org.example.App", key: sender),
            LinkClient.Subscription(topic: "org.example.App")
        )
        device.link?.subscribe(bound)
        device.link?.subscribe(free)
        device.link?.register("org.example.App")
        device.link?.start()
        try world.until("two addresses and a token") {
            device.endpoints.count == 2 && device.tokens.count == 1
        }
        let token = try #require(device.tokens["org.example.App"])
        let plain = try #require(world.node.seal.open(token))
        let start = "https://push.example.org/push/"
        for (subscription, key) in [(bound, sender), (free, [])] {
            let endpoint = try #require(device.endpoints[subscription])
            #expect(endpoint.hasPrefix(start))
            let text = Array(endpoint.utf8.dropFirst(start.utf8.count))
            let address = try #require(world.node.seal.address(text[...]))
            #expect(address.token == DeviceToken(bytes: plain))
            #expect(address == WebPushAddress(address.token, key: key))
            // Neither is what the other interface takes.
            #expect(world.node.seal.open(Base64.decode(text) ?? []) == nil)
        }
        #expect(world.node.seal.address(Array(Base64.urlText(token).utf8)[...]) == nil)
    }

    @Test func aKeyThatIsNoPointOfItsCurveIsRefused() throws {
        let world = try LinkWorld()
        let device = try world.device()
        let key = [4] + [UInt8](repeating: 1, count: 64)
        device.link?.subscribe(LinkClient.Subscription(topic: "org.example.App", key: key))
        device.link?.start()
        try world.until("the answer") {
            device.events.contains(.refused(topic: "org.example.App", .badKey))
        }
    }

    @Test func tooManyAppsAreRefused() throws {
        var limits = GatewayLimits()
        limits.appsPerDevice = 2
        let world = try LinkWorld(LinkLimits(), limits)
        let device = try world.device()
        for app in ["a", "b", "c"] { device.link?.register(app) }
        device.link?.start()
        try world.until("three answers") {
            device.tokens.count == 2
                && device.events.contains(.refused(topic: "c", .tooManyApps))
        }
    }

    @Test func aDrainedGatewaySaysWhenToComeBack() throws {
        let world = try LinkWorld()
        let device = try world.device()
        device.link?.start()
        try world.until("the link") { device.isOnline }
        world.server.drain(after: .hours(1))
        try world.until("the end") { device.events.contains(.offline(.shutdown)) }
        #expect(world.server.door.count == 0)
        #expect(world.server.port == nil)
    }

    @Test func aStormIsSpreadAndEverybodyComesIn() throws {
        var limits = LinkLimits()
        limits.welcomesPerSecond = 4
        let world = try LinkWorld(limits)
        let devices = try (0..<12).map { _ in try world.device() }
        for device in devices { device.link?.start() }
        try world.until("all of them") { devices.allSatisfy(\.isOnline) }
        #expect(world.server.door.counters.sentAway > 0)
    }

    @Test func oneConnectionMoreThanMayBeIsSentAway() throws {
        var limits = LinkLimits()
        limits.connections = 1
        let world = try LinkWorld(limits)
        let (one, two) = (try world.device(), try world.device())
        one.link?.start()
        try world.until("the first") { one.isOnline }
        two.link?.start()
        try world.until("the refusal") { world.server.door.counters.sentAway == 1 }
        #expect(one.isOnline)
    }

    @Test func aGatewayThatNobodyVouchesForGetsNoHello() throws {
        let (world, other) = (try LinkWorld(), try LinkWorld())
        let device = LinkWorld.Device(true)
        device.link = try GatewayLink(
            world.loop,
            to: world.address,
            other.clientContext,
            key: try Ed25519PrivateKey(),
            LinkClient(condition: LinkCondition(), seed: 1)
        ) { [unowned device] link, event in device.happened(event, link) }
        device.link?.start()
        try world.until("the problem") {
            device.events.contains {
                if case .untrusted(.unknownAuthority) = $0 { true } else { false }
            }
        }
        #expect(world.server.door.counters.welcomed == 0)
    }
}
