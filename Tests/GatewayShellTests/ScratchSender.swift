import GatewayShell
import Linux
import TLS
import TestKit
import Vocabulary

/// One provider's connection, request after request.
final class ScratchSender {
    let raw: RawConnection
    private let token: String
    private(set) var stream: UInt32 = 1

    /// `port`: one of several; else the first.
    init(
        _ gateway: ScratchGateway,
        _ token: String,
        certificate: String? = nil,
        port: UInt16? = nil,
        host: String = "127.0.0.1"
    ) throws {
        raw = try RawConnection(gateway, port: port, host: host, identity: certificate)
        self.token = token
        raw.send(RawConnection.preface + RawConnection.settings)
    }

    /// Asks and waits for nothing.
    func ask(_ fields: [(String, String)]) {
        let path = "/3/device/" + token
        raw.send(RawConnection.frame(1, 4, stream, RawConnection.request(path, fields)))
        raw.send(RawConnection.frame(0, 1, stream, Array("{}".utf8)))
        stream += 2
    }

    /// The reason of the answer; empty when it was 200.
    func push(_ fields: [(String, String)]) -> String {
        let own = stream
        ask(fields)
        let last = raw.frames { $0.stream == own && $0.flags & 1 != 0 }.last
        guard let last, last.type == 0 else { return last == nil ? "nothing" : "" }
        return (try? ValueJSON.parse(last.payload))?["reason"]?.stringValue ?? "?"
    }
}

/// Client certificates as Apple makes them, of a gateway's authority.
enum ScratchCertificate {
    typealias Extension = (number: String, value: [UInt8])

    static let production: Extension = ("1.2.840.113635.100.6.3.2", [5, 0])

    static func list(_ topics: [String]) -> Extension {
        let texts: [UInt8] = topics.flatMap { (topic: String) -> [UInt8] in
            [0x0C, UInt8(topic.utf8.count)] + Array(topic.utf8)
        }
        return ("1.2.840.113635.100.6.3.6", [0x30, UInt8(texts.count)] + texts)
    }

    /// With its key, in one PEM text.
    static func make(
        _ gateway: ScratchGateway,
        _ topic: String,
        _ extensions: [Extension]
    ) throws -> String {
        let key = try P256PrivateKey()
        var template = CertificateTemplate(
            .client,
            commonName: topic,
            validity: 1_700_000_000...4_000_000_000
        )
        template.userID = topic
        template.extensions = extensions
        let issuer = (
            try Certificate(pem: try Files.text(gateway.paths.authority)),
            try P256PrivateKey(pem: try Files.text(gateway.paths.authorityKey))
        )
        return try template.issue(for: key, by: issuer).pem() + key.pem()
    }
}
