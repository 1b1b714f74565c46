import Glibc
import TLS
import TestKit
import Testing

/// Two of our sessions over one wire.
struct SessionTests {
    @Test func bothSidesSpeak() throws {
        let authority = try Authority()
        let pair = try Pair(
            authority.serverContext(protocols: ["h2"]),
            authority.clientContext(protocols: ["http/1.1", "h2"])
        )
        let errors = pair.handshake()
        #expect(errors == (nil, nil))
        #expect(pair.server.chosenProtocol == "h2")
        #expect(pair.client.chosenProtocol == "h2")
        #expect(pair.server.version == "TLSv1.3")
        #expect(pair.server.cipher.hasPrefix("TLS_"))
        #expect(pair.server.peerCertificate == nil)
        #expect(pair.client.peerCertificate?.subject(.commonName) == "localhost")

        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(try pair.server.read(into: &buffer) == .wantsRead)
        let message = Array("from the client".utf8)
        #expect(try pair.client.write(message.span) == .bytes(message.count))
        #expect(try pair.server.read(into: &buffer) == .bytes(message.count))
        #expect(Array(buffer.prefix(message.count)) == message)
        #expect(try pair.server.write(message.span) == .bytes(message.count))
        var few = [UInt8](repeating: 0, count: 5)
        #expect(try pair.client.read(into: &few) == .bytes(5))
        #expect(pair.client.hasPending)
        #expect(few == Array("from ".utf8))
        pair.server.close()
        #expect(try pair.client.read(into: &buffer) == .bytes(message.count - 5))
        #expect(try pair.client.read(into: &buffer) == .closed)
    }

    @Test func aServersOwnSuiteGoesFirst() throws {
        let authority = try Authority()
        let (chain, key) = try authority.server("localhost")
        for suite in ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"] {
            let context = try TLSContext(
                server: chain,
                key: key,
                suites: [suite, "TLS_AES_256_GCM_SHA384"]
            )
            let pair = try Pair(context, authority.clientContext())
            #expect(pair.handshake() == (nil, nil))
            #expect(pair.server.cipher == suite)
        }
        #expect(throws: TLSError.self) {
            try TLSContext(server: chain, key: key, suites: ["TLS_NOTHING"])
        }
    }

    @Test func bothEndsAndNoOthersExportTheSameSecret() throws {
        let authority = try Authority()
        let (server, client) = (try authority.serverContext(), try authority.clientContext())
        let (one, two) = (try Pair(server, client), try Pair(server, client))
        #expect(one.handshake() == (nil, nil))
        #expect(two.handshake() == (nil, nil))
        let secret = try one.server.exportedKey("EXPORTER-test")
        #expect(try one.client.exportedKey("EXPORTER-test") == secret)
        #expect(try one.client.exportedKey("EXPORTER-other") != secret)
        #expect(try two.client.exportedKey("EXPORTER-test") != secret)
    }

    @Test func aServerAnswersNoClientThatHasHungUp() throws {
        let authority = try Authority()
        let pair = try Pair(authority.serverContext(), authority.clientContext())
        #expect(try pair.client.handshake() == .wantsRead)
        shutdown(pair.wire.right, Int32(SHUT_WR))
        #expect(throws: TLSError.self) { try pair.server.handshake() }
        var byte: UInt8 = 0
        #expect(recv(pair.wire.right, &byte, 1, 0) == -1)
    }

    @Test func aClientThatOnlyHasNothingMoreToSayIsAnswered() throws {
        let authority = try Authority()
        let pair = try Pair(authority.serverContext(), authority.clientContext())
        #expect(try pair.client.handshake() == .wantsRead)
        #expect(try pair.server.handshake() == .wantsRead)
        #expect(try pair.client.handshake() == .done)
        shutdown(pair.wire.right, Int32(SHUT_WR))
        #expect(try pair.server.handshake() == .done)
    }

    @Test func whatDoesNotFitWaitsAndNothingIsLost() throws {
        let authority = try Authority()
        let pair = try Pair(authority.serverContext(), authority.clientContext())
        #expect(pair.handshake() == (nil, nil))
        let message = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        var (sent, received): (Int, [UInt8]) = (0, [])
        var buffer = [UInt8](repeating: 0, count: 40_000)
        var hadToWait = false
        while received.count < message.count {
            if sent < message.count {
                switch try pair.server.write(message.span.extracting(sent..<message.count)) {
                case .bytes(let count): sent += count
                case .wantsWrite: hadToWait = true
                case .wantsRead, .closed: Issue.record("neither is to be expected")
                }
            }
            if sent < message.count, !hadToWait { continue }
            if case .bytes(let count) = try pair.client.read(into: &buffer) {
                received += buffer.prefix(count)
            }
        }
        #expect(hadToWait)
        #expect(received == message)
    }

    @Test func aClientThatOffersNoProtocolIsServed() throws {
        let authority = try Authority()
        let pair = try Pair(
            authority.serverContext(protocols: ["h2"]),
            authority.clientContext()
        )
        #expect(pair.handshake() == (nil, nil))
        #expect(pair.server.chosenProtocol == nil)
    }

    @Test func aClientThatOffersOtherProtocolsIsRefused() throws {
        let authority = try Authority()
        let pair = try Pair(
            authority.serverContext(protocols: ["h2"]),
            authority.clientContext(protocols: ["http/1.1", "h3"])
        )
        let errors = pair.handshake()
        #expect(errors.server?.kind == .protocol)
        #expect(errors.client?.kind == .protocol)
        #expect(errors.client?.message.contains("no application protocol") == true)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "::1"])
    func aServerAnswersForItsHosts(host: String) throws {
        let authority = try Authority()
        let pair = try Pair(
            authority.serverContext(["localhost", "127.0.0.1", "::1"]),
            authority.clientContext(),
            host: host
        )
        #expect(pair.handshake() == (nil, nil))
    }

    @Test(arguments: ["other", "127.0.0.2"])
    func aServerForAnotherHostIsRefused(host: String) throws {
        let authority = try Authority()
        let pair = try Pair(
            authority.serverContext(["localhost", "127.0.0.1"]),
            authority.clientContext(),
            host: host
        )
        let error = pair.handshake().client
        #expect(error?.kind == .certificate)
        #expect(error?.certificate == .otherName(["localhost", "127.0.0.1"]))
    }

    @Test func aServerThatNobodyVouchesForIsRefused() throws {
        let stranger = try Authority("steered \u{1B}[2J away")
        let pair = try Pair(try stranger.serverContext(), try Authority().clientContext())
        let errors = pair.handshake()
        #expect(errors.client?.kind == .certificate)
        #expect(errors.client?.certificate == .unknownAuthority("steered ?[2J away"))
        #expect(errors.server?.kind == .protocol)
    }

    @Test func aCertificateOutOfItsTimeIsRefused() throws {
        let authority = try Authority()
        let old = try authority.server("localhost", valid: 1_000_000_000...1_100_000_000)
        let pair = try Pair(
            TLSContext(server: old.chain, key: old.key),
            authority.clientContext()
        )
        let error = pair.handshake().client
        #expect(error?.kind == .certificate)
        #expect(error?.certificate == .expired("certificate has expired"))
    }

    @Test func aKeyThatIsNotTheCertificatesIsRefused() throws {
        let authority = try Authority()
        let chain = try authority.server("localhost").chain
        #expect(throws: TLSError.self) {
            try TLSContext(server: chain, key: P256PrivateKey().pem())
        }
        #expect(throws: TLSError.self) {
            try TLSContext(server: "", key: P256PrivateKey().pem())
        }
    }

    @Test func noiseIsAnErrorOfThePeer() throws {
        let authority = try Authority()
        let wire = try Wire()
        let server = End(try TLSSession(authority.serverContext(), serving: wire.left))
        #expect(try server.handshake() == .wantsRead)
        let noise = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(write(wire.right, noise, noise.count) == noise.count)
        let error = #expect(throws: TLSError.self) { try server.handshake() }
        #expect(error?.kind == .protocol)
        #expect(error?.message == "http request")
    }

    @Test func aPeerThatLeavesInTheHandshakeIsGone() throws {
        let authority = try Authority()
        let wire = try Wire()
        let server = End(try TLSSession(authority.serverContext(), serving: wire.left))
        #expect(try server.handshake() == .wantsRead)
        shutdown(wire.right, Int32(SHUT_RDWR))
        let error = #expect(throws: TLSError.self) { try server.handshake() }
        #expect(error?.kind == .connection)
    }

    @Test func aPeerThatLeavesWithoutAWordHasClosed() throws {
        let authority = try Authority()
        let pair = try Pair(authority.serverContext(), authority.clientContext())
        #expect(pair.handshake() == (nil, nil))
        shutdown(pair.wire.right, Int32(SHUT_RDWR))
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(try pair.server.read(into: &buffer) == .closed)
        let message: [UInt8] = [1]
        #expect(try pair.server.write(message.span) == .closed)
    }
}

