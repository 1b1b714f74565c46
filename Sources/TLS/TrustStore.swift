internal import COpenSSL

/// The authorities by which servers' certificates are judged, parsed once for all connections.
@safe
package final class TrustStore {
    private let handle: OpaquePointer

    /// `certificates`: in PEM; throws if one of them cannot be read. `directory`: of files that are
    /// named by the hash of their subject, read when they are asked for.
    package init(certificates: [UInt8], directory: String?) throws(TLSError) {
        unsafe handle = try made(X509_STORE_new(), "authorities")
        let text = try MemoryText(certificates)
        guard unsafe copenssl_trust(handle, text.handle, directory) == 1 else {
            throw TLSError(taking: "authorities", .input)
        }
    }

    deinit { unsafe X509_STORE_free(handle) }

    /// `context`: an `SSL_CTX` that another library has made, for one connection.
    package func apply(to context: UnsafeMutableRawPointer) {
        unsafe SSL_CTX_set1_cert_store(OpaquePointer(context), handle)
    }
}
