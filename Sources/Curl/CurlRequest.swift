import CCurl

/// One request and its answer. Used on one thread only.
@safe
package final class CurlRequest {
    /// What is asked, and how.
    package struct Options: Sendable {
        package var url: String
        package var method = Method.get
        /// `NAME: VALUE`.
        package var fields: [String] = []
        package var userAgent = ""
        /// Without a byte for so many seconds it ends as `timedOut`.
        package var timeoutSeconds = 60
        package var connectTimeoutSeconds = 30
        /// Bytes a second; 0: no limit.
        package var rateLimit: Int64 = 0
        /// A URL; nil: what the environment says; empty: none.
        package var proxy: String?
        /// The client's own; nil: none.
        package var certificate: ClientCertificate?
        /// It shares its connection with no other request: HTTP/1.1.
        package var isAlone = false

        package init(url: String) { self.url = url }
    }

    package enum Method: Hashable, Sendable {
        case get, head
        /// Another method without a body.
        case plain(String)
        /// A method that has a body, of so many bytes. `isOnce`: not even a connection that turns
        /// out to be dead makes libcurl send it again.
        case sending(String, count: Int64, isOnce: Bool)
    }

    /// What the client shows to a server that asks for it, in PEM.
    package struct ClientCertificate: Sendable {
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            (self.certificate, self.key) = (certificate, key)
        }
    }

    /// What becomes of bytes that have come.
    package enum Verdict: Sendable {
        case taken
        /// They come again after `resume`.
        case wait
        /// The request ends with `CurlError.Kind.refused`.
        case refuse
    }

    /// A line of a head, without its end; an empty one ends the head. Heads of interim answers and
    /// trailers come too.
    package var headLine: (String) -> Verdict = { _ in .taken }
    package var body: (Span<UInt8>) -> Verdict = { _ in .taken }
    /// Fills the next bytes of the request's body; returns how many. Nil: the request ends with
    /// `CurlError.Kind.refused`.
    package var fill: (inout MutableSpan<UInt8>) -> Int? = { _ in 0 }
    /// A connection is there, over which the request is about to go out.
    package var goesOut: () -> Void = {}

    /// Has a new connection trust whom it is to trust; false: that cannot be said now, and the
    /// request ends with `CurlError.Kind.shortage`.
    package var trust: (CurlTLSContext) -> Bool = { _ in true }

    /// Bytes of the answer's body have come.
    private var hasBody = false

    @unsafe let handle: UnsafeMutableRawPointer
    private var list: UnsafeMutablePointer<curl_slist>?
    /// libcurl writes its words into it.
    private let words: UnsafeMutablePointer<CChar>

    /// Throws for want of memory.
    package init(_ options: Options) throws(CurlError) {
        guard let easy = unsafe curl_easy_init() else {
            throw CurlError(CURLE_OUT_OF_MEMORY, "")
        }
        unsafe handle = easy
        unsafe words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe words.pointee = 0
        for field in options.fields {
            guard let longer = unsafe curl_slist_append(list, field) else {
                throw CurlError(CURLE_OUT_OF_MEMORY, "")
            }
            unsafe list = longer
        }
        try set(options)
        try setCallbacks()
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(list)
        unsafe words.deallocate()
    }

    private func set(_ options: Options) throws(CurlError) {
        try set(CURLOPT_URL, options.url)
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, list))
        try set(CURLOPT_USERAGENT, options.userAgent)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        if let proxy = options.proxy { try set(CURLOPT_PROXY, proxy) }
        if let certificate = options.certificate { try set(certificate) }
        // A connection that may be shared is waited for. What it speaks is known only when it has
        // answered, unless TLS says so: without TLS one that takes its time would keep all waiting.
        let mayShare = options.url.hasPrefix("https://") && !options.isAlone
        let version = mayShare ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_HTTP09_ALLOWED, 0),
            (CURLOPT_HTTP_VERSION, Int(version)), (CURLOPT_PIPEWAIT, mayShare ? 1 : 0),
            (CURLOPT_BUFFERSIZE, options.receivedAtOnce), (CURLOPT_LOW_SPEED_LIMIT, 1),
            (CURLOPT_LOW_SPEED_TIME, options.timeoutSeconds),
            (CURLOPT_CONNECTTIMEOUT, options.connectTimeoutSeconds),
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), (CURLOPT_TCP_KEEPALIVE, 1),
        ]
        for (option, number) in numbers { try set(option, number) }
        try set(options.method, sentAtOnce: options.sentAtOnce)
        try check(
            unsafe ccurl_set_offset(
                handle,
                CURLOPT_MAX_RECV_SPEED_LARGE,
                Int(options.rateLimit)
            )
        )
        try check(
            unsafe ccurl_set_offset(
                handle,
                CURLOPT_MAX_SEND_SPEED_LARGE,
                Int(options.rateLimit)
            )
        )
    }

    private func set(_ certificate: ClientCertificate) throws(CurlError) {
        try set(CURLOPT_SSLCERT_BLOB, bytesOf: certificate.certificate)
        try set(CURLOPT_SSLKEY_BLOB, bytesOf: certificate.key)
        // Nobody is there who could be asked for one.
        try set(CURLOPT_KEYPASSWD, "")
    }

    private func set(_ option: CURLoption, bytesOf text: String) throws(CurlError) {
        let bytes = Array(text.utf8)
        let code = unsafe bytes.withUnsafeBufferPointer {
            unsafe ccurl_set_copied_bytes(handle, option, $0.baseAddress, $0.count)
        }
        try check(code)
    }

    private func set(_ method: Method, sentAtOnce: Int) throws(CurlError) {
        switch method {
        case .get: break
        case .head: try set(CURLOPT_NOBODY, 1)
        case .plain(let name): try set(CURLOPT_CUSTOMREQUEST, name)
        case .sending(let name, let count, let isOnce):
            try set(CURLOPT_UPLOAD, 1)
            try set(CURLOPT_CUSTOMREQUEST, name)
            try set(CURLOPT_UPLOAD_BUFFERSIZE, sentAtOnce)
            try check(
                unsafe ccurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, Int(count))
            )
            // A kept connection may turn out to be dead: nobody could tell whether the body has
            // arrived. Without a way back in it, libcurl repeats none; an empty one it would.
            if isOnce { try set(CURLOPT_FRESH_CONNECT, 1) }
        }
    }

    /// libcurl would read and parse the system's certificates for each connection.
    private func setTrust(_ me: UnsafeMutableRawPointer) throws(CurlError) {
        let own = [
            CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH,
        ]
        for option in own { try check(unsafe ccurl_set_pointer(handle, option, nil)) }
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_SSL_CTX_DATA, me))
        try check(
            unsafe ccurl_set_context_preparer(handle) { _, tls, context in
                guard let tls = unsafe tls, let context = unsafe context else {
                    return CURLE_SSL_CACERT_BADFILE
                }
                let request = unsafe Unmanaged<CurlRequest>.fromOpaque(context)
                    .takeUnretainedValue()
                let isWell = request.trust(unsafe CurlTLSContext(pointer: tls))
                return isWell ? CURLE_OK : CURLE_SSL_CACERT_BADFILE
            }
        )
    }

    private func setCallbacks() throws(CurlError) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe setTrust(me)
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, words))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, me))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, me))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, me))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_READDATA, me))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, me))
        try check(
            unsafe ccurl_set_announcer(handle) { context, _, _, _, _ in
                guard let context = unsafe context else { return CURL_PREREQFUNC_ABORT }
                let request = unsafe Unmanaged<CurlRequest>.fromOpaque(context)
                    .takeUnretainedValue()
                request.goesOut()
                return CURL_PREREQFUNC_OK
            }
        )
        try check(
            unsafe ccurl_set_writer(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
                unsafe CurlRequest.filled(bytes, size * count, context)
            }
        )
        try check(
            unsafe ccurl_set_writer(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                unsafe CurlRequest.took(bytes, size * count, context) { request, bytes in
                    request.hasBody = true
                    return request.body(bytes)
                }
            }
        )
        try check(
            unsafe ccurl_set_writer(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                unsafe CurlRequest.took(bytes, size * count, context) { request, line in
                    request.headLine(CurlRequest.text(of: line))
                }
            }
        )
    }

    /// Without the end of the line; what is no UTF-8 is Latin-1, as HTTP once had it.
    private static func text(of line: Span<UInt8>) -> String {
        var count = line.count
        while count > 0, line[count - 1] == 13 || line[count - 1] == 10 { count -= 1 }
        let text = line.extracting(first: count)
        if let valid = try? UTF8Span(validating: text) { return String(copying: valid) }
        return String(String.UnicodeScalarView(text.indices.map { UnicodeScalar(text[$0]) }))
    }

    /// What libcurl is answered.
    private static func took(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?,
        _ body: (CurlRequest, Span<UInt8>) -> Verdict
    ) -> Int {
        guard let context = unsafe context else { return 0 }
        let request = unsafe Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        let verdict = unsafe buffer.withMemoryRebound(to: UInt8.self) {
            unsafe body(request, $0.span)
        }
        switch verdict {
        case .taken: return count
        case .wait: return ccurl_write_pause
        // Any other number than `count`, which may be 0.
        case .refuse: return count + 1
        }
    }

    /// How many bytes libcurl is given.
    private static func filled(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let context = unsafe context else { return ccurl_read_abort }
        let request = unsafe Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
        let filled = unsafe buffer.withMemoryRebound(to: UInt8.self) {
            var span = unsafe $0.mutableSpan
            return request.fill(&span)
        }
        return filled ?? ccurl_read_abort
    }

    /// After `Verdict.wait`.
    package func resume() {
        // It fails only for a request that is over, which says so itself.
        _ = unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    /// Where a redirect leads, as an absolute URL; nil: the answer is none.
    package var redirectURL: String? {
        var text: UnsafePointer<CChar>?
        guard unsafe ccurl_get_string(handle, CURLINFO_REDIRECT_URL, &text) == CURLE_OK,
            let text = unsafe text
        else { return nil }
        return unsafe String(cString: text)
    }

    /// Whose handle it is.
    static func of(_ handle: UnsafeMutableRawPointer) -> CurlRequest? {
        var context: UnsafeMutablePointer<CChar>?
        guard unsafe ccurl_get_pointer(handle, CURLINFO_PRIVATE, &context) == CURLE_OK,
            let context = unsafe context
        else { return nil }
        return unsafe Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
    }

    /// How it ended; nil: well.
    func error(_ code: CURLcode) -> CurlError? {
        if code == CURLE_OK { return nil }
        if code == CURLE_SSL_CACERT_BADFILE {
            return CurlError(code, "the certificates of the system's authorities cannot be read")
        }
        // libcurl keeps no line of a head above 100 KB, and calls it want of memory. Real want of
        // memory ends this process: Swift cannot go on without.
        if code == CURLE_OUT_OF_MEMORY, hasAnswer, !hasBody {
            return CurlError(code, .badAnswer, "the answer has a header line without an end")
        }
        // Only a scheme that is none of ours would give the same code before.
        if code == CURLE_UNSUPPORTED_PROTOCOL, hasAnswer || problem.contains("HTTP/0.9") {
            // The rest of an answer that was longer than its server said is not this answer's.
            return isFirstOnConnection
                ? CurlError(code, .badAnswer, "the answer is not HTTP")
                : CurlError(code, .connection, "what came before the answer is not HTTP")
        }
        return CurlError(code, problem)
    }

    /// Its connection was made for it.
    private var isFirstOnConnection: Bool {
        var connections = 0
        let code = unsafe ccurl_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
        return code == CURLE_OK && connections > 0
    }

    /// Its first byte has come.
    private var hasAnswer: Bool {
        var microseconds: curl_off_t = 0
        let code = unsafe ccurl_get_offset(handle, CURLINFO_STARTTRANSFER_TIME_T, &microseconds)
        return code == CURLE_OK && microseconds > 0
    }

    /// libcurl's words about what went wrong.
    private var problem: String { unsafe String(cString: words) }

    private func set(_ option: CURLoption, _ number: Int) throws(CurlError) {
        try check(unsafe ccurl_set_long(handle, option, number))
    }

    private func set(_ option: CURLoption, _ text: String) throws(CurlError) {
        try check(unsafe ccurl_set_string(handle, option, text))
    }

    private func check(_ code: CURLcode) throws(CurlError) {
        if code != CURLE_OK { throw CurlError(code, "") }
    }
}

/// What a new connection is made by.
@safe
package struct CurlTLSContext {
    /// An `SSL_CTX`.
    @unsafe package let pointer: UnsafeMutableRawPointer
}

extension CurlRequest.Options {
    /// How much is read before anything else is done. libcurl looks at the rate only after it has
    /// read up to 100 times, which is to be half a second's worth.
    package var receivedAtOnce: Int { buffer(atLeast: 1 << 10) }
    /// How much is sent before the rate is looked at.
    package var sentAtOnce: Int { buffer(atLeast: 16 << 10) }

    /// `least` is that of libcurl.
    private func buffer(atLeast least: Int64) -> Int {
        let most: Int64 = 512 << 10
        return Int(rateLimit > 0 ? max(least, min(most, rateLimit / 200)) : most)
    }
}
