internal import COpenSSL

/// Text in memory that OpenSSL reads objects from, or writes them to.
@safe
struct MemoryText: ~Copyable {
    let handle: OpaquePointer

    /// Empty, to be written.
    init() throws(TLSError) {
        unsafe handle = try made(BIO_new(BIO_s_mem()), "memory")
    }

    /// A copy of `text`, to be read.
    init(_ text: String) throws(TLSError) { try self.init(Array(text.utf8)) }

    init(_ bytes: [UInt8]) throws(TLSError) {
        let memory = unsafe try made(BIO_new(BIO_s_mem()), "memory")
        let written = unsafe BIO_write(memory, bytes, Int32(clamping: bytes.count))
        guard bytes.isEmpty || Int(written) == bytes.count else {
            unsafe BIO_free_all(memory)
            throw TLSError(taking: "memory", .library)
        }
        unsafe handle = memory
    }

    deinit { unsafe BIO_free_all(handle) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var bytes: [UInt8] {
        var start: UnsafePointer<UInt8>?
        let count = unsafe copenssl_bio_contents(handle, &start)
        return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }
}

/// A key as OpenSSL holds it, parsed once.
@safe
final class KeyHandle: @unchecked Sendable {  // never changed, counted atomically
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// A private key that is not encrypted.
    convenience init(privatePEM text: String) throws(TLSError) {
        guard !text.contains("ENCRYPTED") else {
            throw TLSError(.input, TLSContext.keyStep, "it is encrypted; decrypt it first")
        }
        guard text.contains("PRIVATE KEY-----") else {
            throw TLSError(.input, TLSContext.keyStep, "there is none in the text")
        }
        let input = try MemoryText(text)
        // Without a callback OpenSSL would ask for a password at the terminal.
        let key = unsafe PEM_read_bio_PrivateKey(input.handle, nil, { _, _, _, _ in -1 }, nil)
        unsafe self.init(owning: try made(key, TLSContext.keyStep, .input))
    }

    convenience init(publicPEM text: String) throws(TLSError) {
        let input = try MemoryText(text)
        let key = unsafe PEM_read_bio_PUBKEY(input.handle, nil, { _, _, _, _ in -1 }, nil)
        unsafe self.init(owning: try made(key, "public key", .input))
    }

    func privatePEM() throws(TLSError) -> String {
        let output = try MemoryText()
        let result = unsafe PEM_write_bio_PKCS8PrivateKey(
            output.handle,
            pointer,
            nil,
            nil,
            0,
            nil,
            nil
        )
        try check(result, "private key")
        return output.text
    }

    func publicPEM() throws(TLSError) -> String {
        let output = try MemoryText()
        try check(unsafe PEM_write_bio_PUBKEY(output.handle, pointer), "public key")
        return output.text
    }

    /// Whether it is of the kind that OpenSSL calls by this name.
    func isA(_ name: String) -> Bool { unsafe EVP_PKEY_is_a(pointer, name) == 1 }

    func sign(_ message: [UInt8], digest: OpaquePointer?) throws(TLSError) -> [UInt8] {
        let context = try DigestContext()
        try check(
            unsafe EVP_DigestSignInit(context.handle, nil, digest, nil, pointer),
            "sign"
        )
        var count = 128
        var signature = [UInt8](repeating: 0, count: count)
        try check(
            unsafe EVP_DigestSign(context.handle, &signature, &count, message, message.count),
            "sign"
        )
        return Array(signature.prefix(count))
    }

    func verifies(
        _ signature: [UInt8],
        of message: [UInt8],
        digest: OpaquePointer?
    ) throws(TLSError) -> Bool {
        let context = try DigestContext()
        try check(
            unsafe EVP_DigestVerifyInit(context.handle, nil, digest, nil, pointer),
            "verify"
        )
        let result = unsafe EVP_DigestVerify(
            context.handle,
            signature,
            signature.count,
            message,
            message.count
        )
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}

@safe
private struct DigestContext: ~Copyable {
    let handle: OpaquePointer

    init() throws(TLSError) { unsafe handle = try made(EVP_MD_CTX_new(), "digest") }

    deinit { unsafe EVP_MD_CTX_free(handle) }
}
