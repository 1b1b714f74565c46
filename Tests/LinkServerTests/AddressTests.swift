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

/// Devices by their address, as load balancers tell it.
struct AddressTests {
    private func world(_ change: (inout LinkLimits) -> Void = { _ in }) throws -> LinkWorld {
        var limits = LinkLimits()
        // Nobody has been trying for long enough to make room.
        limits.handshakeTime = .hours(1)
        change(&limits)
        let world = try LinkWorld(limits)
        world.server.policy.proxies = AddressPolicy.loopback
        return world
    }

    private static func header(_ last: UInt8) -> [UInt8] {
        [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 12, 192, 0, 2, last]
            + [127, 0, 0, 1, 0, 1, 0, 2]
    }

    /// Connects, says its header, and no more.
    private func silent(_ world: LinkWorld, _ last: UInt8) throws -> FileDescriptor {
        let socket = try InternetSocket.connect(to: world.address)
        try socket.writeAll(Self.header(last).span)
        try socket.setNonBlocking(true)
        return socket
    }

    private func isClosed(_ socket: borrowing FileDescriptor) -> Bool {
        (try? socket.readAvailable(upTo: 1)) == []
    }

    /// A device of an address, from its connection to its welcome.
    private func welcomed(
        _ world: LinkWorld,
        _ last: UInt8,
        _ key: Ed25519PrivateKey
    ) throws -> HostilePeer {
        let peer = try HostilePeer(world, header: Self.header(last))
        try peer.send(try peer.hello(key, challenge: peer.challenge()).bytes)
        try peer.read { $0.count == 2 }
        guard case .welcome = peer.frames.last else { throw DidNotHappen(description: "welcome") }
        return peer
    }

    /// It comes twice: from then on its address is a good one.
    private func makeGood(_ world: LinkWorld, _ last: UInt8) throws -> Ed25519PrivateKey {
        let key = try Ed25519PrivateKey()
        for _ in 0..<2 { _ = try welcomed(world, last, key) }
        try world.until("its end") { world.server.door.count == 0 }
        return key
    }

    @Test func aHeaderIsReadBeforeTLS() throws {
        let world = try world()
        _ = try makeGood(world, 1)
        #expect(world.server.door.counters.welcomed == 2)
        #expect(world.server.door.counters.badHeaders == 0)
    }

    @Test func whoSaysNoneIsClosedAndCounted() throws {
        let world = try world()
        let socket = try InternetSocket.connect(to: world.address)
        try socket.writeAll([22, 3, 1, 0].span)
        try world.until("the end") { world.server.door.counters.badHeaders == 1 }
        try Wait.until(readable: socket.number)
        #expect(world.server.door.count == 0)
    }

    @Test func eachClientBehindABalancerHasItsOwnShare() throws {
        let world = try world { $0.handshakesPerAddress = 2 }
        let first = try silent(world, 1)
        let second = try silent(world, 1)
        try world.until("both") { world.server.door.count == 2 }
        let third = try silent(world, 1)
        try world.until("the refusal") { world.server.door.counters.overAddress == 1 }
        try Wait.until(readable: third.number)
        let isGone = isClosed(third)
        #expect(isGone)
        let other = try silent(world, 2)
        try world.until("another address") { world.server.door.count == 3 }
        let areGone = [isClosed(first), isClosed(second), isClosed(other)]
        #expect(areGone == [false, false, false])
    }

    @Test func whoWasGoodPassesTheLineOfStrangers() throws {
        let world = try world { $0.handshakes = 8 }
        let key = try makeGood(world, 1)
        var strangers: [Int32] = []
        defer { for number in strangers { _ = FileDescriptor(owning: number) } }
        for last in 10..<20 as Range<UInt8> {
            strangers.append(try silent(world, last).release())
        }
        try world.until("the line") { world.server.door.lineCount == 3 }
        _ = try welcomed(world, 1, key)
        #expect(world.server.door.lineCount == 3)
        // The next of the line begin when places are free.
        while let number = strangers.popLast() { _ = FileDescriptor(owning: number) }
        try world.until("places") {
            world.server.door.lineCount == 0 && world.server.door.count == 0
        }
        #expect(world.server.door.counters.displaced == 0)
    }

    @Test func whoeverHasWaitedLongestInALineThatIsTooLongGoes() throws {
        let world = try world { $0.handshakes = 8 }
        _ = try makeGood(world, 1)
        var strangers: [Int32] = []
        defer { for number in strangers { _ = FileDescriptor(owning: number) } }
        // Seven have places, eight are in the line, and one more comes.
        for last in 10..<26 as Range<UInt8> {
            strangers.append(try silent(world, last).release())
        }
        try world.until("the end of one") { world.server.door.counters.displaced == 1 }
        #expect(world.server.door.lineCount == 8)
        #expect(world.server.door.count == 15)
    }

    @Test func oneAddressHasSoManyLinks() throws {
        let world = try world { $0.perAddress = 2 }
        let keys = try (0..<2).map { _ in try Ed25519PrivateKey() }
        let peers = try keys.map { try welcomed(world, 1, $0) }
        let third = try silent(world, 1)
        try world.until("the refusal") { world.server.door.counters.overAddress == 1 }
        try Wait.until(readable: third.number)
        let isGone = isClosed(third)
        #expect(isGone)
        let other = try welcomed(world, 2, try Ed25519PrivateKey())
        #expect(peers.allSatisfy { !$0.isClosed } && !other.isClosed)
    }

    @Test func theLastPlacesAreForDevicesThatAreKnown() throws {
        let world = try world { $0.connections = 8 }
        let known = try Ed25519PrivateKey()
        _ = try welcomed(world, 1, known)
        try world.until("its end") { world.server.door.count == 0 }
        let peers = try (0..<7).map { try welcomed(world, 10 + $0, try Ed25519PrivateKey()) }
        let stranger = try HostilePeer(world, header: Self.header(30))
        let hello = try stranger.hello(
            try Ed25519PrivateKey(),
            challenge: stranger.challenge()
        )
        try stranger.send(hello.bytes)
        try stranger.read()
        #expect(stranger.ending == .busy)
        #expect(world.server.door.counters.unenrolled == 1)
        let back = try welcomed(world, 1, known)
        #expect(!back.isClosed && peers.allSatisfy { !$0.isClosed })
    }

    @Test func aGuessOfTheSecretIsSoonNotLookedAt() throws {
        let world = try world {
            $0.enrolment = "open sesame"
            $0.newDevices = 3
            $0.newDeviceRefill = .hours(1)
        }
        let endings = try (0..<5).map { _ in
            let peer = try HostilePeer(world, header: Self.header(1))
            let hello = try peer.hello(try Ed25519PrivateKey(), challenge: peer.challenge())
            try peer.send(hello.bytes)
            try peer.read()
            return peer.ending
        }
        #expect(endings == [.notEnrolled, .notEnrolled, .notEnrolled, .busy, .busy])
    }
}
