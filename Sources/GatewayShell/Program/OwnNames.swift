import CommandTable
import Linux
import TLS

extension GatewayPaths {
    /// What it shows to whoever connects, and the key: for these protocols.
    func context(
        _ protocols: [String],
        suites: [String] = [],
        trustsClients: Bool = false
    ) throws(Failure) -> TLSContext {
        func text(_ path: String) throws(Failure) -> String {
            try failing { try Files.text(path) }
        }
        let (chain, key, anchors) = (
            try text(certificate), try text(certificateKey), try text(authority)
        )
        do throws(TLSError) {
            return try TLSContext(
                server: chain,
                key: key,
                protocols: protocols,
                suites: suites,
                clients: trustsClients ? .optional(anchors: anchors) : .ignored
            )
        } catch {
            let file =
                switch error.operation {
                case TLSContext.keyStep: certificateKey
                case TLSContext.anchorsStep: authority
                default: certificate
                }
            throw Failure(.failed, "\(file): \(error)")
        }
    }

    /// The first certificate of `server.pem`.
    func ownCertificate() throws(Failure) -> Certificate {
        let text = try failing { try Files.text(certificate) }
        return try failing(certificate) { try Certificate(pem: text) }
    }

    /// The first name of the gateway's certificate; nil when it names nobody.
    func certificateName() throws(Failure) -> String? {
        let own = try ownCertificate()
        return own.hostNames.first ?? own.subject(.commonName)
    }

    /// The name that the gateway at `address` shows: on this machine it is our own, whose
    /// certificate may be for its public name only.
    func serverName(at address: InternetAddress) -> String {
        let isHere =
            ["", "localhost", "::1"].contains(address.host) || address.host.hasPrefix("127.")
        guard isHere, let own = try? ownCertificate(),
            !own.covers(address.host), let name = try? certificateName()
        else { return address.host }
        return name
    }
}
