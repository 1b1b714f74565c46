import Curl
import Vocabulary
import Wire

/// A download or an upload that was ordered and has not ended.
protocol RunningExchange: AnyObject {
    var id: TransferID { get }
    /// Where its first request goes.
    var url: String { get }
    /// How many it uses at the most.
    var connections: Int64 { get }
    /// As its order says.
    var connectionsPerHost: Int64? { get }
    /// It has, or will have, a request on its way.
    var needsConnections: Bool { get }

    // MARK: Orders
    func begin()
    func proceed()
    func stored(durable: Int64)
    func stop()

    /// What it has come to want.
    func takeTasks() -> [ExchangeTask]
    /// What the server says cannot be told to the daemon.
    func couldNotReport(_ error: NetworkError)
    /// `touched` is called from within libcurl's calls when there is something to do.
    func use(_ request: CurlRequest, on connection: Int, touched: @escaping () -> Void)
    /// The request is over; nil: it could not even be made.
    func requestEnded(_ ended: CurlRequest?, on connection: Int, _ error: CurlError?)
    func tick(_ now: BootTime)
    func synced(_ result: SyncThread.Result)
    func digested(_ result: DigestThread.Result)
    /// None: nothing is new.
    func takeProgress() -> [NetworkReport]
}

/// What is to be done for an exchange outside of libcurl's calls.
enum ExchangeTask {
    case give(up: CurlRequest)
    /// `on`: which of its connections it is for.
    case request(CurlRequest.Options, on: Int)
    case report(NetworkReport)
    case sync(SyncThread.Job)
    case digest(DigestThread.Job)
    /// It is over.
    case done(NetworkReport)

    var isRequest: Bool {
        if case .request = self { true } else { false }
    }
}

extension CurlRequest.Options {
    mutating func set(_ fields: [HTTPField]) {
        // libcurl would leave out one with nothing after the colon.
        self.fields = fields.map {
            $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)"
        }
        let names = fields.map { $0.name.lowercased() }
        if !names.contains("user-agent") { userAgent = "offstage" }
    }

    mutating func set(_ certificate: Credentials.ClientCertificate?) {
        self.certificate = certificate.map {
            CurlRequest.ClientCertificate(certificate: $0.certificate, key: $0.key)
        }
    }
}

extension CurlError {
    /// What becomes of the exchange.
    enum Outcome {
        case interrupted(ExchangeEnd.Interruption)
        case failed(ExchangeFailure)
    }

    /// `url`: what was asked for.
    func outcome(of url: String) -> Outcome {
        let reason = description.filter { $0 >= " " && $0 != "\u{7f}" }
        return switch kind {
        case .connection:
            .interrupted(.init(.connection, reason: proxyWords(of: url) + reason))
        case .timedOut: .interrupted(.init(.timedOut, reason: reason))
        case .shortage: .interrupted(.init(.shortage, reason: reason))
        case .untrusted: .failed(ExchangeFailure(.untrusted, reason: reason + trustHint))
        case .badAnswer, .refused: .failed(ExchangeFailure(.badAnswer, reason: reason))
        case .badURL: .failed(ExchangeFailure(.badURL, reason: reason))
        }
    }

    /// libcurl says where it could not connect to. If that is not the server's place, it is that of
    /// a proxy, which may be one of the environment.
    private func proxyWords(of url: String) -> String {
        let words = description.split(separator: " ")
        guard description.hasPrefix("Failed to connect to "), words.count > 6, words[5] == "port",
            let origin = Origin(url), words[6].prefix(while: { $0 != ":" }) != origin.port
        else { return "" }
        return "the proxy cannot be reached: "
    }

    /// Where only a word of the user's helps. Not for a certificate that has expired, or is of
    /// another name. OpenSSL's words: "self-signed certificate", "unable to get issuer certificate"
    /// and the like.
    private var trustHint: String {
        let words = ["self-signed", "self signed", "issuer certificate", "first certificate"]
        guard words.contains(where: { description.contains($0) }) else { return "" }
        return "; if you trust its authority, add that to the system's certificates, or set "
            + "SSL_CERT_FILE for offstaged"
    }
}
