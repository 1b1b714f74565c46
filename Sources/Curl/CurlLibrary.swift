import CCurl

/// libcurl as a whole.
package enum CurlLibrary {
    /// Loads all that it and its TLS library read or load once: nothing of it is needed later.
    package static func prepare() throws(CurlError) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
            throw CurlError(CURLE_FAILED_INIT, "")
        }
    }

    /// The file and the directory with the system's certificates, as it was built to look for them.
    package static var authorityPaths: [String] {
        unsafe [ccurl_authority_file(), ccurl_authority_directory()].compactMap { path in
            unsafe path.map { unsafe String(cString: $0) }
        }
    }
}

/// Certificates of authorities, one after the other, as text.
@safe
package final class CurlCertificates: Sendable {
    nonisolated(unsafe) let bytes: UnsafeBufferPointer<UInt8>  // Written once, in `init`.

    package init(_ text: [UInt8]) {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
        _ = unsafe buffer.initialize(from: text)
        unsafe bytes = UnsafeBufferPointer(buffer)
    }

    deinit { unsafe bytes.deallocate() }
}
