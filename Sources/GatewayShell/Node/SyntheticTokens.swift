package import GatewayCore
import TLS

/// Tokens sealed by AES-SIV: 16 bytes of authentication, and the 16 of the token encrypted.
package final class SyntheticTokens: TokenSeal {
    private let cipher: SyntheticCipher
    /// What was opened lately: a provider sends to the same devices again.
    private var opened: [Sealed: DeviceToken] = [:]

    /// The bytes of a sealed token, quick to compare.
    private struct Sealed: Hashable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        /// From 64 digits; nil if one is none.
        init?(_ text: ArraySlice<UInt8>) {
            guard text.count == 2 * DeviceToken.sealedCount else { return nil }
            var (words, bad) = (self.words, UInt64(0))
            unsafe text.withUnsafeBytes { text in
                words.0 = unsafe Self.word(text, at: 0, &bad)
                words.1 = unsafe Self.word(text, at: 16, &bad)
                words.2 = unsafe Self.word(text, at: 32, &bad)
                words.3 = unsafe Self.word(text, at: 48, &bad)
            }
            guard bad == 0 else { return nil }
            self.words = words
        }

        private static func word(
            _ text: UnsafeRawBufferPointer,
            at offset: Int,
            _ bad: inout UInt64
        ) -> UInt64 {
            let high = unsafe text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let low = unsafe text.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            return half(UInt64(bigEndian: high), &bad) << 32 | half(UInt64(bigEndian: low), &bad)
        }

        /// The value of eight digits, all at once: every push comes with 64. Sets bits in `bad` if
        /// one is none.
        private static func half(_ text: UInt64, _ bad: inout UInt64) -> UInt64 {
            let ones: UInt64 = 0x0101_0101_0101_0101
            // Letters, and no digits, have the seventh bit.
            let letters = text >> 6 & ones
            let values = (text & 0x0F0F_0F0F_0F0F_0F0F) + letters * 9
            // Written again it is the same, but for capitals; and from 10 on it is with letters.
            let again = values + ones * 0x30 + letters * 39
            bad |= (text | letters << 5) ^ again
            bad |= values & (ones * 0x10) | ((values + ones * 6) >> 4 ^ letters) & ones
            let pairs = (values | values >> 4) & 0x00FF_00FF_00FF_00FF
            let quads = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
            return (quads | quads >> 16) & 0xFFFF_FFFF
        }

        static func == (left: Self, right: Self) -> Bool { left.words == right.words }

        func hash(into hasher: inout Hasher) {
            hasher.combine(words.0)
            hasher.combine(words.3)
        }

        var bytes: [UInt8] {
            [words.0, words.1, words.2, words.3].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
            }
        }
    }

    private var addresses: [[UInt8]: WebPushAddress] = [:]

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
        guard let key = Sealed(text) else { return nil }
        if let known = opened[key] { return known }
        guard let plain = open(key.bytes), let token = DeviceToken(bytes: plain) else { return nil }
        if opened.count >= Self.limit { opened.removeAll(keepingCapacity: true) }
        opened[key] = token
        return token
    }

    // MARK: Web Push

    /// The end of a path for an address.
    package func text(of address: WebPushAddress) -> String {
        // Fails only without memory.
        let sealed = try? cipher.seal(address.bytes, authenticating: WebPushAddress.purpose)
        return Base64.urlText(sealed ?? [])
    }

    /// The address in the end of a path; nil when we did not seal it.
    package func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? {
        guard text.count <= WebPushAddress.textLimit else { return nil }
        let key = Array(text)
        if let known = addresses[key] { return known }
        guard let sealed = Base64.decode(text),
            let plain = cipher.open(sealed, authenticating: WebPushAddress.purpose),
            let address = WebPushAddress(bytes: plain)
        else { return nil }
        if addresses.count >= Self.limit { addresses.removeAll(keepingCapacity: true) }
        addresses[key] = address
        return address
    }
}
