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
        let fingerprint = try fingerprint(text)
        let now = invocation.console.now
        try file.revoke(fingerprint, at: Report.Time(now.wall, utcOffset: now.utcOffset).rawValue)
        try file.write()
        let at = file.revocations.first { $0.fingerprint == fingerprint }?.at ?? ""
        let report = Value.map(["fingerprint": .string(fingerprint), "revoked": .string(at)])
        invocation.show(report) { _ in invocation.console.print("\(fingerprint) is revoked") }
    }

    static func readmit(
        _ text: String,
        _ file: inout KeysFile,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        let fingerprint = try fingerprint(text)
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

    /// Of a certificate that is named by its file, or by its fingerprint as the log has it.
    private static func fingerprint(_ text: String) throws(Failure) -> String {
        let plain = text.lowercased().replacing(":", with: "")
        if KeysFile.isFingerprint(plain) { return plain }
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
        return try failing { Hexadecimal.text(try certificate.fingerprint()) }
    }
}
