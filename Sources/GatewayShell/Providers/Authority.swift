package import GatewayCore
package import TLS
import Vocabulary

/// Verifies the tokens of providers. Those whose signatures were found right are remembered:
/// checking one costs more than everything else about a push.
package final class Authority {
    package struct Key: Sendable {
        package var key: ProviderKey
        package var publicKey: P256PublicKey

        package init(_ key: ProviderKey, _ publicKey: P256PublicKey) {
            (self.key, self.publicKey) = (key, publicKey)
        }
    }

    struct Verified {
        var key: ProviderKey
        var issuedAt: Int64
    }

    private(set) var keys: ProviderKeys
    private var publicKeys: [String: P256PublicKey]
    private var verified: [[UInt8]: Verified] = [:]
    /// Signatures checked so far.
    package private(set) var checks: UInt64 = 0
    /// Rises when the keys change.
    private(set) var generation = 0

    private static let limit = 10_000

    package init(_ keys: [Key] = [], revoked: Set<String> = []) {
        self.keys = ProviderKeys(keys.map(\.key), revoked: revoked)
        publicKeys = Self.table(keys)
    }

    private static func table(_ keys: [Key]) -> [String: P256PublicKey] {
        Dictionary(keys.map { ($0.key.id, $0.publicKey) }) { first, _ in first }
    }

    /// From now on these keys hold; tokens of keys that are gone do no more.
    package func replace(_ keys: [Key], revoked: Set<String> = []) {
        self.keys = ProviderKeys(keys.map(\.key), revoked: revoked)
        publicKeys = Self.table(keys)
        verified = [:]
        generation += 1
    }

    /// What a token says, if one of the keys signed it.
    func verify(_ text: ArraySlice<UInt8>) -> Verified? {
        let bytes = Array(text)
        if let known = verified[bytes] { return known }
        guard let token = ProviderToken(text), let key = keys.signer(of: token),
            let publicKey = publicKeys[key.id]
        else { return nil }
        checks += 1
        guard (try? publicKey.verifies(token.signature, of: token.signed)) == true else {
            return nil
        }
        // Nobody without a key can fill it.
        if verified.count >= Self.limit { verified.removeAll(keepingCapacity: true) }
        let answer = Verified(key: key, issuedAt: token.issuedAt)
        verified[bytes] = answer
        return answer
    }
}

/// A token whose signature was found right, as one connection remembers it.
final class KnownToken {
    /// The whole field in which it came.
    let field: [UInt8]
    /// Always the same piece of memory, by which it is known again.
    let text: [UInt8]
    let issuedAt: Int64
    let key: ProviderKey
    /// Of the keys among which its own was found.
    let generation: Int

    init(
        field: [UInt8],
        text: [UInt8],
        issuedAt: Int64,
        key: ProviderKey,
        generation: Int
    ) {
        (self.field, self.text, self.issuedAt) = (field, text, issuedAt)
        (self.key, self.generation) = (key, generation)
    }
}

extension ProviderCertificate {
    private static let topics = "1.2.840.113635.100.6.3.6"
    private static let development = "1.2.840.113635.100.6.3.1"
    private static let production = "1.2.840.113635.100.6.3.2"

    /// What a certificate that our anchors vouch for says; nil when it is for no topic.
    init?(_ certificate: Certificate) {
        guard let fingerprint = try? certificate.fingerprint() else { return nil }
        self.init(
            fingerprint: Hexadecimal.text(fingerprint),
            userID: certificate.subject(.userID),
            listed: certificate.extensionValue(Self.topics).map { DER.texts($0) },
            isDevelopment: certificate.extensionValue(Self.development) != nil,
            isProduction: certificate.extensionValue(Self.production) != nil
        )
    }
}
