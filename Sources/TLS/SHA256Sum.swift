internal import COpenSSL

/// A SHA-256 of bytes that come one after the other.
@safe
package struct SHA256Sum: ~Copyable {
    @unsafe private let context: OpaquePointer?

    package init() {
        unsafe context = EVP_MD_CTX_new()
        unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func add(_ bytes: [UInt8]) {
        unsafe EVP_DigestUpdate(context, bytes, bytes.count)
    }

    /// Its 32 bytes.
    package consuming func finish() -> [UInt8] {
        var sum = [UInt8](repeating: 0, count: 32)
        unsafe EVP_DigestFinal_ex(context, &sum, nil)
        return sum
    }
}
