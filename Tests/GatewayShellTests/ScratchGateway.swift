import EventLoop
import GatewayCore
import GatewayShell
import Glibc
import Linux
import Synchronization
import TLS
import TestKit
import Vocabulary

/// The program in a directory of a test's own, as an operator runs it.
final class ScratchGateway {
    let directory = ScratchDirectory()
    let paths: GatewayPaths
    private(set) var port: UInt16 = 0
    private(set) var ports: [UInt16] = []
    private(set) var devicePort: UInt16 = 0
    private(set) var metricsPort: UInt16?
    private var process: GatewayProcess?
    private var starts = 0

    static let program = GatewayProcess.program
    static let topic = "org.example.Chat"

    init(settings: String = "") throws {
        paths = GatewayPaths(directory.path)
        // A connection that the gateway ends is told by an error.
        try CurrentProcess.ignore(signal: Signal.pipe)
        let outcome = try Command(Self.program, "init", "--directory=\(directory.path)").run()
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
        if !settings.isEmpty { directory.write(Array(settings.utf8), to: "gateway.conf") }
    }

    /// One that is restored, as an operator does it.
    init(unpacking archive: String) throws {
        paths = GatewayPaths(directory.path)
        let outcome = try Command("tar", "-xpf", archive, "-C", directory.path).run()
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
    }

    /// Starts it and waits until it serves.
    func start(
        sockets: [(name: String, number: Int32)] = [],
        listen: String? = "127.0.0.1:0"
    ) throws {
        starts += 1
        let log = directory("log\(starts)")
        let process = try GatewayProcess(
            serving: directory.path,
            logging: log,
            sockets: sockets,
            listen: listen
        )
        (port, ports, devicePort) = (process.port, process.ports, process.devicePort)
        metricsPort = process.metricsPort
        self.process = process
    }

    /// kill -9, and wait for its end.
    func kill() { process = nil }

    /// SIGTERM, and how it ended.
    func terminate() throws -> ProcessExit {
        defer { process = nil }
        return try process?.terminate() ?? .unknown
    }

    /// The process that runs.
    var pid: Int32 { process?.pid ?? 0 }

    func signal(_ number: Int32) throws { try process?.send(number) }

    func run(_ arguments: String...) throws -> Command.Outcome {
        try Command([Self.program] + arguments + ["--directory=\(directory.path)"]).run()
    }

    /// The metrics of the one that runs.
    func stats() throws -> Value { try ValueJSON.parse(try run("stats", "--json").output) }

    /// Registers devices, one app each, with the gateway's own code while it does not run; their
    /// tokens in hexadecimal.
    func register(_ count: Int, topic: String = ScratchGateway.topic) throws -> [String] {
        let loop = try EventLoop()
        let storage = try SQLiteStorage(paths.store)
        let node = try GatewayNode(
            loop,
            storage,
            GatewayLimits(),
            seal: try sealing(),
            identity: 0
        )
        let links = Links()
        node.links = links
        for index in 0..<count {
            let key = try Cryptography.randomBytes(32)
            node.identify(key) { who in
                guard let device = who?.device else { return }
                let link = LinkID(UInt64(index + 1))
                node.connected(device, link, DeviceCondition())
                node.register(topic, renewing: false, over: link)
            }
        }
        node.settle()
        return links.tokens
    }

    func sealing() throws -> SyntheticTokens {
        let text = try Files.text(paths.tokenKey)
        return try SyntheticTokens(key: Hexadecimal.bytes(text.utf8) ?? [])
    }

    /// Registers one, and gives its token back at once; the token of the past.
    func registerAndLeave() throws -> String {
        let token = try register(1)[0]
        let loop = try EventLoop()
        let node = try GatewayNode(
            loop,
            try SQLiteStorage(paths.store),
            GatewayLimits(),
            seal: try sealing(),
            identity: 0
        )
        let known = node.seal.token(Array(token.utf8)[...])
        node.remove(known?.device ?? DeviceID(0)) { _ in }
        node.settle()
        return token
    }

    final class Links: DeviceLinks {
        var tokens: [String] = []
        var refusals: [RegistrationRefusal] = []
        /// What apps were told, in words.
        var told: [String] = []

        func send(_ sending: Sending, over link: LinkID) {}
        func registered(_ bundle: String, token: [UInt8], over link: LinkID) {
            tokens.append(Hexadecimal.text(token))
            told.append("registered \(bundle)")
        }
        func refused(_ bundle: String, _ why: RegistrationRefusal, over link: LinkID) {
            refusals.append(why)
            told.append("refused \(bundle)")
        }
        func send(_ broadcast: Broadcast, over link: LinkID) {}
        func follows(_ channel: ChannelID, _ why: FollowProblem?, over link: LinkID) {}
        func subscribed(
            _ bundle: String,
            key: [UInt8],
            endpoint: String,
            over link: LinkID
        ) {}
        func unregistered(_ bundle: String, over link: LinkID) {
            told.append("unregistered \(bundle)")
        }
        func end(_ link: LinkID, _ why: LinkEnd) {}
    }

    // MARK: Sending

    var client: ProviderClient {
        get throws {
            ProviderClient(
                address: InternetAddress(host: "127.0.0.1", port: port),
                host: "localhost",
                anchors: try Files.text(paths.authority)
            )
        }
    }

    /// What the provider with the key `id`, of the first one's team, is told of a push.
    func log(of push: String, for id: String) throws -> Outcome {
        let key = try Files.text(paths.providerKey(id))
        let token = try ProviderClient.token(key: key, id: id, team: "TEAM000001")
        return Outcome(
            try client.send(
                "GET",
                "/3/log/" + push,
                [("authorization", "bearer " + token)],
                body: []
            )
        )
    }

    /// What a push of the provider's is answered.
    func push(
        to token: String,
        _ fields: [(name: String, value: String)] = [],
        body: String = #"{"aps":{"alert":"x"}}"#
    ) throws -> Outcome {
        let sender = [
            (name: "apns-topic", value: Self.topic), (name: "authorization", value: try bearer()),
        ]
        let path = "/3/device/" + token
        return Outcome(try client.send("POST", path, sender + fields, body: Array(body.utf8)))
    }

    /// A token of the provider's first key.
    func bearer(id: String = "OFFSTAGE01", team: String = "TEAM000001") throws -> String {
        "bearer "
            + (try ProviderClient.token(
                key: try Files.text(paths.providerKey("OFFSTAGE01")),
                id: id,
                team: team
            ))
    }
}

/// A response as a test compares it.
struct Outcome: Equatable, Sendable, CustomStringConvertible {
    var status: Int
    var reason: String

    init(_ status: Int, _ reason: String = "") { (self.status, self.reason) = (status, reason) }

    init(_ response: ProviderClient.Response) {
        status = response.status
        reason = (try? ValueJSON.parse(response.body))?["reason"]?.stringValue ?? ""
    }

    var description: String { "\(status) \(reason)" }
}
