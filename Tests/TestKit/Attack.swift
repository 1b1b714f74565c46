/// What somebody without a key may send to a gateway's providers' port, again and again: its tests
/// have it ended, and a benchmark looks at what honest senders notice of it.
package enum Attack: String, CaseIterable, Sendable {
    case silentConnections = "silent-connections"
    case brokenHandshakes = "broken-handshakes"
    case handshakes
    case garbage
    case longHeaders = "long-headers"
    case endlessHeaders = "endless-headers"
    case continuations
    case resets
    case emptyData = "empty-data"
    case windowUpdates = "window-updates"
    case pings
    case settings
    case unreadAnswers = "unread-answers"
    case unreadAnswersOverHTTP1 = "unread-answers-http1"
    case wrongSignatures = "wrong-signatures"

    /// How far it goes before it sends.
    package enum Depth: Sendable {
        /// TCP, and then silence.
        case connected
        /// TCP, the first message of TLS, and away.
        case greeted
        /// TLS, and away.
        case secure
        /// TLS, and then what `AttackBytes` makes.
        case sending
    }

    package var depth: Depth {
        switch self {
        case .silentConnections: .connected
        case .brokenHandshakes: .greeted
        case .handshakes: .secure
        default: .sending
        }
    }

    /// What it offers by ALPN.
    package var protocols: [String] {
        self == .unreadAnswersOverHTTP1 ? ["http/1.1"] : ["h2"]
    }

    /// Whether it takes what it is answered.
    package var reads: Bool { self != .unreadAnswers && self != .unreadAnswersOverHTTP1 }
}

/// What one connection of an attack sends.
package struct AttackBytes: Sendable {
    private let attack: Attack
    /// Header fields, or all of a piece that never changes.
    private let fixed: [UInt8]
    private var stream: UInt32 = 1
    private var count: UInt64
    private var hasBegun = false

    /// Of roughly this size is a piece: a record of TLS.
    private static let pieceSize = 16_000

    /// `bearer` is a good token of somebody else, for `wrongSignatures`; `seed` makes connections
    /// differ.
    package init(_ attack: Attack, bearer: String = "bearer e30.e30.", seed: UInt64) {
        (self.attack, count) = (attack, seed << 32)
        let path = "/3/device/00"
        func many(_ piece: [UInt8]) -> [UInt8] {
            Array(repeatElement(piece, count: Self.pieceSize / piece.count).joined())
        }
        func long(_ count: Int) -> [(String, String)] {
            (0..<count).map { ("x-\($0)", String(repeating: "v", count: 500)) }
        }
        fixed =
            switch attack {
            case .silentConnections, .brokenHandshakes, .handshakes: []
            case .garbage: [UInt8](repeating: 0xFF, count: Self.pieceSize)
            case .longHeaders: RawHTTP2.request(path, long(20))
            case .endlessHeaders: RawHTTP2.request(path, long(13))
            case .continuations: many(RawHTTP2.frame(9, 0, 1, RawHTTP2.block([("x", "y")])))
            case .resets: RawHTTP2.request(path)
            case .emptyData: many(RawHTTP2.frame(0, 0, 1, []))
            case .windowUpdates: many(RawHTTP2.frame(8, 0, 0, [0, 0, 0, 1]))
            case .pings: many(RawHTTP2.frame(6, 0, 0, [UInt8](repeating: 1, count: 8)))
            case .settings: many(RawHTTP2.settings)
            case .unreadAnswers: RawHTTP2.request("/x")
            case .unreadAnswersOverHTTP1: many(Array("GET / HTTP/1.1\r\nhost: l\r\n\r\n".utf8))
            case .wrongSignatures:
                // All but the signature, which is made anew for each.
                RawHTTP2.request(path, [("apns-topic", "a.b")])
                    + RawHTTP2.block([
                        (
                            "authorization",
                            bearer.split(separator: ".").prefix(2).joined(separator: ".") + "."
                                + String(repeating: "A", count: 86)
                        )
                    ])
            }
    }

    /// What comes next, without end.
    package mutating func next() -> [UInt8] {
        var bytes: [UInt8] = []
        if !hasBegun, attack.protocols == ["h2"] {
            hasBegun = true
            bytes = RawHTTP2.preface + RawHTTP2.settings
            switch attack {
            case .emptyData, .windowUpdates:
                bytes += RawHTTP2.frame(1, 4, 1, RawHTTP2.request("/3/device/00"))
            case .continuations:
                bytes += RawHTTP2.frame(1, 1, 1, RawHTTP2.request("/3/device/00"))
            case .unreadAnswers: bytes += RawHTTP2.frame(8, 0, 0, [0x3F, 0xFF, 0, 0])
            default: break
            }
        }
        switch attack {
        case .longHeaders, .unreadAnswers: repeat { ask(5, &bytes) } while !isFull(bytes)
        case .endlessHeaders: repeat { ask(4, &bytes) } while !isFull(bytes)
        case .resets:
            repeat {
                let own = stream
                ask(4, &bytes)
                bytes += RawHTTP2.frame(3, 0, own, [0, 0, 0, 8])
            } while !isFull(bytes)
        case .wrongSignatures:
            repeat {
                ask(5, &bytes)
                sign(&bytes)
            } while !isFull(bytes)
        default: bytes += fixed
        }
        return bytes
    }

    private func isFull(_ bytes: [UInt8]) -> Bool { bytes.count + fixed.count > Self.pieceSize }

    private mutating func ask(_ flags: UInt8, _ bytes: inout [UInt8]) {
        bytes += RawHTTP2.frame(1, flags, stream, fixed)
        stream &+= 2
    }

    /// The signature is the end of the fields; these letters are all of base64.
    private mutating func sign(_ bytes: inout [UInt8]) {
        count += 1
        for index in 0..<16 {
            bytes[bytes.count - 20 + index] = UInt8(ascii: "A") + UInt8(count >> (4 * index) & 15)
        }
    }
}
