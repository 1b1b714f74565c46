import TLS
import Testing

/// Against the vectors of the standards.
struct VectorTests {
    /// RFC 4231, case 2.
    @Test func hmacOfAShortKey() throws {
        let message = Array("what do ya want for nothing?".utf8)
        #expect(
            try Cryptography.hmac(message, key: Array("Jefe".utf8)).hex
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
    }

    @Test func hmacOfNothingWithAnEmptyKey() throws {
        #expect(
            try Cryptography.hmac([], key: []).hex
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        )
    }

    /// RFC 8032, section 7.1, test 2.
    @Test func ed25519OfOneByte() throws {
        let key = try Ed25519PrivateKey(
            seed: [UInt8](hex: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        )
        let publicKey = try key.publicKey()
        #expect(
            publicKey.bytes.hex
                == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
        )
        let signature = [UInt8](
            hex: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
                """
        )
        #expect(try key.sign([0x72]) == signature)
        #expect(try publicKey.verifies(signature, of: [0x72]))
        #expect(try !publicKey.verifies(signature, of: [0x73]))
        #expect(try !publicKey.verifies(Array(signature.dropLast()), of: [0x72]))
    }

    /// RFC 7515, appendix A.3.
    @Test func es256OfAToken() throws {
        let point =
            [4] + [UInt8](base64url: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
            + [UInt8](base64url: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let key = try P256PublicKey(point: point)
        var message = Array("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODA".utf8)
        message += Array("sDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ".utf8)
        let signature = [UInt8](
            base64url: "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKT"
                + "UJqPP3-Kg6NU1Q"
        )
        #expect(try key.verifies(signature, of: message))
        message[3] ^= 1
        #expect(try !key.verifies(signature, of: message))
        #expect(try key.point() == point)
    }

    /// RFC 5297, appendix A.1.
    @Test func sivWithAssociatedData() throws {
        let cipher = try SyntheticCipher(
            key: [UInt8](hex: "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
        )
        let associated = [UInt8](hex: "101112131415161718191a1b1c1d1e1f2021222324252627")
        let plain = [UInt8](hex: "112233445566778899aabbccddee")
        let sealed = try cipher.seal(plain, authenticating: associated)
        #expect(sealed.hex == "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c")
        #expect(cipher.open(sealed, authenticating: associated) == plain)
        #expect(cipher.open(sealed) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x40
            #expect(cipher.open(changed, authenticating: associated) == nil)
        }
        #expect(cipher.open([]) == nil)
        #expect(cipher.open(Array(sealed.prefix(16)), authenticating: associated) == nil)
    }

    @Test func secretsAreComparedWhole() {
        #expect(Cryptography.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!Cryptography.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!Cryptography.areEqual([1, 2, 3], [1, 2]))
        #expect(Cryptography.areEqual([], []))
    }

    @Test func randomBytesDiffer() throws {
        #expect(try Cryptography.randomBytes(32) != Cryptography.randomBytes(32))
        #expect(try Cryptography.randomBytes(0) == [])
    }
}