/// What a server learns of clients that show a certificate.
struct ClientCertificateTests {
    let authority: Authority
    let ownIdentity: (chain: String, key: String)

    init() throws {
        authority = try Authority()
        var template = CertificateTemplate(.client, commonName: "one", validity: Authority.year)
        template.userID = "com.example.App"
        ownIdentity = try authority.issue(template)
    }

    @Test func oneThatIsVouchedForIsSeen() throws {
        let pair = try Pair(
            authority.serverContext(clients: .optional(anchors: authority.certificate.pem())),
            authority.clientContext(identity: ownIdentity)
        )
        #expect(pair.handshake() == (nil, nil))
        #expect(pair.server.peerCertificate?.subject(.userID) == "com.example.App")
        #expect(pair.server.peerProblem == nil)
    }

    @Test func oneThatNobodyVouchesForIsTold() throws {
        let template = CertificateTemplate(.client, commonName: "x", validity: Authority.year)
        let foreign = try Authority("foreign").issue(template)
        let pair = try Pair(
            authority.serverContext(clients: .optional(anchors: authority.certificate.pem())),
            authority.clientContext(identity: foreign)
        )
        #expect(pair.handshake() == (nil, nil))
        #expect(pair.server.peerCertificate?.subject(.commonName) == "x")
        #expect(pair.server.peerProblem != nil)
    }

    @Test func anExpiredOneIsTold() throws {
        let template = CertificateTemplate(
            .client,
            commonName: "old",
            validity: 1_000_000_000...1_100_000_000
        )
        let pair = try Pair(
            authority.serverContext(clients: .optional(anchors: authority.certificate.pem())),
            authority.clientContext(identity: authority.issue(template))
        )
        #expect(pair.handshake() == (nil, nil))
        #expect(pair.server.peerProblem == "certificate has expired")
    }

    @Test func noneIsNoProblemUnlessRequired() throws {
        let anchors = try authority.certificate.pem()
        let pair = try Pair(
            authority.serverContext(clients: .optional(anchors: anchors)),
            authority.clientContext()
        )
        #expect(pair.handshake() == (nil, nil))
        #expect(pair.server.peerCertificate == nil)
        #expect(pair.server.peerProblem == nil)

        let strict = try Pair(
            authority.serverContext(clients: .required(anchors: anchors)),
            authority.clientContext()
        )
        #expect(strict.handshake().server?.kind == .protocol)
    }
}
