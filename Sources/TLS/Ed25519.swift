internal import COpenSSL

/// Half of an Ed25519 key pair that signs.
package struct Ed25519PrivateKey: Sendable {
    let handle: KeyHandle

    /// A new one.
    package init() throws(TLSError) {
        unsafe handle = KeyHandle(owning: try made(copenssl_make_ed25519(), "Ed25519 key"))
    }

    /// The 32 bytes that RFC 8032 calls the private key.
    package init(seed: [UInt8]) throws(TLSError) {
        guard seed.count == 32 else {
            throw TLSError(.input, "Ed25519 key", "has \(seed.count) bytes, not 32")
        }
        let key = unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        unsafe handle = KeyHandle(owning: try made(key, "Ed25519 key", .input))
    }

    package func seed() throws(TLSError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        try check(
            unsafe EVP_PKEY_get_raw_private_key(handle.pointer, &bytes, &count),
            "Ed25519 key"
        )
        return bytes
    }

    package func publicKey() throws(TLSError) -> Ed25519PublicKey {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        try check(
            unsafe EVP_PKEY_get_raw_public_key(handle.pointer, &bytes, &count),
            "Ed25519 key"
        )
        return try Ed25519PublicKey(bytes)
    }

    /// 64 bytes.
    package func sign(_ message: [UInt8]) throws(TLSError) -> [UInt8] {
        try unsafe handle.sign(message, digest: nil)
    }
}

/// Half of an Ed25519 key pair that verifies.
package struct Ed25519PublicKey: Sendable {
    /// 32.
    package let bytes: [UInt8]
    let handle: KeyHandle

    package init(_ bytes: [UInt8]) throws(TLSError) {
        guard bytes.count == 32 else {
            throw TLSError(.input, "Ed25519 key", "has \(bytes.count) bytes, not 32")
        }
        let key = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        unsafe handle = KeyHandle(owning: try made(key, "Ed25519 key", .input))
        self.bytes = bytes
    }

    /// Whether `signature` is this key's of `message`; false for any length but 64.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) throws(TLSError) -> Bool {
        guard signature.count == 64 else { return false }
        return try unsafe handle.verifies(signature, of: message, digest: nil)
    }
}
