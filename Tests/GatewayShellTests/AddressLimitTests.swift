import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What one address may have, of the program. A load balancer's header makes addresses.
struct AddressLimitTests {
    private typealias Raw = RawConnection

    private static let proxied = "proxies = 127.0.0.0/8\n"

    private func serving(_ settings: String = proxied) throws -> ScratchGateway {
        let gateway = try ScratchGateway(settings: settings)
        try gateway.start()
        return gateway
    }

    /// PROXY protocol, version 2: a connection of an address.
    private static func header(_ address: [UInt8]) -> [UInt8] {
        let count = address.count
        let rest = address + [UInt8](repeating: 9, count: count) + [0, 1, 0, 2]
        return [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
            + [0x21, count == 4 ? 0x11 : 0x21, 0, UInt8(rest.count)] + rest
    }

    private static func ipv4(_ last: UInt8) -> [UInt8] { header([192, 0, 2, last]) }

    private static func ipv6(network: UInt8, host: UInt8) -> [UInt8] {
        header([0x20, 1, 0x0D, 0xB8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host])
    }

    /// A connection whose request was answered; nil: it was closed first.
    private func served(_ gateway: ScratchGateway, _ header: [UInt8]) -> RawConnection? {
        guard let raw = try? Raw(gateway, header: header) else { return nil }
        raw.send(Raw.preface + Raw.settings + Raw.frame(1, 5, 1, Raw.request("/3/device/00")))
        return raw.frames { $0.type == 0 }.last?.type == 0 ? raw : nil
    }

    private func stat(_ name: String, of gateway: ScratchGateway) throws -> Int64? {
        try ValueJSON.parse(try gateway.run("stats", "--json").output)[name]?.integerValue
    }

    // MARK: Providers

    @Test func `one address has so many connections, others have theirs`() throws {
        let gateway = try serving(Self.proxied + "connections-per-address = 3\n")
        let first = (0..<5).compactMap { _ in served(gateway, Self.ipv4(1)) }
        #expect(first.count == 3)
        #expect(served(gateway, Self.ipv4(2)) != nil)
        #expect(try stat("provider_over_address_total", of: gateway) == 2)
        _ = first.count
    }

    @Test func `of IPv6 each 64 counts as one address`() throws {
        let gateway = try serving(Self.proxied + "connections-per-address = 2\n")
        let first = (0..<4).compactMap {
            served(gateway, Self.ipv6(network: 1, host: UInt8($0)))
        }
        #expect(first.count == 2)
        #expect(served(gateway, Self.ipv6(network: 2, host: 0)) != nil)
        _ = first.count
    }

    @Test func `a connection that ends makes room for the next of its address`() throws {
        let gateway = try serving(Self.proxied + "connections-per-address = 1\n")
        var raw = served(gateway, Self.ipv4(1))
        #expect(raw != nil)
        #expect(served(gateway, Self.ipv4(1)) == nil)
        raw = nil
        // Its end is seen in some turn.
        try Wait.until("room again") {
            served(gateway, Self.ipv4(1)) != nil
        } step: {
        }
    }

    @Test func `handshakes that do not end are few of one address, and hinder no other`() throws {
        let gateway = try serving(Self.proxied + "handshakes-per-address = 2\n")
        let address = InternetAddress(host: "127.0.0.1", port: gateway.port)
        var silent: [Int32] = []
        defer { for number in silent { _ = FileDescriptor(owning: number) } }
        for _ in 0..<4 {
            let socket = try InternetSocket.connect(to: address)
            try socket.writeAll(Self.ipv4(1).span)
            silent.append(socket.release())
        }
        #expect(served(gateway, Self.ipv4(1)) == nil)
        #expect(served(gateway, Self.ipv4(2)) != nil)
        #expect(try stat("provider_over_address_total", of: gateway) == 3)
    }

    @Test func `this machine is exempt unless the settings say otherwise`() throws {
        let usual = try serving("connections-per-address = 1\n")
        let both = [served(usual, []), served(usual, [])]
        #expect(both.allSatisfy { $0 != nil })
        let strict = try serving("connections-per-address = 1\nexempt-networks = none\n")
        let first = served(strict, [])
        #expect(first != nil)
        #expect(served(strict, []) == nil)
    }

    @Test func `the last places are for addresses from which a good token came`() throws {
        let gateway = try serving(Self.proxied + "connections = 16\nproof-time = 1h\n")
        let token = "authorization"
        let good = try #require(served(gateway, Self.ipv4(200)))
        let fields = [(token, try gateway.bearer()), ("apns-topic", ScratchGateway.topic)]
        good.send(Raw.frame(1, 5, 3, Raw.request("/3/device/00", fields)))
        #expect(good.frames { $0.type == 0 && $0.stream == 3 }.last?.stream == 3)
        let strangers = (0..<20).compactMap { served(gateway, Self.ipv4($0)) }
        #expect(strangers.count == 13)
        #expect(served(gateway, Self.ipv4(200)) != nil)
        #expect(try stat("provider_refused_total", of: gateway) == 7)
        _ = strangers.count
    }

    @Test func `who connects as a load balancer must say for whom`() throws {
        let gateway = try serving()
        #expect(served(gateway, []) == nil)
        #expect(served(gateway, Array("PROXY TCP4 192.0.2.1 10.0.0.1 1 2\r\n".utf8)) == nil)
        #expect(served(gateway, Self.ipv4(1)) != nil)
        // From anybody else it is nothing that TLS could be.
        let plain = try serving("")
        #expect(served(plain, Self.ipv4(1)) == nil)
    }

    // MARK: Devices

    private func device(_ gateway: ScratchGateway, _ name: String, _ more: String...) throws
        -> ScratchDevice
    {
        try ScratchDevice(gateway, options: ["--identity=\(gateway.directory(name))"] + more)
    }

    @Test func `new devices of one address are few at once, known ones are welcome`() throws {
        let gateway = try serving(
            "exempt-networks = none\nnew-devices = 2\nnew-devices-refill = 1h\n"
        )
        let first = try device(gateway, "a")
        let second = try device(gateway, "b")
        let tokens = [try first.token(), try second.token()]
        let third = try device(gateway, "c")
        try third.wait(for: "too many come at once")
        #expect(try stat("link_unenrolled_total", of: gateway) == 1)
        try first.end()
        #expect(try device(gateway, "a").token() == tokens[0])
        let list = try ValueJSON.parse(try gateway.run("devices", "--json").output)
        #expect(list.listValue?.count == 2)
    }

    @Test func `new devices say the enrolment secret, known ones need not`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let known = try device(gateway, "known")
        let token = try known.token()
        try known.end()
        gateway.directory.write("enrolment = open sesame\n", to: "gateway.conf")
        gateway.directory.write("open barley\n", to: "wrong.txt")
        gateway.directory.write("open sesame\n", to: "right.txt")
        let barley = "--enrolment-file=\(gateway.directory("wrong.txt"))"
        let sesame = "--enrolment-file=\(gateway.directory("right.txt"))"
        gateway.kill()
        try gateway.start()
        let wrong = try device(gateway, "wrong", barley)
        try wrong.wait(for: "enrolment secret")
        #expect(try device(gateway, "known", barley).token() == token)
        _ = try device(gateway, "right", sesame).token()
        let list = try ValueJSON.parse(try gateway.run("devices", "--json").output)
        #expect(list.listValue?.count == 2)
    }

    @Test func `one address cannot hold all places of the device port`() throws {
        let gateway = try serving(Self.proxied + "link-handshakes-per-address = 2\n")
        let address = InternetAddress(host: "127.0.0.1", port: gateway.devicePort)
        var sockets: [Int32] = []
        defer { for number in sockets { _ = FileDescriptor(owning: number) } }
        for _ in 0..<3 {
            let socket = try InternetSocket.connect(to: address)
            try socket.writeAll(Self.ipv4(1).span)
            sockets.append(socket.release())
        }
        let third = FileDescriptor(owning: sockets.removeLast())
        try Wait.until(readable: third.number, "its end")
        #expect(try third.readAvailable(upTo: 1) == [])
        #expect(try stat("link_over_address_total", of: gateway) == 1)
        // Another address gets in.
        let other = try RawConnection(
            gateway,
            port: gateway.devicePort,
            protocols: ["offstage-link"],
            header: Self.ipv4(2)
        )
        other.send([])
        #expect(!other.isClosed)
    }
}
