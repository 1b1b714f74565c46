package import CommandTable
import GatewayCore
import HTTP2
package import Linux
import TLS
package import Vocabulary

/// A provider of our own: one request over one connection, for the shell and for tests.
package struct ProviderClient {
    package struct Response {
        package var status: Int
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    package let address: InternetAddress
    /// The name that the certificate is for.
    package let host: String
    /// PEM: who vouches for the gateway.
    package let anchors: String
    /// Where that was read, for messages.
    package let anchorsFile: String

    package init(
        address: InternetAddress,
        host: String,
        anchors: String,
        from anchorsFile: String = ""
    ) {
        (self.address, self.host, self.anchors) = (address, host, anchors)
        self.anchorsFile = anchorsFile
    }

    private static let patience: Int32 = 30_000

    /// The text of a provider's token (JWT), signed now.
    package static func token(
        key: String,
        id: String,
        team: String,
        age: Interval = .zero,
        from file: String = "the provider's key"
    ) throws(Failure) -> String {
        let now = (Clocks.now().wall - age).nanoseconds / 1_000_000_000
        let head = Value.map(["alg": "ES256", "kid": .string(id)]).json()
        let claims = Value.map(["iss": .string(team), "iat": .integer(now)]).json()
        let signed =
            Base64.urlText(Array(head.utf8)) + "." + Base64.urlText(Array(claims.utf8))
        let signature = try failing(file) {
            try P256PrivateKey(pem: key).sign(Array(signed.utf8))
        }
        return signed + "." + Base64.urlText(signature)
    }

    package func send(
        _ method: String,
        _ path: String,
        _ fields: [(name: String, value: String)],
        body: [UInt8]
    ) throws(Failure) -> Response {
        // Its error names the address.
        let socket = try failing { try InternetSocket.connect(to: address) }
        let context = try failing(anchorsFile) {
            try TLSContext(clientTrusting: anchors, protocols: ["h2"])
        }
        return try failing("\(address)") {
            try socket.setNonBlocking(true)
            var tls = try TLSSession(context, connecting: socket.number, to: host)
            while true {
                let progress = try trusting { () throws(TLSError) in try tls.handshake() }
                if progress == .done { break }
                try wait(socket, progress == .wantsWrite)
            }
            guard tls.chosenProtocol == "h2" else {
                throw Failure(.failed, "\(address) does not speak HTTP/2")
            }
            let answer = Collector()
            let session = try HTTP2Session(.client, handler: answer)
            var headers = HeaderBlock([
                (":method", method), (":scheme", "https"), (":authority", host), (":path", path),
            ])
            for field in fields { headers.append(field.name, field.value) }
            answer.stream = try session.request(headers, body: body)
            return try exchange(session, &tls, socket, answer)
        }
    }

    private func trusting<Answer>(_ body: () throws(TLSError) -> Answer) throws -> Answer {
        do throws(TLSError) {
            return try body()
        } catch {
            if error.isOtherProtocol {
                throw Failure(
                    .failed,
                    "\(address): it does not speak HTTP/2 there (\(error))",
                    fix: "If that is the gateway's port for devices, name the one for providers."
                )
            }
            guard let problem = error.certificate, !anchorsFile.isEmpty else { throw error }
            throw Failure(untrusted: problem, at: address, as: host, trusting: anchorsFile)
        }
    }

    private func exchange(
        _ session: HTTP2Session,
        _ tls: inout TLSSession,
        _ socket: borrowing FileDescriptor,
        _ answer: Collector
    ) throws -> Response {
        var output: [UInt8] = []
        var sent = 0
        var input = [UInt8](repeating: 0, count: 16_384)
        while true {
            var wantsWrite = false
            while true {
                if sent == output.count {
                    output = []
                    sent = 0
                    _ = try session.send(into: &output, upTo: 16_384)
                    if output.isEmpty { break }
                }
                let rest = output.span.extracting(sent..<output.count)
                guard case .bytes(let count) = try tls.write(rest) else {
                    wantsWrite = true
                    break
                }
                sent += count
            }
            if let message = answer.message { return Response(message) }
            if let problem = answer.problem { throw Failure(.failed, problem) }
            switch try tls.read(into: &input) {
            case .bytes(let count):
                let bytes = input.span.extracting(0..<count)
                try session.receive(bytes)
            case .wantsRead, .wantsWrite: try wait(socket, wantsWrite)
            case .closed: throw Failure(.failed, "the gateway closed the connection")
            }
        }
    }

    private func wait(_ socket: borrowing FileDescriptor, _ forWriting: Bool) throws {
        let events: Poll.Events = forWriting ? [.readable, .writable] : .readable
        guard Poll.ready(socket.number, for: events, milliseconds: Self.patience) else {
            throw Failure(.failed, "no answer for \(Self.patience / 1000) seconds")
        }
    }

    private final class Collector: HTTP2Handler {
        var stream: Int32 = 0
        var message: HTTP2Message?
        var problem: String?

        func received(_ message: HTTP2Message) { self.message = message }
        func turnedAway(_ stream: Int32) {}
        func broken(_ stream: Int32, _ code: HTTP2Code) {
            problem = "the gateway did not answer the request (HTTP/2 error \(code.rawValue))"
        }
        func saidGoodbye(lastStream: Int32, _ code: HTTP2Code, _ reason: [UInt8]) {
            guard stream > lastStream else { return }
            problem = "the gateway ends: \(String(decoding: reason, as: UTF8.self))"
        }
    }
}

extension ProviderClient.Response {
    init(_ message: HTTP2Message) {
        status = message.headers.text(":status").flatMap { Int($0) } ?? 0
        headers = message.headers.fields
        body = message.body
    }
}
