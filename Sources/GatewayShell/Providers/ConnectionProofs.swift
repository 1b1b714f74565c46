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

    func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? {
        token(field).map {
            SignedProvider(text: $0.text[...], issuedAt: $0.issuedAt, key: $0.key)
        }
    }

    private func token(_ field: ArraySlice<UInt8>) -> KnownToken? {
        let authority = connection.server.authority
        // Nearly always the same as before.
        if let last = connection.lastToken, last.generation == authority.generation,
            last.field[...].isSame(as: field)
        {
            return last
        }
        guard !connection.isWrong(field) else { return nil }
        guard let said = ProviderToken.bearer(field), let verified = authority.verify(said),
            let key = authority.key(verified.keyID),
            let counters = authority.counters(of: verified.keyID)
        else {
            connection.foundWrong(field)
            return nil
        }
        let token = KnownToken(
            field: Array(field),
            text: Array(said),
            issuedAt: verified.issuedAt,
            key: key,
            counters,
            generation: authority.generation
        )
        connection.lastToken = token
        return token
    }

    func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? {
        guard !connection.isWrong(field) else { return nil }
        let token = connection.server.vapid.verify(field)
        if token == nil { connection.foundWrong(field) }
        return token
    }
}
