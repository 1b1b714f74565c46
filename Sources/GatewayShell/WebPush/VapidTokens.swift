import GatewayCore
import TLS

/// The VAPID tokens whose signatures were found right: checking one costs more than everything
/// else about a push, and a sender uses each for hours.
final class VapidTokens {
    private var verified: [[UInt8]: VapidToken] = [:]
    private static let limit = 10_000

    /// What the field of a request says, if its own key signed it.
    func verify(_ field: ArraySlice<UInt8>) -> VapidToken? {
        let bytes = Array(field)
        if let known = verified[bytes] { return known }
        guard let token = VapidToken(field), let key = try? P256PublicKey(point: token.key),
            (try? key.verifies(token.signature, of: token.signed)) == true
        else { return nil }
        // Anybody may have a key; what there is no room for is verified again.
        guard bytes.count <= 1024 else { return token }
        if verified.count >= Self.limit { verified.removeAll(keepingCapacity: true) }
        verified[bytes] = token
        return token
    }
}
