import TLS
import TestKit
import Testing

/// Keys as texts, against the `openssl` program.
struct KeyTests {
    let scratch = ScratchDirectory()

    @Test func aNewKeySignsAndItsTextsAreRead() throws {
        let key = try P256PrivateKey()
        let copy = try P256PrivateKey(pem: key.pem())
        let message = Array("message".utf8)
        let signature = try copy.sign(message)
        #expect(signature.count == 64)
        #expect(try key.publicKey().verifies(signature, of: message))
        let point = try key.publicKey().point()
        #expect(try P256PublicKey(point: point).verifies(signature, of: message))
        #expect(try !P256PrivateKey().publicKey().verifies(signature, of: message))
    }

    @Test func theProgramReadsOurKeys() throws {
        scratch.write(try P256PrivateKey().pem(), to: "key.pem")
        let shown = try Command("openssl", "pkey", "-in", scratch("key.pem"), "-noout", "-text")
            .run()
        #expect(shown.output.contains("prime256v1"), "\(shown)")
    }

    @Test(arguments: ["pkcs8 -topk8 -nocrypt", "ec"])
    func weReadTheProgramsKeys(form: String) throws {
        let made = try Command(
            "sh",
            "-c",
            "openssl ecparam -name prime256v1 -genkey -noout | openssl \(form)"
        ).run()
        let key = try P256PrivateKey(pem: made.output)
        scratch.write(made.output, to: "key.pem")
        let publicText = try Command("openssl", "pkey", "-in", scratch("key.pem"), "-pubout").run()
        let publicKey = try P256PublicKey(pem: publicText.output)
        #expect(try publicKey.verifies(key.sign([1, 2, 3]), of: [1, 2, 3]))
    }

    @Test(arguments: ["-algorithm RSA", "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"])
    func aKeyOfAnotherKindIsRefused(options: String) throws {
        let made = try Command("sh", "-c", "openssl genpkey \(options)").run()
        #expect(made.succeeded)
        #expect(throws: TLSError(.input, "key", "is not one of the curve P-256")) {
            try P256PrivateKey(pem: made.output)
        }
    }

    /// OpenSSL would ask at the terminal.
    @Test func anEncryptedKeyIsRefusedWithoutAQuestion() throws {
        let made = try Command(
            "sh",
            "-c",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:x"
        ).run()
        #expect(made.output.contains("ENCRYPTED"))
        #expect(kind { _ = try P256PrivateKey(pem: made.output) } == .input)
    }

    @Test(arguments: [
        "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ])
    func whatIsNoKeyIsRefused(text: String) {
        #expect(kind { _ = try P256PrivateKey(pem: text) } == .input)
        #expect(kind { _ = try P256PublicKey(pem: text) } == .input)
    }

    @Test func whatIsNoPointIsRefused() {
        #expect(kind { _ = try P256PublicKey(point: []) } == .input)
        #expect(kind { _ = try P256PublicKey(point: [UInt8](repeating: 4, count: 65)) } == .input)
        #expect(kind { _ = try P256PublicKey(point: [UInt8](repeating: 2, count: 33)) } == .input)
    }

    @Test func ed25519KeysKeepTheirSeed() throws {
        let key = try Ed25519PrivateKey()
        let copy = try Ed25519PrivateKey(seed: key.seed())
        #expect(try copy.publicKey().bytes == key.publicKey().bytes)
        #expect(try key.publicKey().verifies(copy.sign([]), of: []))
        #expect(kind { _ = try Ed25519PrivateKey(seed: [1]) } == .input)
        #expect(kind { _ = try Ed25519PublicKey([1]) } == .input)
    }

    private func kind(_ body: () throws -> Void) -> TLSError.Kind? {
        do {
            try body()
            return nil
        } catch {
            return (error as? TLSError)?.kind
        }
    }
}
