internal import COpenSSL

/// What connections of one kind have in common: certificate, key, whom to trust, protocols.
///
/// TLS 1.2 or later. Sessions are not resumed, idle ones keep no buffers. It may be shared by
/// threads; one that changes (a new certificate) is replaced by another for new sessions.
@safe
package final class TLSContext: @unchecked Sendable {  // not changed after `init`
    let handle: OpaquePointer
    let isServer: Bool
    /// Those of ALPN, most wanted first, each with its length in front.
    private let protocols: [UInt8]

    /// What a server asks of its clients.
    package enum ClientCertificates: Sendable {
        case ignored
        /// A client may show one. One that `anchors` (PEM) do not vouch for does not end the
        /// handshake; `TLSSession.peerProblem` tells.
        case optional(anchors: String)
        /// The handshake fails without one that `anchors` vouch for.
        case required(anchors: String)
    }

    /// A server. `chain`: its certificate and what leads to an anchor, PEM. `key`: PEM. A client
    /// that offers protocols (ALPN) must offer one of `protocols`; one that offers none is served.
    /// `suites`: those of TLS 1.3, most wanted first; empty: as OpenSSL has them.
    package init(
        server chain: String,
        key: String,
        protocols: [String] = [],
        suites: [String] = [],
        clients: ClientCertificates = .ignored
    ) throws(TLSError) {
        unsafe handle = try made(SSL_CTX_new(TLS_server_method()), "context")
        isServer = true
        self.protocols = try Self.encode(protocols)
        try check(unsafe copenssl_context_defaults(handle), "context")
        try use(suites)
        try use(chain: chain, key: key)
        switch clients {
        case .ignored: break
        case .optional(let anchors):
            try trust(anchors, tellingClients: true)
            unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER) { _, _ in 1 }
        case .required(let anchors):
            try trust(anchors, tellingClients: true)
            let mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            unsafe SSL_CTX_set_verify(handle, mode, nil)
        }
        guard !protocols.isEmpty else { return }
        // A session keeps this object, and so `context`, for as long as it may ask.
        unsafe SSL_CTX_set_alpn_select_cb(
            handle,
            { _, chosen, chosenCount, offered, count, context in
                guard let context = unsafe context, let offered = unsafe offered else {
                    return SSL_TLSEXT_ERR_NOACK
                }
                let own = unsafe Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
                let list = unsafe UnsafeBufferPointer(start: offered, count: Int(count))
                guard let found = unsafe own.choose(from: Array(list)) else {
                    return SSL_TLSEXT_ERR_ALERT_FATAL
                }
                unsafe chosen?.pointee = offered + found.lowerBound
                unsafe chosenCount?.pointee = UInt8(found.count)
                return SSL_TLSEXT_ERR_OK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// A client that trusts servers that `anchors` (PEM) vouch for, and may show a certificate of
    /// its own (PEM).
    package init(
        clientTrusting anchors: String,
        protocols: [String] = [],
        identity: (chain: String, key: String)? = nil
    ) throws(TLSError) {
        unsafe handle = try made(SSL_CTX_new(TLS_client_method()), "context")
        isServer = false
        self.protocols = try Self.encode(protocols)
        try check(unsafe copenssl_context_defaults(handle), "context")
        try trust(anchors, tellingClients: false)
        unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        if let identity { try use(chain: identity.chain, key: identity.key) }
        guard !protocols.isEmpty else { return }
        // This one call answers 0 when all went well.
        let list = self.protocols
        let failed = unsafe SSL_CTX_set_alpn_protos(handle, list, UInt32(list.count))
        guard failed == 0 else { throw TLSError(taking: "protocols", .input) }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    /// The operation of an error, by what was wrong with the key, or with whom to trust.
    package static let (keyStep, anchorsStep) = ("private key", "anchors")

    private func use(_ suites: [String]) throws(TLSError) {
        guard !suites.isEmpty else { return }
        let list = suites.joined(separator: ":")
        try check(unsafe SSL_CTX_set_ciphersuites(handle, list), "suites", .input)
        unsafe copenssl_prefer_own_suites(handle)
    }

    private func use(chain: String, key: String) throws(TLSError) {
        let certificates = try Certificate.all(inPEM: chain)
        guard let own = certificates.first else {
            throw TLSError(.input, "certificate", "there is none in the text")
        }
        try check(unsafe SSL_CTX_use_certificate(handle, own.handle), "certificate", .input)
        for above in certificates.dropFirst() {
            try check(unsafe copenssl_add_chain(handle, above.handle), "certificate", .input)
        }
        let key = try KeyHandle(privatePEM: key)
        guard unsafe SSL_CTX_use_PrivateKey(handle, key.pointer) == 1 else {
            let reason = TLSError(taking: Self.keyStep, .input).message
            throw TLSError(
                .input,
                Self.keyStep,
                "it is not that of the certificate (\(reason))"
            )
        }
    }

    private func trust(_ anchors: String, tellingClients: Bool) throws(TLSError) {
        let certificates = try Certificate.all(inPEM: anchors)
        guard !certificates.isEmpty else {
            throw TLSError(.input, Self.anchorsStep, "there is no certificate in the text")
        }
        let store = unsafe SSL_CTX_get_cert_store(handle)
        for certificate in certificates {
            try check(unsafe X509_STORE_add_cert(store, certificate.handle), "anchors", .input)
            if tellingClients {
                try check(unsafe SSL_CTX_add_client_CA(handle, certificate.handle), "anchors")
            }
        }
    }

    private static func encode(_ protocols: [String]) throws(TLSError) -> [UInt8] {
        var list: [UInt8] = []
        for name in protocols {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSError(.input, "protocols", "\"\(name)\" does not fit")
            }
            list.append(UInt8(name.utf8.count))
            list += name.utf8
        }
        return list
    }

    /// Where in a client's list the name stands that this server wants most.
    private func choose(from offered: [UInt8]) -> Range<Int>? {
        for wanted in Self.names(protocols) {
            for name in Self.names(offered) where offered[name] == protocols[wanted] {
                return name
            }
        }
        return nil
    }

    private static func names(_ list: [UInt8]) -> [Range<Int>] {
        var names: [Range<Int>] = []
        var offset = 0
        while offset < list.count {
            let end = offset + 1 + Int(list[offset])
            guard end <= list.count else { break }
            names.append(offset + 1..<end)
            offset = end
        }
        return names
    }
}
