import GatewayCore
import GatewayShell
import Testing
import Vocabulary

struct TokenTextTests {
    @Test func `a token is read from digits in either case, and from nothing else`() throws {
        let tokens = try SyntheticTokens(key: Array(0..<32))
        let token = DeviceToken(
            device: DeviceID(0xA1B2_C3D4_E5F6),
            app: AppNumber(7),
            generation: 2
        )
        let text = Array(Hexadecimal.text(tokens.seal(token.bytes)).utf8)
        #expect(tokens.token(text[...]) == token)
        let capitals = text.map { $0 >= UInt8(ascii: "a") ? $0 - 32 : $0 }
        #expect(tokens.token(capitals[...]) == token)
        for byte in UInt8.min...UInt8.max {
            for place in [0, 15, 16, 40, 63] {
                var changed = text
                changed[place] = byte
                let isSame = byte == text[place] || byte == capitals[place]
                #expect(tokens.token(changed[...]) == (isSame ? token : nil))
            }
        }
        #expect(tokens.token(text.dropLast()) == nil)
        #expect(tokens.token((text + text)[64...]) == token, "a slice from elsewhere")
    }
}
