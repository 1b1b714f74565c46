import CommandTable
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Several ports for providers at once.
struct ProviderPortsTests {
    private typealias Raw = RawConnection

    /// What a push over a connection to each of the ports is answered.
    private func push(_ gateway: ScratchGateway, _ token: String) throws -> [String] {
        let fields = [
            ("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer()),
        ]
        return try gateway.ports.map { port in
            try ScratchSender(gateway, token, port: port).push(fields)
        }
    }

    @Test func `all are served alike, and all end together`() throws {
        let gateway = try ScratchGateway(settings: "drain-time = 1h\n")
        let token = try gateway.register(1)[0]
        try gateway.start(listen: "127.0.0.1:0,[::1]:0,127.0.0.1:0")
        #expect(Set(gateway.ports).count == 3)
        let fields = [
            ("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer()),
        ]
        var senders: [ScratchSender] = []
        for (index, port) in gateway.ports.enumerated() {
            let sender = try ScratchSender(
                gateway,
                token,
                port: port,
                host: index == 1 ? "::1" : "127.0.0.1"
            )
            #expect(sender.push(fields) == "", "port \(port)")
            senders.append(sender)
        }
        let stats = try gateway.stats()
        #expect(stats["provider_connections"]?.integerValue == 3)
        #expect(stats["pushes_accepted_total"]?.integerValue == 3)
        try gateway.signal(Signal.terminate)
        for (sender, port) in zip(senders, gateway.ports) {
            let notice = sender.raw.frames { $0.type == 6 && $0.flags == 0 }
            #expect(notice.contains { $0.type == 7 }, "port \(port)")
        }
        for port in [gateway.ports[0], gateway.ports[2]] {
            #expect(throws: LinuxError.self, "port \(port)") { _ = try Raw.connect(port) }
        }
        #expect(try gateway.terminate() == .exited(0))
        for sender in senders { #expect(sender.raw.frames().last?.code == 0) }
    }

    @Test func `a limit of an address counts over all of them`() throws {
        let gateway = try ScratchGateway(
            settings: "connections-per-address = 2\nexempt-networks = none\n"
        )
        try gateway.start(listen: "127.0.0.1:0,127.0.0.1:0")
        let open = try gateway.ports.map { try Raw(gateway, port: $0) }
        for raw in open {
            raw.send(Raw.preface + Raw.settings)
            _ = raw.frames { $0.type == 4 && $0.flags == 1 }
        }
        for port in gateway.ports {
            #expect(throws: (any Error).self) { try Raw(gateway, port: port) }
        }
        #expect(try gateway.stats()["provider_over_address_total"]?.integerValue == 2)
        withExtendedLifetime(open) {}
    }

    @Test func `one that cannot be had is named, and nothing is served`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let other = try ScratchGateway()
        let outcome = try GatewayProcess.command(
            other.directory.path,
            listen: "127.0.0.1:0,127.0.0.1:\(gateway.port)"
        ).run()
        #expect(outcome.status == .exited(1), "\(outcome)")
        #expect(
            outcome.errors.contains("listen 127.0.0.1:\(gateway.port): Address already in use")
        )
        #expect(!outcome.output.contains("serving"))
    }

    @Test func `several sockets of a service manager are served`() throws {
        let gateway = try ScratchGateway(settings: "listen = :443; 127.0.0.1:2197\n")
        let token = try gateway.register(1)[0]
        let sockets = try (0..<2).map { _ in
            try InternetListenerBox(InternetAddress(host: "127.0.0.1", port: 0))
        }
        try gateway.start(
            sockets: sockets.map { ("providers", $0.listener.descriptor.number) },
            listen: nil
        )
        #expect(gateway.ports == sockets.map { $0.listener.port })
        #expect(try push(gateway, token) == ["", ""])
        let log = try gateway.directory.read("log1")
        for address in [":443", "127.0.0.1:2197"] {
            let ports = gateway.ports.map(String.init).joined(separator: " and ")
            #expect(
                log.contains(
                    "listen = \(address) is not used: "
                        + "the service manager hands over sockets at ports \(ports)"
                )
            )
        }
    }

    private final class InternetListenerBox {
        let listener: InternetListener
        init(_ address: InternetAddress) throws { listener = try InternetListener(address) }
    }

    // MARK: The setting

    @Test(arguments: [
        (":8443", [":8443"]), (":443; :2197", [":443", ":2197"]),
        ("[::1]:443;10.0.0.7:2197", ["[::1]:443", "10.0.0.7:2197"]),
        (":1, :2 :3", [":1", ":2", ":3"]),
    ])
    func `addresses are listed in any usual way`(text: String, addresses: [String]) throws {
        let scratch = ScratchDirectory()
        scratch.write("listen = \(text)\n", to: "gateway.conf")
        let settings = try GatewaySettings.read(scratch("gateway.conf"))
        #expect(settings.listen.map(\.description) == addresses)
    }

    @Test(arguments: [
        ";", ":443; 2197", ":443; :70000",
        (0...16).map { ":\($0)" }.joined(separator: ";"),
    ])
    func `a list with one that is no address is refused whole`(text: String) throws {
        let scratch = ScratchDirectory()
        scratch.write("listen = \(text)\n", to: "gateway.conf")
        let failure = #expect(throws: Failure.self) {
            try GatewaySettings.read(scratch("gateway.conf"))
        }
        #expect(failure?.message.contains("line 1: listen cannot be") == true)
        let place = ScratchDirectory()
        let outcome = try GatewayProcess.command(place.path, listen: text).run()
        #expect(outcome.status == .exited(2), "\(outcome)")
    }
}
