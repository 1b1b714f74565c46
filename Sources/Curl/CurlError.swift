import CCurl

/// Why a request ended without its whole answer.
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
    package let kind: Kind
    /// libcurl's own code.
    package let code: Int
    /// In libcurl's own words.
    package let description: String

    package enum Kind: Hashable, Sendable {
        /// No name, no route, no connection, or it broke.
        case connection
        case timedOut
        /// The server's certificate is not trusted for this name.
        case untrusted
        /// What came is not HTTP.
        case badAnswer
        case badURL
        /// Want of memory or descriptors.
        case shortage
        /// The caller did not take what came.
        case refused
    }

    init(_ code: CURLcode, _ words: String) {
        (self.code, kind) = (Int(code.rawValue), Self.kind(of: code))
        let text = unsafe words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
        description = text
    }

    init(_ code: CURLcode, _ kind: Kind, _ description: String) {
        (self.code, self.kind, self.description) = (Int(code.rawValue), kind, description)
    }

    private static func kind(of code: CURLcode) -> Kind {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CERTPROBLEM:
            .untrusted
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING,
            CURLE_TOO_MANY_REDIRECTS, CURLE_HTTP_RETURNED_ERROR, CURLE_RANGE_ERROR:
            .badAnswer
        // CURLE_TOO_LARGE of newer versions: a header line without an end.
        case _ where code.rawValue == 100: .badAnswer
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ENGINE_INITFAILED:
            .shortage
        case CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK: .refused
        // All else is about connections: names, sockets, TLS, HTTP/2.
        default: .connection
        }
    }
}
