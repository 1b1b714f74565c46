import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

/// `keys certificate`, `revoke`, `readmit` and `revoked`: client certificates of providers.
extension GatewayProgram {
    static func makeCertificate(
        _ topic: String,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        let work = Initialization(paths: invocation.paths, hosts: [], keyID: "", team: "")
        let topic = try KeysFile.topics([topic])[0]
        let pem = try work.makeClientCertificate(topic)
        invocation.show(.map(["topic": .string(topic), "certificate": .string(pem)])) { _ in
            invocation.console.print(pem)
        }
    }

    static func revoke(
        _ text: String,
        _ file: inout KeysFile,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        let (fingerprint, certificate) = try named(text)
        try checkOwn(fingerprint, invocation.paths)
        let topics = certificate.map { ProviderCertificate($0)?.topics ?? [] }
        let now = invocation.console.now
        try file.revoke(fingerprint, at: Report.Time(now.wall, utcOffset: now.utcOffset).rawValue)
        try file.write()
        let at = file.revocations.first { $0.fingerprint == fingerprint }?.at ?? ""
        var report: ValueMap = ["fingerprint": .string(fingerprint), "revoked": .string(at)]
        if let topics {
            report["subject"] = certificate?.subject(.commonName).map { .string($0) } ?? .null
            report["topics"] = .list(topics.map { .string($0) })
        }
        invocation.show(.map(report)) { report in
            let console = invocation.console
            console.print("\(fingerprint) is revoked")
            // Whoever made the certificate chose both.
            if let subject = report["subject"]?.stringValue {
                console.print("subject: \(subject.printable)")
            }
            guard let topics else { return }
            let list = topics.isEmpty ? "none" : topics.joined(separator: ", ")
            console.print("topics: \(list.printable)")
        }
    }

    /// The gateway's own certificates are shown by no provider: to revoke them does nothing.
    private static func checkOwn(
        _ fingerprint: String,
        _ paths: GatewayPaths
    ) throws(Failure) {
        for (path, name, fix) in [
            (
                paths.authority, "authority",
                "To trust an authority no longer, take its certificate out of that file."
            ),
            (paths.certificate, "server", "To renew it, replace server.pem and server.key."),
        ] {
            guard let text = try? Files.text(path),
                let certificates = try? Certificate.all(inPEM: text)
            else { continue }
            let own = certificates.contains {
                (try? $0.fingerprint()).map { Hexadecimal.text($0) } == fingerprint
            }
            guard own else { continue }
            throw Failure(
                .failed,
                "that is the certificate of the gateway's \(name) (\(path)), not a provider's",
                fix: fix
            )
        }
    }

    static func readmit(
        _ text: String,
        _ file: inout KeysFile,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        let fingerprint = try named(text).fingerprint
        guard try file.readmit(fingerprint) else {
            throw Failure(.notFound, "\(fingerprint) is not revoked")
        }
        try file.write()
    }

    static func listRevoked(_ file: KeysFile, _ invocation: GatewayInvocation) {
        let rows = file.revocations
        let report = Value.list(
            rows.map {
                .map(["fingerprint": .string($0.fingerprint), "revoked": .string($0.at)])
            }
        )
        invocation.show(report) { _ in
            var table = Table("REVOKED", "FINGERPRINT")
            for row in rows { table.add(row.at, row.fingerprint) }
            table.print(invocation.console)
        }
    }

    /// A certificate that is named by its file, or by its fingerprint as the log has it; nil: only
    /// that is known.
    private static func named(
        _ text: String
    ) throws(Failure) -> (fingerprint: String, certificate: Certificate?) {
        let plain = text.lowercased().replacing(":", with: "")
        if KeysFile.isFingerprint(plain) { return (plain, nil) }
        guard !Files.isMissing(text) else {
            throw Failure(
                .notFound,
                "there is no file \(text.quoted)",
                fix: "Name the certificate's file (PEM), or its SHA-256 fingerprint (64 digits)."
            )
        }
        let pem = try failing { try Files.text(text) }
        guard let certificate = try? Certificate(pem: pem) else {
            throw Failure(.failed, "\(text.quoted) holds no certificate in PEM form")
        }
        return (try failing { Hexadecimal.text(try certificate.fingerprint()) }, certificate)
    }
}
