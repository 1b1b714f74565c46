import TLS
import TestKit
import Testing

/// Certificates that we make, read by us and by the `openssl` program.
struct CertificateTests {
    let scratch = ScratchDirectory()

    @Test func theProgramVerifiesAServersChain() throws {
        let authority = try Authority("An authority")
        scratch.write(try authority.certificate.pem(), to: "ca.pem")
        scratch.write(
            try authority.server("push.example", "*.push.example", "127.0.0.1").chain,
            to: "s"
        )
        for host in [
            "-verify_hostname push.example", "-verify_hostname a.push.example",
            "-verify_ip 127.0.0.1",
        ] {
            let verified = try Command(
                "sh",
                "-c",
                "openssl verify -x509_strict -purpose sslserver \(host) -CAfile ca.pem s".replacing(
                    in: scratch.path
                )
            ).run()
            #expect(verified.succeeded, "\(verified)")
        }
        let other = try Command(
            "sh",
            "-c",
            "openssl verify -verify_hostname b.a.push.example -CAfile ca.pem s".replacing(
                in: scratch.path
            )
        ).run()
        #expect(!other.succeeded)
    }

    @Test func itsNamesAreReadInTheirOrderWithoutThoseOfMany() throws {
        let chain = try Authority().server("*.a.example", "b.example", "::1", "c.example").chain
        #expect(try Certificate(pem: chain).hostNames == ["b.example", "c.example"])
        let long = (0..<40).map { "name-\($0).push.example.org" }
        var template = CertificateTemplate(.authority, commonName: "x", validity: 0...1)
        #expect(try template.issue(for: try P256PrivateKey()).hostNames == [])
        template = CertificateTemplate(.server, commonName: "x", validity: 0...1)
        template.hosts = long
        #expect(try template.issue(for: try P256PrivateKey()).hostNames == long)
    }

    @Test func whatACertificateSaysIsRead() throws {
        let authority = try Authority()
        var template = CertificateTemplate(
            .client,
            commonName: "Apple Push Services: com.example.App",
            validity: 1_700_000_000...1_800_000_000
        )
        template.userID = "com.example.App"
        let topics: [UInt8] = [0x30, 0x03, 0x0C, 0x01, 0x61]
        template.extensions = [("1.2.840.113635.100.6.3.6", topics)]
        let key = try P256PrivateKey()
        let certificate = try template.issue(for: key, by: (authority.certificate, authority.key))
        let read = try Certificate(pem: certificate.pem())
        #expect(read.subject(.commonName) == "Apple Push Services: com.example.App")
        #expect(read.subject(.userID) == "com.example.App")
        #expect(read.subject(.organizationalUnit) == nil)
        #expect(read.extensionValue("1.2.840.113635.100.6.3.6") == topics)
        #expect(read.extensionValue("1.2.840.113635.100.6.3.4") == nil)
        #expect(read.extensionValue("no number") == nil)
        #expect(read.validity == 1_700_000_000...1_800_000_000)
        scratch.write(try certificate.pem(), to: "c.pem")
        let shown = try Command(
            "openssl",
            "x509",
            "-in",
            scratch("c.pem"),
            "-noout",
            "-fingerprint",
            "-sha256"
        ).run()
        let digits = shown.output.split(separator: "=").last?.filter(\.isHexDigit).lowercased()
        #expect(try digits == read.fingerprint().hex)
    }

    @Test func allOfATextAreReadAndDamageIsTold() throws {
        let (one, two) = (try Authority("one"), try Authority("two"))
        let text =
            try "first\n" + one.certificate.pem() + "then\n" + two.certificate.pem() + "end\n"
        #expect(try Certificate.all(inPEM: text).map { $0.subject(.commonName) } == ["one", "two"])
        #expect(try Certificate.all(inPEM: "").isEmpty)
        let damaged = try one.certificate.pem().split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let cut = (damaged.prefix(2) + damaged.suffix(2)).joined(separator: "\n")
        #expect(throws: TLSError.self) { try Certificate.all(inPEM: cut) }
    }

    @Test func whatCannotStandInACertificateIsRefused() throws {
        var template = CertificateTemplate(.server, commonName: "a", validity: Authority.year)
        template.extensions = [("no number", [1])]
        #expect(throws: TLSError.self) { try template.issue(for: P256PrivateKey()) }
    }
}

extension String {
    fileprivate func replacing(in directory: String) -> String { "cd \(directory) && \(self)" }
}
