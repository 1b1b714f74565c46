internal import COpenSSL
internal import Glibc

/// TLS over one connected, non-blocking descriptor, which must stay open as long as this is there.
///
/// SIGPIPE must be ignored. Not for two threads at once. After an error only `deinit` is left.
@safe
package struct TLSSession: ~Copyable {
    private let handle: OpaquePointer
    /// The one that the callbacks of the handshake look into.
    private let context: TLSContext

    /// How far an operation came.
    package enum Progress: Equatable, Sendable {
        case done
        /// Again when the descriptor is readable.
        case wantsRead
        /// Again when it is writable.
        case wantsWrite
    }

    /// What came of reading or writing.
    package enum Transfer: Equatable, Sendable {
        /// So many bytes; at least one.
        case bytes(Int)
        case wantsRead
        case wantsWrite
        /// The peer has closed.
        case closed
    }

    /// The side of a server.
    package init(_ context: TLSContext, serving descriptor: Int32) throws(TLSError) {
        precondition(context.isServer, "TLSSession: a client's context cannot serve")
        let session = unsafe try made(SSL_new(context.handle), "session")
        let failed = unsafe SSL_set_fd(session, descriptor) != 1
        unsafe SSL_set_accept_state(session)
        if failed {
            unsafe SSL_free(session)
            throw TLSError(taking: "session", .library)
        }
        unsafe handle = session
        self.context = context
    }

    /// The side of a client. The server's certificate must be for `host`, a name or an address.
    package init(
        _ context: TLSContext,
        connecting descriptor: Int32,
        to host: String
    ) throws(TLSError) {
        precondition(!context.isServer, "TLSSession: a server's context cannot connect")
        let session = unsafe try made(SSL_new(context.handle), "session")
        var failed = unsafe SSL_set_fd(session, descriptor) != 1
        unsafe SSL_set_connect_state(session)
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1 {
            ERR_clear_error()
            failed = unsafe failed || SSL_set1_host(session, host) != 1
            failed = unsafe failed || copenssl_set_server_name(session, host) != 1
        }
        if failed {
            unsafe SSL_free(session)
            throw TLSError(taking: "session", .input)
        }
        unsafe handle = session
        self.context = context
    }

    deinit { unsafe SSL_free(handle) }

    package mutating func handshake() throws(TLSError) -> Progress {
        copenssl_forget_errors()
        // The first answer is the most expensive one.
        guard unsafe !context.isServer || copenssl_has_left_unanswered(handle) == 0 else {
            throw TLSError(.connection, "handshake", "the peer is gone")
        }
        let result = unsafe SSL_do_handshake(handle)
        if result == 1 { return .done }
        switch try handshakeOutcome(of: result) {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .bytes, .closed:
            throw TLSError(.connection, "handshake", "the peer closed the connection")
        }
    }

    /// Reads what is there into the front of `buffer`, which must not be empty.
    package mutating func read(into buffer: inout [UInt8]) throws(TLSError) -> Transfer {
        copenssl_forget_errors()
        let capacity = Int32(clamping: buffer.count)
        let result = unsafe SSL_read(handle, &buffer, capacity)
        return try outcome(of: result, "read")
    }

    /// Writes as much of `bytes`, which must not be empty, as goes. After `wantsRead` or
    /// `wantsWrite` the next call must begin with the same bytes.
    package mutating func write(_ bytes: Span<UInt8>) throws(TLSError) -> Transfer {
        copenssl_forget_errors()
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        }
        return try outcome(of: result, "write")
    }

    /// Whether something was read from the descriptor that `read` has not handed out: no event of
    /// the descriptor will tell.
    package var hasPending: Bool { unsafe SSL_has_pending(handle) == 1 }

    /// Tells the peer that nothing more will come, if the descriptor takes it now.
    package mutating func close() {
        // Not allowed after an error, and without a handshake there is nobody to tell.
        guard unsafe SSL_is_init_finished(handle) == 1 else { return }
        ERR_clear_error()
        unsafe SSL_shutdown(handle)
        ERR_clear_error()
    }

    /// What ALPN chose; nil when the peer offered nothing, or before the handshake is done.
    package var chosenProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &name, &count)
        guard count > 0 else { return nil }
        return unsafe String(
            decoding: UnsafeBufferPointer(start: name, count: Int(count)),
            as: UTF8.self
        )
    }

    /// Secret bytes that both ends, and nobody else, derive from this connection (RFC 5705, without
    /// a context). The handshake must be done.
    package func exportedKey(_ label: String, count: Int) throws(TLSError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: count)
        let result = unsafe SSL_export_keying_material(
            handle,
            &key,
            count,
            label,
            label.utf8.count,
            nil,
            0,
            0
        )
        try check(result, "export")
        return key
    }

    /// `TLSv1.3`.
    package var version: String { unsafe String(cString: SSL_get_version(handle)) }

    /// `TLS_AES_256_GCM_SHA384`.
    package var cipher: String {
        unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(handle)))
    }

    /// What the peer showed; nil when it showed none.
    package var peerCertificate: Certificate? {
        unsafe SSL_get1_peer_certificate(handle).map { unsafe Certificate(owning: $0) }
    }

    /// Why the anchors do not vouch for the peer's certificate; nil when they do, or when there is
    /// none.
    package var peerProblem: String? {
        let result = unsafe SSL_get_verify_result(handle)
        guard result != Int(X509_V_OK) else { return nil }
        return unsafe String(cString: X509_verify_cert_error_string(result))
    }

    /// A client that gives up says what is wrong with the certificate.
    private func handshakeOutcome(of result: Int32) throws(TLSError) -> Transfer {
        do throws(TLSError) {
            return try outcome(of: result, "handshake")
        } catch {
            guard !context.isServer, error.kind == .certificate else { throw error }
            // The peer's certificate is only known once it was taken: here the chain is.
            let shown = unsafe copenssl_shown_certificate(handle)
            let certificate = unsafe shown.map { unsafe Certificate(owning: $0) }
            let result = unsafe SSL_get_verify_result(handle)
            throw TLSError("handshake", CertificateProblem(result, certificate))
        }
    }

    private func outcome(of result: Int32, _ operation: String) throws(TLSError) -> Transfer {
        if result > 0 { return .bytes(Int(result)) }
        let systemError = errno
        switch unsafe SSL_get_error(handle, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            ERR_clear_error()
            let text =
                systemError == 0
                ? "the peer is gone" : unsafe String(cString: strerror(systemError))
            throw TLSError(.connection, operation, text)
        default: throw TLSError(taking: operation, .protocol)
        }
    }
}
