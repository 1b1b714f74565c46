import ExchangeCore
import Linux
import TestKit
import Testing
import Vocabulary
import Wire

@testable import NetworkShell

struct AuthoritiesTests {
    private let scratch = ScratchDirectory()

    @Test func `they are parsed once, and again when their file has changed`() throws {
        try makeCertificate("one")
        let authorities = Authorities(file: scratch("one"), directory: nil, own: nil)
        let first = try #require(authorities.current())
        #expect(authorities.current() === first)
        try makeCertificate("other")
        try Files.rename(scratch("other"), to: scratch("one"))
        let second = try #require(authorities.current())
        #expect(second !== first)
        #expect(authorities.current() === second)
    }

    @Test func `without their file nobody is trusted, until it is there`() throws {
        let authorities = Authorities(file: scratch("one"), directory: nil, own: nil)
        #expect(authorities.current() == nil)
        try makeCertificate("one")
        #expect(authorities.current() != nil)
    }

    @Test func `a directory is read anew when it has changed`() throws {
        try makeCertificate("own")
        try Files.makeDirectory(scratch("directory"), permissions: 0o755)
        // The clock of file systems does not tell apart what follows at once.
        try OpenDirectory(scratch.path).setModified(1_000, of: "directory")
        let authorities = Authorities(
            file: nil,
            directory: "/no/such/place:" + scratch("directory"),
            own: scratch("own")
        )
        let first = try #require(authorities.current())
        #expect(authorities.current() === first)
        scratch.write("", to: "directory/one")
        let second = try #require(authorities.current())
        #expect(second !== first && authorities.current() === second)
    }

    @Test func `a certificate that is none is not left out`() throws {
        try makeCertificate("one")
        var lines = try scratch.read("one").split(separator: "\n")
        lines[1] = "AAAAAAAAAAAAAAAA"
        scratch.write(lines.joined(separator: "\n") + "\n", to: "broken")
        #expect(Authorities(file: scratch("broken"), directory: nil, own: nil).current() == nil)
    }

    @Test func `a directory of authorities counts as much`() throws {
        let server = try Nginx()
        try Files.makeDirectory(scratch("directory"), permissions: 0o755)
        server.put("file", VersionedObject(version: 1, size: 10))
        let certificate = scratch("directory/certificate")
        // The process that looks is nobody's.
        for path in [scratch.path, scratch("directory")] { try Files.setPermissions(path, 0o755) }
        let text = try Files.text(server.certificate)
        scratch.write(text, to: "directory/certificate")
        let hash = try Command("openssl", "x509", "-noout", "-hash", "-in", certificate).run()
        let name = "directory/\(hash.output.prefix { $0 != "\n" }).0"
        scratch.write(text, to: name)
        try Files.setPermissions(scratch(name), 0o644)
        let environments = [["SSL_CERT_DIR=" + scratch("directory")], []]
        let isTrusted = try environments.map { environment in
            let peer = try NetworkPeer(environment: environment)
            let id = try peer.begin(ExchangeOrder(url: server.url("file")), to: scratch("file"))
            return try peer.end(id).end.isComplete
        }
        #expect(isTrusted == [true, false])
    }

    private func makeCertificate(_ name: String) throws {
        try SelfSignedCertificate.make(at: scratch(name), key: scratch("key"), name: name)
    }
}
