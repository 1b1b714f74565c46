import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Quotas of keys, and certificates that are revoked, while the gateway runs.
struct KeyLimitTests {
    private typealias Sender = ScratchSender

    private static let topic = ScratchGateway.topic
    private static let quotaSpent = Outcome(429, "TooManyRequests")
    private static let key = "OFFSTAGE01"
    private static let team = "TEAM000001"

    @Test func `a key with a quota sends no more than that, and others do`() throws {
        let bench = try KeyBench()
        try bench.change("keys", "quota", Self.key, "2/300d")
        try bench.change("keys", "add", "OTHER00001", "--team=TEAM000001")
        #expect(try bench.push(of: Self.key, Self.team) == Outcome(200))
        // What is refused for another reason is not counted.
        try bench.change("topics", "set", Self.key, "org.example.Other")
        #expect(try bench.push(of: Self.key, Self.team) == Outcome(403, "InvalidProviderToken"))
        try bench.change("topics", "any", Self.key)
        #expect(try bench.push(of: Self.key, Self.team) == Outcome(200))
        #expect(try bench.push(of: Self.key, Self.team) == Self.quotaSpent)
        #expect(try bench.push(of: "OTHER00001", Self.team) == Outcome(200))
        let list = try ValueJSON.parse(try bench.gateway.run("keys", "--json").output)
        #expect(list.listValue?.first?["quota"] == "2/300d")
        // A reload for another reason gives nothing back; a new quota is whole.
        try bench.change("keys", "remove", "OTHER00001")
        #expect(try bench.push(of: Self.key, Self.team) == Self.quotaSpent)
        try bench.change("keys", "quota", Self.key, "1/300d")
        #expect(try bench.push(of: Self.key, Self.team) == Outcome(200))
        #expect(try bench.push(of: Self.key, Self.team) == Self.quotaSpent)
        try bench.change("keys", "quota", Self.key, "none")
        #expect(try bench.push(of: Self.key, Self.team) == Outcome(200))
    }

    /// Who made it may have named it so that a terminal obeys.
    @Test func `a foreign certificate's name is printed without what a terminal obeys`() throws {
        let gateway = try ScratchGateway()
        let key = try P256PrivateKey()
        let template = CertificateTemplate(
            .authority,
            commonName: "Push\u{1B}[2J Services",
            validity: 1_700_000_000...2_000_000_000
        )
        let file = gateway.directory("foreign.pem")
        try Files.replace(file, with: try template.issue(for: key).pem())
        let said = try gateway.run("keys", "revoke", file).output
        #expect(said.contains("\nsubject: Push\u{FFFD}[2J Services\n"), "\(said.debugDescription)")
        // JSON has the name as it is, in characters that no terminal obeys.
        let report = try gateway.run("keys", "revoke", file, "--json").output
        #expect(!report.contains("\u{1B}"))
        #expect(try ValueJSON.parse(report)["subject"] == "Push\u{1B}[2J Services")
    }

    @Test func `a revoked certificate is refused, also on a connection that is open`() throws {
        let bench = try KeyBench()
        let gateway = bench.gateway
        let made = try gateway.run("keys", "certificate", Self.topic).output
        let file = gateway.directory("provider.pem")
        try Files.replace(file, with: made)
        let sender = try Sender(gateway, bench.token, certificate: made)
        let other = try Sender(
            gateway,
            bench.token,
            certificate: try gateway.run("keys", "certificate", Self.topic).output
        )
        let fields = [("apns-topic", Self.topic)]
        #expect(sender.push(fields) == "")
        let said = try bench.change("keys", "revoke", file).output
        let fingerprint = Hexadecimal.text(try Certificate(pem: made).fingerprint())
        #expect(
            said == """
                \(fingerprint) is revoked
                subject: Push Services: \(Self.topic)
                topics: \(Self.topic)

                """
        )
        #expect(sender.push(fields) == "BadCertificate")
        let anew = try Sender(gateway, bench.token, certificate: made)
        #expect(anew.push(fields) == "BadCertificate")
        #expect(other.push(fields) == "")
        let list = try ValueJSON.parse(try gateway.run("keys", "revoked", "--json").output)
        #expect(list.listValue?.map { $0["fingerprint"] } == [.string(fingerprint)])
        // The keys are listed as before.
        #expect(try gateway.run("keys").output.split(separator: "\n").count == 2)
        try bench.change("keys", "readmit", fingerprint.uppercased())
        #expect(try Sender(gateway, bench.token, certificate: made).push(fields) == "")
    }

    @Test(arguments: [
        (["keys", "quota", "OFFSTAGE01", "many"], "\"many\" is not a quota"),
        (["keys", "quota", "OFFSTAGE01", "0/1d"], "is not a quota"),
        (["keys", "quota", "OFFSTAGE01", "5/0s"], "is not a quota"),
        (["keys", "quota", "NOBODY", "5/1d"], "there is no key \"NOBODY\""),
        (["keys", "quota", "OFFSTAGE01"], "keys quota: "),
        (["keys", "revoke", "/no/such"], "there is no file \"/no/such\""),
        (["keys", "revoke", "/dev/null"], "\"/dev/null\" holds no certificate"),
        (["keys", "readmit", String(repeating: "0", count: 64)], "is not revoked"),
    ])
    func `what is wrong is said`(arguments: [String], said: String) throws {
        let gateway = try ScratchGateway()
        let outcome = try Command(
            [ScratchGateway.program] + arguments + ["--directory=\(gateway.directory.path)"]
        ).run()
        #expect(!outcome.succeeded)
        #expect(outcome.errors.contains(said), "\(outcome.errors)")
    }

    @Test func `the gateway's own certificates are not revoked, by file or fingerprint`() throws {
        let gateway = try ScratchGateway()
        for (path, name) in [
            (gateway.paths.authority, "authority"), (gateway.paths.certificate, "server"),
        ] {
            let fingerprint = try Certificate(pem: Files.text(path)).fingerprint()
            for word in [path, Hexadecimal.text(fingerprint)] {
                let outcome = try Command(
                    ScratchGateway.program,
                    "keys",
                    "revoke",
                    word,
                    "--directory=\(gateway.directory.path)"
                ).run()
                #expect(!outcome.succeeded && outcome.output.isEmpty)
                #expect(outcome.errors.contains("gateway's \(name) "), "\(outcome.errors)")
            }
        }
        #expect(try gateway.run("keys", "revoked", "--json").output == "[]\n")
    }

    @Test func `a quota fills evenly`() {
        var bucket = RefillBucket(size: 1_000_000_000, refill: .milliseconds(1))
        var now = BootTime(nanoseconds: 0)
        for _ in 0..<3 { _ = bucket.take(at: now) }
        #expect(bucket.left == 999_999_997)
        now = now + .milliseconds(2)
        _ = bucket.isEmpty(at: now)
        #expect(bucket.left == 999_999_999)
        now = now + .days(400)
        _ = bucket.isEmpty(at: now)
        #expect(bucket.left == 1_000_000_000)
    }
}
