import CCurl

/// libcurl as a whole.
package enum CurlLibrary {
    /// Loads all that it and its TLS library read or load once: nothing of it is needed later.
    package static func prepare() throws(CurlError) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
            throw CurlError(CURLE_FAILED_INIT, "")
        }
    }

    /// The system's certificates of authorities, as it was built to look for them.
    package static var authorityFile: String? { unsafe text(ccurl_authority_file()) }
    /// Those of them that are named by the hash of their subject.
    package static var authorityDirectory: String? { unsafe text(ccurl_authority_directory()) }

    private static func text(_ path: UnsafePointer<CChar>?) -> String? {
        unsafe path.map { unsafe String(cString: $0) }
    }
}
