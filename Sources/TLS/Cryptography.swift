internal import COpenSSL

/// Authenticators and random bytes.
package enum Cryptography {
    /// HMAC with SHA-256: 32 bytes.
    package static func hmac(_ message: [UInt8], key: [UInt8]) throws(TLSError) -> [UInt8] {
        guard let length = Int32(exactly: key.count) else {
            throw TLSError(.input, "HMAC", "a key of \(key.count) bytes")
        }
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        // A null key would mean that of the call before.
        let key = key.isEmpty ? [0] : key
        let result = unsafe HMAC(
            EVP_sha256(),
            key,
            length,
            message,
            message.count,
            &code,
            &count
        )
        guard unsafe result != nil else { throw TLSError(taking: "HMAC", .library) }
        return code
    }

    /// Bytes that nobody can guess.
    package static func randomBytes(_ count: Int) throws(TLSError) -> [UInt8] {
        guard let length = Int32(exactly: count), length >= 0 else {
            throw TLSError(.input, "random bytes", "\(count) bytes")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        try check(unsafe RAND_bytes(&bytes, length), "random bytes")
        return bytes
    }

    /// Whether two secrets are equal, in a time that tells only their lengths.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe CRYPTO_memcmp(left, right, left.count) == 0
    }
}

/// Authenticated encryption without a nonce (AES-128-SIV, RFC 5297): equal input gives equal
/// output, which is 16 bytes longer than what was sealed.
package struct SyntheticCipher: Sendable {
    private let key: [UInt8]

    /// `key`: 32 bytes.
    package init(key: [UInt8]) throws(TLSError) {
        guard key.count == 32 else {
            throw TLSError(.input, "AES-SIV key", "has \(key.count) bytes, not 32")
        }
        self.key = key
    }

    /// `plain` must not be empty.
    package func seal(
        _ plain: [UInt8],
        authenticating associated: [UInt8] = []
    ) throws(TLSError) -> [UInt8] {
        guard !plain.isEmpty, Int32(exactly: plain.count) != nil else {
            throw TLSError(.input, "AES-SIV", "\(plain.count) bytes")
        }
        var sealed = [UInt8](repeating: 0, count: plain.count + 16)
        let done = unsafe copenssl_siv_seal(
            key,
            associated,
            associated.count,
            plain,
            plain.count,
            &sealed
        )
        try check(done, "AES-SIV")
        return sealed
    }

    /// Nil when this key did not seal it, or not with `associated`.
    package func open(_ sealed: [UInt8], authenticating associated: [UInt8] = []) -> [UInt8]? {
        guard sealed.count > 16, Int32(exactly: sealed.count) != nil else { return nil }
        var plain = [UInt8](repeating: 0, count: sealed.count - 16)
        let isAuthentic = unsafe copenssl_siv_open(
            key,
            associated,
            associated.count,
            sealed,
            sealed.count,
            &plain
        )
        return isAuthentic == 1 ? plain : nil
    }
}
