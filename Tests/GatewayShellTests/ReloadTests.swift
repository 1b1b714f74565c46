import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Files that change while the gateway runs.
struct ReloadTests {
    private func wait(_ gateway: ScratchGateway, _ text: String) throws {
        _ = try Wait.until(file: gateway.directory("log1"), text) { $0.contains(text) }
    }

    /// The pair of a gateway of its own, of the authority of `gateway`.
    private func renewed(_ gateway: ScratchGateway) throws -> (key: String, certificate: String) {
        let own = ScratchDirectory()
        for name in ["ca.pem", "ca.key"] {
            own.write(try Files.text(gateway.directory(name)), to: name)
        }
        let words = [ScratchGateway.program, "init", "--directory=\(own.path)", "--host=localhost"]
        #expect(try Command(words).run().succeeded)
        return (try own.read("server.key"), try own.read("server.pem"))
    }

    /// What a client is shown.
    private func shown(_ gateway: ScratchGateway) throws -> [UInt8] {
        let socket = try InternetSocket.connect(
            to: InternetAddress(host: "127.0.0.1", port: gateway.port)
        )
        let context = try TLSContext(
            clientTrusting: try Files.text(gateway.paths.authority),
            protocols: ["h2"]
        )
        var tls = try TLSSession(context, connecting: socket.number, to: "localhost")
        guard try tls.handshake() == .done else { throw DidNotHappen(description: "handshake") }
        return try tls.peerCertificate?.fingerprint() ?? []
    }

    @Test func `a renewed certificate is served, whichever of its files comes first`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let old = try shown(gateway)
        let (key, certificate) = try renewed(gateway)
        try Files.replace(gateway.paths.certificate, with: certificate)
        try wait(gateway, "the old certificate remains in use")
        #expect(try shown(gateway) == old)
        // Keys of providers do not wait for it.
        #expect(try gateway.run("keys", "add", "LATE000001", "--team=T").succeeded)
        try wait(gateway, "keys were reloaded")
        try Files.replace(gateway.paths.certificateKey, with: key)
        try wait(gateway, "the certificate was reloaded")
        #expect(try shown(gateway) == Certificate(pem: certificate).fingerprint())
    }

    @Test func `keys that are gone with their file are in use until it comes again`() throws {
        let bench = try KeyBench()
        let gateway = bench.gateway
        let keys = try Files.text(gateway.paths.keys)
        try Files.remove(gateway.paths.keys)
        try gateway.signal(Signal.hangUp)
        try wait(gateway, "\(gateway.paths.keys) is gone; nothing was changed")
        let key = try Files.text(gateway.paths.providerKey("OFFSTAGE01"))
        #expect(try bench.push(key, of: "OFFSTAGE01", "TEAM000001") == Outcome(200))
        try Files.replace(gateway.paths.keys, with: keys)
        try wait(gateway, "settings and keys were reloaded")
    }

    @Test func `what counts at the next start only is said`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        gateway.directory.write(
            "listen = :9999\nenvironment = development\n",
            to: "gateway.conf"
        )
        try wait(gateway, "listen: takes effect at the next start")
        try wait(gateway, "environment: takes effect at the next start")
    }

    private static func streams(_ gateway: ScratchGateway) throws -> UInt32? {
        let certificate = try gateway.run("keys", "certificate", ScratchGateway.topic).output
        let raw = try RawConnection(gateway, identity: certificate)
        raw.send(RawConnection.preface + RawConnection.settings)
        let payload = raw.frames { $0.type == 4 }.last?.payload ?? []
        for start in stride(from: 0, to: payload.count - 5, by: 6)
        where payload[start] == 0 && payload[start + 1] == 3 {
            return payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        return nil
    }

    @Test func `the number of streams counts for the next connection`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        #expect(try Self.streams(gateway) == 1000)
        gateway.directory.write("streams = 17\n", to: "gateway.conf")
        try wait(gateway, "reloaded")
        #expect(try Self.streams(gateway) == 17)
    }
}
