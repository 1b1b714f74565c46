/// Whom the operator lets send.
package struct ProviderKeys: Sendable {
    private var keys: [String: ProviderKey] = [:]
    /// In the order of the file.
    package private(set) var ids: [String] = []
    /// Fingerprints of certificates that were revoked.
    package let revoked: Set<String>

    package init(_ keys: [ProviderKey] = [], revoked: Set<String> = []) {
        self.revoked = revoked
        for key in keys where self.keys[key.id] == nil {
            self.keys[key.id] = key
            ids.append(key.id)
        }
    }

    /// The key that must have signed a token: the one that it names, if that belongs to the team
    /// that it names. Nil: whoever signed it, it is not taken.
    package func signer(of token: ProviderToken) -> ProviderKey? {
        guard let key = keys[token.keyID], key.team == token.teamID else { return nil }
        return key
    }
}
