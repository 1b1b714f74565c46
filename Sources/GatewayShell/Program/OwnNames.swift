import Linux
import TLS

extension GatewayPaths {
    /// The first name of the gateway's certificate; nil when it names nobody.
    func certificateName() throws -> String? {
        let own = try Certificate(pem: try Files.text(certificate))
        return own.hostNames.first ?? own.subject(.commonName)
    }

    /// The name that the gateway at `address` shows: on this machine it is our own, whose
    /// certificate may be for its public name only.
    func serverName(at address: InternetAddress) -> String {
        let isHere =
            ["", "localhost", "::1"].contains(address.host) || address.host.hasPrefix("127.")
        guard isHere, let own = try? Certificate(pem: try Files.text(certificate)),
            !own.covers(address.host), let name = try? certificateName()
        else { return address.host }
        return name
    }
}
