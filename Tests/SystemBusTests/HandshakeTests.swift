import Testing

@testable import SystemBus

/// What comes before the first message, and how it ends.
struct HandshakeTests {
    private static let id = String(repeating: "a", count: 32)
    private static let known = "OK \(id)\r\n"

    private func handshake() -> Handshake { Handshake(user: 1000, id: Self.id) }

    @Test(
        arguments: [
            ("\0AUTH EXTERNAL 31303030\r\nBEGIN\r\n", known),
            ("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n", "DATA\r\n" + known),
            ("\0AUTH EXTERNAL\r\nDATA 31303030\r\nBEGIN\r\n", "DATA\r\n" + known),
            (
                "\0AUTH\r\nAUTH EXTERNAL 31303030\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n",
                "REJECTED EXTERNAL\r\n" + known + "ERROR\r\n"
            ),
            (
                "\0AUTH ANONYMOUS\r\nCANCEL\r\nAUTH EXTERNAL 31303030\r\nBEGIN\r\n",
                "REJECTED EXTERNAL\r\nREJECTED EXTERNAL\r\n" + known
            ),
        ]
    )
    func whoBelongsHereGetsIn(text: String, answers: String) {
        // What comes behind it is the first message's.
        let bytes = Array(text.utf8)
        var whole = handshake()
        let (count, outcome) = whole.take(bytes + [0x6C, 1, 0, 1])
        #expect(outcome == .done)
        #expect(count == bytes.count)
        #expect(whole.takeAnswers() == answers)
        var pieces = handshake()
        var said = ""
        for (index, byte) in bytes.enumerated() {
            let (count, outcome) = pieces.take([byte])
            #expect(count == 1)
            #expect(outcome == (index == bytes.count - 1 ? .done : .goesOn))
            said += pieces.takeAnswers()
        }
        #expect(said == answers)
    }

    @Test(arguments: [
        "\0AUTH EXTERNAL 30\r\n", "\0AUTH EXTERNAL zz\r\n", "\0AUTH EXTERNAL 31303030 31\r\n",
        "\0AUTH EXTERNALLY 31303030\r\n", "\0AUTH EXTERNAL\r\nDATA 30\r\n", "\0DATA\r\n",
        "\0AUTH EXTERNAL\r\n", "\0AUTH EXTERNAL 31303030\r\nCANCEL\r\n",
    ])
    func whoDoesNotStaysOutside(text: String) {
        var handshake = handshake()
        #expect(handshake.take(Array(text.utf8)).1 == .goesOn)
        #expect(!handshake.takeAnswers().hasSuffix(Self.known))
        #expect(handshake.take(Array("BEGIN\r\n".utf8)).1 == .failed)
    }

    @Test(arguments: [
        "A", "\0" + String(repeating: "A", count: 1100),
        "\0" + String(repeating: "AUTH\r\n", count: 100),
    ])
    func whoSaysTooMuchIsLetGo(text: String) {
        var handshake = handshake()
        #expect(handshake.take(Array(text.utf8)).1 == .failed)
    }
}
