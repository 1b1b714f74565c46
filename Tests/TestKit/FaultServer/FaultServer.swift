import Glibc
import Linux
import Synchronization
import TLS

/// An HTTP server on loopback that does what servers should not, as each test asks. A thread for
/// each connection.
package final class FaultServer: Sendable {
    /// How it answers for one path.
    package struct Behaviour: Sendable {
        package var object: VersionedObject
        package var tag = Tag.strong
        /// Answers a range with a part.
        package var honoursRange = true
        /// Sends the part although the version is another.
        package var ignoresIfRange = false
        /// A part begins so many bytes later than asked for, and says so.
        package var rangeShift: Int64 = 0
        /// A part is said to be of a whole that is so much longer than it is.
        package var totalError: Int64 = 0
        /// Of a part: at most so many bytes.
        package var partLimit: Int64?
        /// A part, or word that none is left, comes with its place and the validator only.
        package var isBrief = false
        /// Answers a range with parts, each with a head of its own.
        package var sendsSeveralParts = false
        /// Closes the connection after so many bytes of a body.
        package var dropsAfter: Int64?
        /// After so many bytes of a body it waits until `release`.
        package var holdsAfter: Int64?
        /// Waits until `release` before it answers.
        package var holdsHead = false
        /// Sends so many bytes at a time, and does nothing for a moment after each.
        package var dripsBytes: Int64?
        /// Says so many bytes more than it sends.
        package var lengthError: Int64 = 0
        package var isChunked = false
        /// What gzip has made of something, in place of the object, although nobody asks for that.
        package var compressed: [UInt8]?
        /// Other than 200 or 206, with an empty body.
        package var status: Int?
        /// Of the next so many requests only; nil: of all.
        package var statusCount: Int?
        package var redirect: String?
        /// Sent before an answer, as if it were the rest of the one before.
        package var leftover: String?
        package var fields: [String] = []
        /// Sent in place of a head.
        package var garbage: String?
        /// After that, bytes without end.
        package var isEndless = false
        /// Header fields without end.
        package var hasEndlessHead = false
        /// Takes files; nil: none.
        package var upload: Upload?
        /// Lets in only whom it knows.
        package var guarded: Guard?
        package init(_ object: VersionedObject) { self.object = object }
    }

    package enum Tag: Sendable { case strong, weak, absent, dateOnly }

    package struct Request: Sendable {
        package let method: String
        package let path: String
        /// In lower case, by name.
        package let fields: [String: String]
    }

    private final class Listening: Sendable {
        let listener: InternetListener
        init(_ listener: consuming InternetListener) { self.listener = listener }
    }

    let state: FaultState
    package let port: UInt16
    private let accepting = Mutex<ServingThread?>(nil)

    package convenience init() throws { try self.init(identity: nil) }

    /// Over TLS.
    package convenience init(as identity: FaultIdentity) throws {
        try self.init(identity: identity)
    }

    private init(identity: FaultIdentity?) throws {
        let listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
        port = listener.port
        let state = try FaultState(identity)
        self.state = state
        let listening = Listening(listener)
        let thread = try ServingThread { stopped in
            while true {
                let ready = try Poll.wait(for: [
                    (listening.listener.descriptor.number, .readable), (stopped, .readable),
                ])
                if !ready[1].isEmpty { break }
                guard let connection = try listening.listener.accept() else { continue }
                try connection.setNonBlocking(false)
                let socket = connection.release()
                state.accept(socket)
                try CurrentProcess.startThread(named: "fault-server") {
                    FaultConnection(socket, state)?.serve()
                    state.close(socket)
                }
            }
        }
        accepting.withLock { $0 = thread }
    }

    deinit {
        accepting.withLock { $0 = nil }
        state.end()
    }

    package func url(_ path: String) -> String {
        "\(state.identity == nil ? "http" : "https")://127.0.0.1:\(port)\(path)"
    }

    package func set(_ path: String, _ behaviour: Behaviour) {
        state.shared.withLock { $0.behaviours[path] = behaviour }
    }

    package func change(_ path: String, _ body: (inout Behaviour) -> Void) {
        state.shared.withLock { shared in
            guard var behaviour = shared.behaviours[path] else { return }
            body(&behaviour)
            shared.behaviours[path] = behaviour
        }
    }

    /// The next connection is HTTP/2. Whatever it asks for, it gets so many bytes of what is at
    /// `path`, is told that there will be no more requests, and is closed. Over TLS only.
    package func goAway(after count: Int64, of path: String) {
        precondition(count < 65_536, "more than may come unasked")
        state.shared.withLock { $0.goesAway = (path, count) }
    }

    /// How many answers and bodies have been held so far.
    package var heldCount: Int { state.shared.withLock { $0.held } }

    /// Whether any is held now.
    package var isHolding: Bool { state.isHolding }

    package func object(_ path: String) -> VersionedObject? {
        state.shared.withLock { $0.behaviours[path]?.object }
    }

    package var requests: [Request] { state.shared.withLock { $0.requests } }

    /// Heads of answers that have a body, all in all.
    package var answered: Int { state.shared.withLock { $0.answered } }

    /// How many bodies have been on their way at once.
    package var mostBodies: Int { state.shared.withLock { $0.mostBodies } }

    /// Connections, all in all.
    package var accepted: Int { state.shared.withLock { $0.accepted } }

    /// Until so many have been held, all in all.
    package func waitUntilHeld(_ count: Int) throws {
        try wait(for: "a body that is held") { heldCount >= count }
    }

    package func waitForRequests(_ count: Int) throws {
        try wait(for: "\(count) requests") { requests.count >= count }
    }

    package func waitForAnswers(_ count: Int) throws {
        try wait(for: "\(count) answers") { answered >= count }
    }

    private func wait(for what: String, _ condition: () -> Bool) throws {
        while !condition() {
            try Wait.until(readable: state.events.descriptor.number, what)
            state.events.clear()
        }
    }

    /// All that are held go on, or all that were asked for by this path.
    package func release(_ path: String? = nil) { state.release(path) }
}

/// As whom a server shows itself, and who vouches for it.
package struct FaultIdentity: Sendable {
    /// Whom to trust, PEM.
    package let authority: String
    let plain: TLSContext
    let http2: TLSContext

    package init() throws {
        let year: ClosedRange<Int64> = 1_700_000_000...4_000_000_000
        let above = try P256PrivateKey()
        let certificate = try CertificateTemplate(
            .authority,
            commonName: "authority",
            validity: year
        ).issue(for: above)
        let key = try P256PrivateKey()
        var template = CertificateTemplate(.server, commonName: "localhost", validity: year)
        template.hosts = ["localhost", "127.0.0.1"]
        let own = try template.issue(for: key, by: (certificate, above))
        authority = try certificate.pem()
        let (chain, pem) = (try own.pem() + authority, try key.pem())
        plain = try TLSContext(server: chain, key: pem, protocols: ["http/1.1"])
        http2 = try TLSContext(server: chain, key: pem, protocols: ["h2"])
        // What is written to a client that is gone is an error, not the end of the tests.
        signal(SIGPIPE, SIG_IGN)
    }
}
