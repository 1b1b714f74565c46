import TLS
import Testing

struct DigestTests {
    /// As `md5sum` and `sha256sum` have it.
    @Test func `a digest of a text is in hexadecimal digits`() {
        #expect(MessageDigest.digits(.md5, "") == "d41d8cd98f00b204e9800998ecf8427e")
        let digits = String(repeating: "1234567890", count: 8)
        #expect(MessageDigest.digits(.md5, digits) == "57edf4a22be3c955ac49da2e2107b67a")
        #expect(
            MessageDigest.digits(.sha256, "abc")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test func `a digest can be had on the way, and goes on`() {
        var digest = MessageDigest(.sha256)
        let ab = Array("ab".utf8)
        digest.add(ab.span)
        _ = digest.soFar()
        digest.add(Array("c".utf8))
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let (soFar, whole) = (digest.soFar(), digest.finish())
        #expect(MessageDigest.digits(of: soFar) == abc && MessageDigest.digits(of: whole) == abc)
    }
}
