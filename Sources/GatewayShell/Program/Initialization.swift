import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

/// `init`: everything that a gateway needs, made once.
struct Initialization {
    let paths: GatewayPaths
    var hosts: [String]
    var keyID: String
    var team: String

    private static let day: Int64 = 86_400

    /// Makes what is not there; what is there stays.
    func run(_ console: Console) throws(Failure) {
        try checkHalves()
        _ = try failing {
            try Files.makeDirectory(paths.directory, permissions: 0o700, parents: true)
        }
        if !Files.exists(paths.authority) { try makeAuthority() }
        if !Files.exists(paths.certificate) { try makeCertificate() }
        if !Files.exists(paths.tokenKey) {
            let bytes = try failing { try Cryptography.randomBytes(32) }
            try failing { try Files.replace(paths.tokenKey, with: Hexadecimal.text(bytes)) }
        }
        if !Files.exists(paths.settings) {
            let lines = GatewaySettings.table.map { "# \($0.name): \($0.meaning)" }
            try failing {
                try Files.replace(
                    paths.settings,
                    with: lines.joined(separator: "\n") + "\n"
                )
            }
        }
        var keys = try KeysFile(changing: paths.keys, console)
        if keys.ids.isEmpty {
            try Self.makeKey(ProviderKey(id: keyID, team: team), paths, &keys)
        }
    }

    /// Some files only work together: a new one would invalidate the other.
    private func checkHalves() throws(Failure) {
        func check(_ file: String, with other: String, _ loss: String) throws(Failure) {
            guard Files.exists(other), !Files.exists(file) else { return }
            throw Failure(
                .failed,
                "\(paths.directory.quoted) has \(Files.name(of: other)), but no "
                    + Files.name(of: file),
                fix: "Take it from a backup. \(loss)"
            )
        }
        try check(
            paths.certificateKey,
            with: paths.certificate,
            "If server.pem is removed, init makes a new pair."
        )
        try check(
            paths.authority,
            with: paths.certificate,
            "If server.pem and server.key are removed, init makes new ones; providers and "
                + "devices must then trust the new ca.pem."
        )
        try check(
            paths.tokenKey,
            with: paths.store,
            "If gateway.db is removed, init makes a new token.key; all device tokens are then "
                + "invalid."
        )
    }

    /// Fails when there was a gateway already, and its keys are not what was asked for.
    func check(_ options: Options) throws(Failure) {
        guard options["key-id"] != nil || options["team"] != nil else { return }
        let keys = try KeysFile(paths.keys).keys().map(\.key)
        guard !keys.contains(where: { $0.id == keyID && $0.team == team }) else { return }
        throw Failure(
            .failed,
            "there is already a gateway in \(paths.directory.quoted), without a key \(keyID) of "
                + "team \(team)",
            fix: "offstage-gateway keys add \(keyID) --team=\(team)"
        )
    }

    /// By which providers reach it, as it stands in an address: the first that was asked for, else
    /// what the certificate says. One that was there before may be for others.
    func host(_ asked: [String]) throws(Failure) -> String {
        let own = try paths.ownCertificate()
        let name = try paths.certificateName() ?? "localhost"
        if let other = asked.first(where: { !own.covers($0) }) {
            throw Failure(
                .failed,
                "the certificate in \(paths.directory) is for \(name), not for \(other.quoted)",
                fix: "Without server.pem and server.key there, init makes one that is."
            )
        }
        let host = asked.first { !$0.hasPrefix("*") } ?? own.hostNames.first ?? "localhost"
        return host.contains(":") ? "[\(host)]" : host
    }

    /// A key for a provider: the public half goes into the file of keys, the private one into a
    /// file of its own, as providers' programs want it.
    static func makeKey(
        _ key: ProviderKey,
        _ paths: GatewayPaths,
        _ keys: inout KeysFile
    ) throws(Failure) {
        let pair = try failing { try P256PrivateKey() }
        try keys.add(key, try failing { try pair.publicKey() })
        let pem = try failing { try pair.pem() }
        try failing { try Files.replace(paths.providerKey(key.id), with: pem) }
        try keys.write()
    }

    private func validity(days: Int64) -> ClosedRange<Int64> {
        let now = Clocks.now().wall.nanoseconds / 1_000_000_000
        return (now - 3600)...(now + days * Self.day)
    }

    private func makeAuthority() throws(Failure) {
        try failing {
            let key = try P256PrivateKey()
            let template = CertificateTemplate(
                .authority,
                commonName: "Offstage push gateway",
                validity: validity(days: 3650)
            )
            let certificate = try template.issue(for: key)
            try Files.replace(paths.authorityKey, with: try key.pem())
            try Files.replace(paths.authority, with: try certificate.pem(), permissions: 0o644)
        }
    }

    private func makeCertificate() throws(Failure) {
        try failing {
            let key = try P256PrivateKey()
            var template = CertificateTemplate(
                .server,
                commonName: hosts.first ?? "localhost",
                validity: validity(days: 825)
            )
            template.hosts = hosts
            let certificate = try template.issue(for: key, by: try issuer())
            let chain = try certificate.pem() + (try Files.text(paths.authority))
            try Files.replace(paths.certificateKey, with: try key.pem())
            try Files.replace(paths.certificate, with: chain, permissions: 0o644)
        }
    }

    private func issuer() throws -> (certificate: Certificate, key: P256PrivateKey) {
        let (certificate, key) = (
            try Files.text(paths.authority), try Files.text(paths.authorityKey)
        )
        return (
            try failing(paths.authority) { try Certificate(pem: certificate) },
            try failing(paths.authorityKey) { try P256PrivateKey(pem: key) }
        )
    }

    /// A certificate with which a provider may push to a topic instead of signing tokens, and its
    /// key, in one PEM text.
    func makeClientCertificate(_ topic: String) throws(Failure) -> String {
        try failing {
            let key = try P256PrivateKey()
            var template = CertificateTemplate(
                .client,
                commonName: "Push Services: \(topic)",
                validity: validity(days: 398)
            )
            template.userID = topic
            let certificate = try template.issue(for: key, by: try issuer())
            return try certificate.pem() + (try key.pem())
        }
    }
}
