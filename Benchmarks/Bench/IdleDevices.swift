import Linux
import TLS
import TestKit

/// What a connected device costs the push gateway while nothing happens.
struct IdleDevices {
    /// As many as the requirement says; a peer's cost does not change with the number.
    static let devices = 15_000
    static let peerDevices = 3000
    /// Keep-alives that are timed, one after the other.
    static let keepAlives = 5000

    func run() throws -> [Figure] {
        let scratch = ScratchDirectory()
        try makeCertificates(scratch)
        let ours = try measure(scratch, Self.devices, kind: "link") {
            try IdleServer(
                Command(Products.path(of: "offstage-bench-links"), "serve", scratch.path)
            )
        }
        let peer = try measure(scratch, Self.peerDevices, kind: "mqtt") {
            try IdleServer(mosquittoIn: scratch)
        }
        return [
            Figure(
                name: "user memory of an idle TLS device (\(Self.devices) of them)",
                unit: "bytes",
                ours: ours.bytes,
                peer: peer.bytes,
                peerName: "mosquitto",
                limit: .atMost(15 * 1024)
            ),
            // One at a time: none is helped by its neighbour.
            Figure(
                name: "processor for 15,000 devices' keep-alives, one each in 5 minutes",
                unit: "%",
                ours: ours.keepAlive * 15_000 / 300 * 100,
                peer: peer.keepAlive * 15_000 / 300 * 100,
                peerName: "mosquitto",
                limit: .atMost(0.5)
            ),
            Figure(
                name: "processor for a device that connects",
                unit: "us",
                ours: ours.connecting * 1e6,
                peer: peer.connecting * 1e6,
                peerName: "mosquitto",
                limit: nil
            ),
        ]
    }

    /// Of one device: bytes of its own memory, and seconds of the server's processor.
    private struct Cost {
        var bytes: Double
        var keepAlive: Double
        var connecting: Double
    }

    private func measure(
        _ scratch: ScratchDirectory,
        _ count: Int,
        kind: String,
        _ start: () throws -> IdleServer
    ) throws -> Cost {
        let server = try start()
        let (memory, time) = (server.anonymousBytes, try server.processorSeconds())
        let holder = try Conversation(
            Command(
                Products.path(of: "offstage-bench-links"),
                "hold",
                scratch.path,
                "\(server.port)",
                "\(count)",
                kind
            )
        )
        try holder.expect("ready")
        let bytes = (server.anonymousBytes - memory) / Double(count)
        let connecting = (try server.processorSeconds() - time) / Double(count)
        let before = try server.processorSeconds()
        let round = min(count, Self.keepAlives)
        try holder.say("\(round)")
        try holder.expect("done")
        let keepAlive = (try server.processorSeconds() - before) / Double(round)
        return Cost(bytes: bytes, keepAlive: keepAlive, connecting: connecting)
    }

    private func makeCertificates(_ scratch: ScratchDirectory) throws {
        let validity: ClosedRange<Int64> = 1_700_000_000...4_000_000_000
        let key = try P256PrivateKey()
        let authority = try CertificateTemplate(
            .authority,
            commonName: "authority",
            validity: validity
        ).issue(for: key)
        var template = CertificateTemplate(.server, commonName: "localhost", validity: validity)
        template.hosts = ["localhost", "127.0.0.1"]
        let own = try P256PrivateKey()
        let certificate = try template.issue(for: own, by: (authority, key))
        scratch.write(try authority.pem(), to: "ca.pem")
        scratch.write(try certificate.pem(), to: "server.pem")
        scratch.write(try own.pem(), to: "server.key")
    }
}
