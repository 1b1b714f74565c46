package import GatewayCore
import TLS

/// Tokens sealed by AES-SIV: 16 bytes of authentication, and the 16 of the token encrypted.
package final class SyntheticTokens: TokenSeal {
    private let cipher: SyntheticCipher
    /// What was opened lately, by its sealed bytes: a provider sends to the same devices again.
    private var opened: [[UInt8]: DeviceToken] = [:]

    /// The largest number of remembered tokens.
    private static let limit = 65_536

    /// `key`: 32 random bytes.
    package init(key: [UInt8]) throws(StorageError) {
        do throws(TLSError) {
            cipher = try SyntheticCipher(key: key)
        } catch {
            throw StorageError("\(error)")
        }
    }

    package func seal(_ plain: [UInt8]) -> [UInt8] {
        // Fails only without memory.
        (try? cipher.seal(plain)) ?? []
    }

    package func open(_ sealed: [UInt8]) -> [UInt8]? { cipher.open(sealed) }

    /// The token in 64 hexadecimal digits; nil when we did not seal it.
    package func token(_ text: ArraySlice<UInt8>) -> DeviceToken? {
        guard text.count == 2 * DeviceToken.sealedCount else { return nil }
        let key = Array(text)
        if let known = opened[key] { return known }
        guard let sealed = Hexadecimal.bytes(text), let plain = open(sealed),
            let token = DeviceToken(bytes: plain)
        else { return nil }
        if opened.count >= Self.limit { opened.removeAll(keepingCapacity: true) }
        opened[key] = token
        return token
    }
}
