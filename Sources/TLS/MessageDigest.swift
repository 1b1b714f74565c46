internal import COpenSSL

/// A digest of bytes that come one after the other.
@safe
package struct MessageDigest: ~Copyable {
    package enum Algorithm: Sendable {
        /// It protects nothing; servers ask for it.
        case md5
        case sha256
    }

    @unsafe private let context: OpaquePointer?

    package init(_ algorithm: Algorithm) {
        unsafe context = EVP_MD_CTX_new()
        switch algorithm {
        case .md5: unsafe EVP_DigestInit_ex(context, EVP_md5(), nil)
        case .sha256: unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
        }
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func add(_ bytes: [UInt8]) {
        unsafe EVP_DigestUpdate(context, bytes, bytes.count)
    }

    package mutating func add(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }
    }

    /// Of what has come so far, as `finish` has it; more may come.
    package func soFar() -> [UInt8] {
        let copy = MessageDigest(.sha256)
        // It takes the algorithm with the rest.
        guard unsafe EVP_MD_CTX_copy_ex(copy.context, context) == 1 else { return [] }
        return copy.finish()
    }

    /// Its bytes; none if this OpenSSL does not have the algorithm.
    package consuming func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard unsafe EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { return [] }
        return Array(bytes.prefix(Int(count)))
    }

    /// Of a text, in small hexadecimal digits.
    package static func digits(_ algorithm: Algorithm, _ text: String) -> String {
        var digest = MessageDigest(algorithm)
        digest.add(Array(text.utf8))
        return digits(of: digest.finish())
    }

    /// Bytes in small hexadecimal digits.
    package static func digits(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let spelled = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: spelled, as: UTF8.self)
    }
}
