import Glibc
import TLS
import TestKit

/// Two connected, non-blocking descriptors.
final class Wire {
    let (left, right): (Int32, Int32)

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw DidNotHappen(description: "socketpair")
        }
        (left, right) = (ends[0], ends[1])
        // What is written to a peer that is gone is an error, not the end of the tests.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        close(left)
        close(right)
    }
}

/// Certificates of one test.
struct Authority {
    static let year: ClosedRange<Int64> = 1_700_000_000...4_000_000_000

    let key: P256PrivateKey
    let certificate: Certificate

    init(_ name: String = "authority") throws {
        key = try P256PrivateKey()
        let template = CertificateTemplate(.authority, commonName: name, validity: Self.year)
        certificate = try template.issue(for: key)
    }

    func issue(_ template: CertificateTemplate) throws -> (chain: String, key: String) {
        let key = try P256PrivateKey()
        let leaf = try template.issue(for: key, by: (certificate, self.key))
        return (try leaf.pem() + certificate.pem(), try key.pem())
    }

    func server(_ hosts: String..., valid: ClosedRange<Int64> = year) throws -> (
        chain: String, key: String
    ) {
        var template = CertificateTemplate(.server, commonName: hosts[0], validity: valid)
        template.hosts = hosts
        return try issue(template)
    }

    func serverContext(
        _ hosts: [String] = ["localhost"],
        protocols: [String] = [],
        clients: TLSContext.ClientCertificates = .ignored
    ) throws -> TLSContext {
        var template = CertificateTemplate(
            .server,
            commonName: hosts[0],
            validity: Self.year
        )
        template.hosts = hosts
        let (chain, key) = try issue(template)
        return try TLSContext(server: chain, key: key, protocols: protocols, clients: clients)
    }

    func clientContext(
        protocols: [String] = [],
        identity: (chain: String, key: String)? = nil
    ) throws -> TLSContext {
        try TLSContext(
            clientTrusting: certificate.pem(),
            protocols: protocols,
            identity: identity
        )
    }
}

/// A session that can stand in an expectation.
final class End {
    private var session: TLSSession

    init(_ session: consuming TLSSession) { self.session = session }

    var chosenProtocol: String? { session.chosenProtocol }
    var version: String { session.version }
    var cipher: String { session.cipher }
    var peerCertificate: Certificate? { session.peerCertificate }
    var peerProblem: String? { session.peerProblem }
    var hasPending: Bool { session.hasPending }

    func exportedKey(_ label: String) throws(TLSError) -> [UInt8] {
        try session.exportedKey(label, count: 32)
    }

    func handshake() throws(TLSError) -> TLSSession.Progress { try session.handshake() }
    func read(into buffer: inout [UInt8]) throws(TLSError) -> TLSSession.Transfer {
        try session.read(into: &buffer)
    }
    func write(_ bytes: Span<UInt8>) throws(TLSError) -> TLSSession.Transfer {
        try session.write(bytes)
    }
    func close() { session.close() }
}

/// A server's and a client's session over one wire.
struct Pair {
    let wire: Wire
    let server: End
    let client: End

    init(_ server: TLSContext, _ client: TLSContext, host: String = "localhost") throws {
        wire = try Wire()
        self.server = End(try TLSSession(server, serving: wire.left))
        self.client = End(try TLSSession(client, connecting: wire.right, to: host))
    }

    /// Brings both sides through the handshake; what each of them threw.
    func handshake() -> (server: TLSError?, client: TLSError?) {
        var errors: (server: TLSError?, client: TLSError?)
        var (serverIsDone, clientIsDone) = (false, false)
        for _ in 0..<20 where !serverIsDone || !clientIsDone {
            if !clientIsDone {
                do throws(TLSError) {
                    clientIsDone = try client.handshake() == .done
                } catch {
                    errors.client = error
                    clientIsDone = true
                }
            }
            if !serverIsDone {
                do throws(TLSError) {
                    serverIsDone = try server.handshake() == .done
                } catch {
                    errors.server = error
                    serverIsDone = true
                }
            }
        }
        return errors
    }
}

extension [UInt8] {
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// base64url without padding.
    init(base64url text: String) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let alphabet = Array(letters.utf8)
        var (bits, count): (UInt32, Int) = (0, 0)
        self = []
        for digit in text.utf8.compactMap({ alphabet.firstIndex(of: $0) }) {
            bits = bits << 6 | UInt32(digit)
            count += 6
            if count >= 8 {
                count -= 8
                append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
    }

    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
