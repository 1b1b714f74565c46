internal import COpenSSL

/// Half of a P-256 key pair that signs (ES256: ECDSA with SHA-256). Parsed once, kept parsed.
package struct P256PrivateKey: Sendable {
    let handle: KeyHandle

    /// A new one.
    package init() throws(TLSError) {
        unsafe handle = KeyHandle(owning: try made(copenssl_make_p256(), "P-256 key"))
    }

    /// An unencrypted PEM text: PKCS #8 as in `.p8` files, or the older EC form.
    package init(pem: String) throws(TLSError) {
        handle = try KeyHandle(privatePEM: pem)
        try handle.checkIsP256()
    }

    /// PKCS #8.
    package func pem() throws(TLSError) -> String { try handle.privatePEM() }

    package func publicKey() throws(TLSError) -> P256PublicKey {
        try P256PublicKey(pem: handle.publicPEM())
    }

    /// 64 bytes: r and s, as JWS has them.
    package func sign(_ message: [UInt8]) throws(TLSError) -> [UInt8] {
        let der = try unsafe handle.sign(message, digest: EVP_sha256())
        var raw = [UInt8](repeating: 0, count: 64)
        guard unsafe copenssl_signature_from_der(der, der.count, &raw) == 64 else {
            throw TLSError(taking: "sign", .library)
        }
        return raw
    }
}

/// Half of a P-256 key pair that verifies.
package struct P256PublicKey: Sendable {
    let handle: KeyHandle

    package init(pem: String) throws(TLSError) {
        handle = try KeyHandle(publicPEM: pem)
        try handle.checkIsP256()
    }

    /// 65 bytes: 4, x and y (SEC 1, uncompressed).
    package init(point: [UInt8]) throws(TLSError) {
        guard point.count == 65, point[0] == 4 else {
            throw TLSError(.input, "public key", "not an uncompressed point of 65 bytes")
        }
        let key = unsafe copenssl_p256_from_point(point, point.count)
        unsafe handle = KeyHandle(owning: try made(key, "public key", .input))
    }

    package func pem() throws(TLSError) -> String { try handle.publicPEM() }

    /// 65 bytes: 4, x and y.
    package func point() throws(TLSError) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 65)
        var count = 0
        try check(
            unsafe EVP_PKEY_get_octet_string_param(handle.pointer, "pub", &point, 65, &count),
            "public key"
        )
        guard count == 65, point[0] == 4 else {
            throw TLSError(.input, "public key", "is not held as an uncompressed point")
        }
        return point
    }

    /// Whether `signature` (r and s, 64 bytes) is this key's of `message`; false for any other
    /// length.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) throws(TLSError) -> Bool {
        guard signature.count == 64 else { return false }
        var der = [UInt8](repeating: 0, count: 80)
        let count = unsafe copenssl_signature_to_der(signature, &der, der.count)
        guard count > 0 else { return false }
        return try unsafe handle.verifies(
            Array(der.prefix(Int(count))),
            of: message,
            digest: EVP_sha256()
        )
    }
}

extension KeyHandle {
    fileprivate func checkIsP256() throws(TLSError) {
        var name = [CChar](repeating: 0, count: 32)
        var count = 0
        guard isA("EC"), unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1,
            String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                == "prime256v1"
        else {
            ERR_clear_error()
            throw TLSError(.input, "key", "is not one of the curve P-256")
        }
    }
}
