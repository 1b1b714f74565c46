import GatewayCore

/// Checks signatures and sealed tokens for the requests of one connection. Results are cached,
/// because a signature costs more to check than everything else about a request.
struct ConnectionProofs: Proofs {
    private let connection: ProviderConnection

    init(_ connection: ProviderConnection) { self.connection = connection }

    func device(_ text: ArraySlice<UInt8>) -> DeviceToken? {
        connection.server.node.seal.token(text)
    }

    func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? {
        connection.server.node.seal.address(text)
    }

    var generation: Int { connection.server.authority.generation }

    func known(_ field: ArraySlice<UInt8>) -> SignedProvider? {
        // Nearly always the same as before.
        guard let last = connection.lastToken, last.generation == generation,
            last.field[...].isSame(as: field)
        else { return nil }
        return SignedProvider(last)
    }

    func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? {
        let server = connection.server
        guard let said = ProviderToken.bearer(field), let verified = server.authority.verify(said)
        else { return nil }
        let token = KnownToken(
            field: Array(field),
            text: Array(said),
            issuedAt: verified.issuedAt,
            key: verified.key,
            generation: generation
        )
        connection.lastToken = token
        return SignedProvider(token)
    }

    func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? { connection.server.vapid.verify(field) }
}

extension SignedProvider {
    fileprivate init(_ token: KnownToken) {
        self.init(text: token.text[...], issuedAt: token.issuedAt, key: token.key)
    }
}
