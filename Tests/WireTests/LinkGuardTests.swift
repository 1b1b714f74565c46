import Testing
import Wire

/// The order of frames on the gateway's side.
struct LinkGuardTests {
    private let hello = DeviceFrame.Hello(
        key: Array(repeating: 1, count: 32),
        signature: Array(repeating: 2, count: 64),
        next: 60,
        condition: LinkCondition()
    )

    private func open() throws -> LinkGuard {
        var link = LinkGuard(nonce: [9])
        #expect(try link.received(.hello(hello)) == .verify(hello, challenge: [9]))
        try link.proved(true)
        return link
    }

    @Test func afterTheProofEverythingIsTaken() throws {
        var link = try open()
        #expect(link.isOpen)
        for (_, frame) in Vectors.device {
            if case .hello = frame { continue }
            #expect(try link.received(frame) == .take(frame))
        }
    }

    @Test func beforeTheHelloNothingButAnEndIsTaken() throws {
        var (taken, refused) = (0, 0)
        for (name, frame) in Vectors.device {
            var link = LinkGuard(nonce: [9])
            if case .hello = frame { continue }
            if case .end = frame {
                #expect(try link.received(frame) == .take(frame))
                taken += 1
                continue
            }
            #expect(throws: LinkError.outOfOrder, "\(name)") { try link.received(frame) }
            refused += 1
        }
        #expect(taken > 0 && refused > 0)
    }

    @Test func aHelloServesOnce() throws {
        var link = try open()
        #expect(throws: LinkError.outOfOrder) { try link.received(.hello(hello)) }
        var early = LinkGuard(nonce: [9])
        _ = try early.received(.hello(hello))
        #expect(throws: LinkError.outOfOrder) { try early.received(.hello(hello)) }
        #expect(throws: LinkError.outOfOrder) { try early.received(.opened(1)) }
    }

    @Test func aBadSignatureOpensNothing() throws {
        var link = LinkGuard(nonce: [9])
        _ = try link.received(.hello(hello))
        #expect(throws: LinkError.badSignature) { try link.proved(false) }
        #expect(!link.isOpen)
    }

    @Test func anotherVersionIsRefused() {
        var link = LinkGuard(nonce: [9])
        var other = hello
        other.version = 2
        #expect(throws: LinkError.badVersion) { try link.received(.hello(other)) }
    }
}
