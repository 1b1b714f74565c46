import CommandTable
import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

/// `serve`: one gateway on this thread, from its files to its end.
final class GatewayService {
    private let paths: GatewayPaths
    private var settings: GatewaySettings
    /// As the file has them: the command line may have said something else.
    private var written: GatewaySettings
    /// Whether there was one when the keys were read last.
    private var hasKeysFile: Bool
    private let lock: LockFile
    private let loop: EventLoop
    private let storage: SQLiteStorage
    private let node: GatewayNode
    private let authority: Authority
    private let providers: ProviderServer
    private let devices: LinkServer
    private var control: [ControlServer] = []
    private var signals: [SignalSource] = []
    private var watch: PathSource?
    private var sweepTimer: TimerSource?
    private var endTimer: TimerSource?
    private var isEnding = false
    private var certificate: CertificateTime

    init(_ paths: GatewayPaths, _ settings: GatewaySettings) throws(Failure) {
        (self.paths, self.settings) = (paths, settings)
        try paths.checkOwner()
        try paths.checkComplete()
        lock = try Self.lock(paths)
        written = try GatewaySettings.read(paths.settings)
        let key = Hexadecimal.bytes(
            try failing { try Files.text(paths.tokenKey) }.utf8.filter { $0 > 0x20 }
        )
        guard let key, key.count == 32 else {
            throw Failure(.failed, "\(paths.tokenKey) does not hold 64 digits")
        }
        let file = try KeysFile(paths.keys)
        hasKeysFile = !Files.isMissing(paths.keys)
        let (keys, named, revoked) = (try file.keys(), try file.named(), try file.revoked())
        let context = try Self.context(paths)
        certificate = try CertificateTime(paths)
        var handed = try HandedSockets()
        let metrics: InternetListener?
        do {
            loop = try EventLoop()
            storage = try SQLiteStorage(paths.store)
            let identity = try Cryptography.hmac(Array("unique-id".utf8), key: key).prefix(8)
                .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            node = try GatewayNode(
                loop,
                storage,
                settings.limits,
                seal: try SyntheticTokens(key: key),
                identity: identity
            )
            authority = Authority(keys, revoked: revoked)
            providers = try ProviderServer(
                node,
                authority,
                try handed.forProviders(settings),
                context,
                settings.environment,
                settings.provider
            )
            devices = try LinkServer(
                loop,
                try handed.forDevices(settings),
                try Self.deviceContext(paths),
                settings.links,
                owner: node
            )
            node.links = devices
            node.origin = try Self.origin(paths, settings, providers.port)
            metrics = try handed.forMetrics(settings)
        } catch let error as LinuxError where error.operation == "listen" {
            throw Failure(listening: error)
        } catch {
            throw Failure(.failed, "\(error)")
        }
        node.useApps(allowed: settings.apps, named: named)
        useAddresses(settings)
        node.storeChanged = { [unowned self] in storeChanged($0) }
        certificate.warn(at: node.now.wall)
        warn(of: keys)
        if let metrics { try serveMetrics(metrics) }
        try listen()
    }

    private func serveMetrics(_ listener: consuming InternetListener) throws(Failure) {
        metricsPort = listener.port
        do throws(LinuxError) {
            control.append(
                try ControlServer(loop, listener) { [unowned self] in $2(question($0, $1)) }
            )
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    private func useAddresses(_ settings: GatewaySettings) {
        (providers.policy, devices.policy) = (settings.addresses, settings.addresses)
    }

    // MARK: The store

    private func storeChanged(_ problem: String?) {
        if let problem {
            GatewayLog.write("nothing can be stored, and no push is accepted: \(problem)")
        } else {
            GatewayLog.write("pushes are stored again")
        }
    }

    /// One process at a time may have a directory.
    private static func lock(_ paths: GatewayPaths) throws(Failure) -> LockFile {
        do throws(LinuxError) {
            let lock = try LockFile(paths.lock)
            if try lock.tryLock(0) { return lock }
        } catch {
            throw Failure(.failed, "\(error)")
        }
        throw Failure(.failed, "a gateway is already running in \(paths.directory.quoted)")
    }

    /// Certificate and key, and whom to trust among clients.
    private static func context(_ paths: GatewayPaths) throws(Failure) -> TLSContext {
        try paths.context(
            [ProviderConnection.newer, ProviderConnection.older],
            trustsClients: true
        )
    }

    /// Where senders of Web Push find it: what the settings say, else the certificate's first name.
    private static func origin(
        _ paths: GatewayPaths,
        _ settings: GatewaySettings,
        _ port: UInt16
    ) throws(Failure) -> String {
        if let url = settings.url { return url }
        let own = try paths.certificateName()
        if own == nil {
            GatewayLog.write(
                "the certificate has no name: addresses for Web Push begin with localhost, "
                    + "unless \"url\" in \(paths.settings) is set"
            )
        }
        let name = own ?? "localhost"
        let host = name.contains(":") ? "[\(name)]" : name
        return "https://\(host)" + (port == 443 ? "" : ":\(port)")
    }

    /// The same certificate, for the protocol of devices, which show none.
    private static func deviceContext(
        _ paths: GatewayPaths
    ) throws(Failure) -> TLSContext {
        try paths.context([LinkFormat.protocolName], suites: LinkFormat.suites)
    }

    private func listen() throws(Failure) {
        try failing {
            control.append(
                try ControlServer(loop, at: paths.control) { [unowned self] in command($0, $1, $2)
                }
            )
            for signal in [Signal.terminate, Signal.interrupt] {
                signals.append(try SignalSource(loop, signal) { [unowned self] _ in end() })
            }
            signals.append(
                try SignalSource(loop, Signal.hangUp) { [unowned self] _ in
                    reload()
                    reloadCertificate()
                }
            )
            let texts = [paths.settings, paths.keys].map(Files.name)
            let pair = [paths.certificate, paths.certificateKey, paths.authority]
                .map(Files.name)
            watch = try PathSource(loop, paths.directory, [.closedAfterWriting, .movedTo]) {
                [unowned self] event in
                if texts.contains(event.name) { reload() }
                if pair.contains(event.name) { reloadCertificate() }
            }
            sweepTimer = try TimerSource(loop) { [unowned self] in sweep() }
            try sweepTimer?.arm(at: Clocks.now().boot + .seconds(5))
            endTimer = try TimerSource(loop) { [unowned self] in loop.exit() }
        }
    }

    /// The ports that providers reach.
    var ports: [UInt16] { providers.ports }
    /// And the one that devices reach.
    var devicePort: UInt16 { devices.port ?? 0 }
    /// And the one that Prometheus reaches; nil: none.
    private(set) var metricsPort: UInt16?

    /// As in a sentence: `443 and 2197`.
    static func list(_ ports: [UInt16]) -> String {
        let texts = ports.map(String.init)
        guard let last = texts.last, texts.count > 1 else { return texts.first ?? "" }
        return texts.dropLast().joined(separator: ", ") + " and " + last
    }

    func run() throws(Failure) {
        try failing {
            let ports = Self.list(self.ports)
            try ServiceManager.ready("serving providers at \(ports), devices at \(devicePort)")
            while try loop.runTurn(limit: 256, once: true) {
                node.endTurn()
                devices.flush()
                providers.endTurn()
                node.leaveTurn()
                if isEnding, providers.isDrained { loop.exit() }
            }
        }
        node.settle()
        providers.endTurn()
        providers.endNow()
    }

    private func sweep() {
        node.sweep()
        try? sweepTimer?.arm(at: Clocks.now().boot + .minutes(1))
    }

    /// Open requests are answered, for a while; then it is over.
    private func end() {
        if isEnding { return loop.exit() }
        isEnding = true
        _ = try? ServiceManager.stopping()
        providers.drain()
        devices.drain()
        try? endTimer?.arm(at: Clocks.now().boot + settings.drainTime)
    }

    /// Reads settings and keys again. What is wrong is said, and nothing changes.
    private func reload() {
        do throws(Failure) {
            let settings = try GatewaySettings.read(paths.settings)
            // Without it every key would be gone at once.
            if hasKeysFile, Files.isMissing(paths.keys) {
                throw Failure(
                    .failed,
                    "\(paths.keys) is gone",
                    fix: "Started without it, the gateway has no keys."
                )
            }
            let file = try KeysFile(paths.keys)
            let (keys, named, revoked) = (
                try file.keys(), try file.named(), try file.revoked()
            )
            hasKeysFile = !Files.isMissing(paths.keys)
            let origin = try Self.origin(paths, settings, providers.port)
            authority.replace(keys, revoked: revoked)
            providers.applyRevocations()
            node.setLimits(settings.limits)
            node.useApps(allowed: settings.apps, named: named)
            node.origin = origin
            providers.use(settings.provider)
            devices.use(settings.links)
            useAddresses(settings)
            let late = settings.readAtStart(otherThan: written)
            (self.settings, written) = (settings, settings)
            for name in late { GatewayLog.write("\(name): takes effect at the next start") }
            GatewayLog.write("settings and keys were reloaded")
            warn(of: keys)
        } catch {
            let fix = error.fix.isEmpty ? "" : ". \(error.fix)"
            GatewayLog.write("\(error.message); nothing was changed\(fix)")
        }
    }

    private func warn(of keys: [Authority.Key]) {
        guard keys.isEmpty else { return }
        GatewayLog.write(
            "there is no key in \(paths.keys): every push that a token is signed for is refused"
        )
    }

    /// The same for the certificate. Its files come one after the other: until they fit, the old
    /// pair is served.
    private func reloadCertificate() {
        do throws(Failure) {
            let (forProviders, forDevices) = (
                try Self.context(paths), try Self.deviceContext(paths)
            )
            let origin = try Self.origin(paths, settings, providers.port)
            certificate = try CertificateTime(paths)
            certificate.warn(at: node.now.wall)
            providers.context = forProviders
            devices.use(forDevices)
            node.origin = origin
            GatewayLog.write("the certificate was reloaded")
        } catch {
            GatewayLog.write("\(error.message); the old certificate remains in use")
        }
    }

    // MARK: Questions

    private var metrics: Metrics {
        Metrics(node, providers, devices, certificate, storeSize: storeSize)
    }

    /// Bytes of its file, and of the log in front of it.
    private var storeSize: UInt64 {
        [paths.store, paths.store + "-wal"].reduce(0) {
            $0 + UInt64(clamping: Files.status($1)?.size ?? 0)
        }
    }

    private func question(_ method: String, _ path: String) -> ControlServer.Answer {
        switch (method, path) {
        case ("GET", "/metrics"):
            return ControlServer.Answer(
                type: "text/plain; version=0.0.4",
                body: metrics.text
            )
        case ("GET", "/health"):
            let health = GatewayHealth(
                isEnding: isEnding,
                storeProblem: node.driver.storeProblem,
                certificateProblem: certificate.problem(at: node.now.wall)
            )
            var report: [(String, Value)] = [("status", .string(health.word))]
            if let reason = health.reason { report.append(("reason", .string(reason))) }
            return ControlServer.Answer(
                status: health == .serving ? "200 OK" : "503 Service Unavailable",
                body: Value.map(ValueMap(report)).json()
            )
        case (_, "/metrics"), (_, "/health"):
            return .refusal(
                "405 Method Not Allowed",
                allows: "GET, HEAD",
                "\(path) takes GET and HEAD only"
            )
        default: return .refusal("404 Not Found", "there is no \(path)")
        }
    }

    private func command(_ method: String, _ path: String, _ reply: @escaping ControlServer.Reply) {
        let parts = path.split(separator: "/")
        func removed(_ what: String) -> (OperationProblem?) -> Void {
            { reply(Self.answer($0, what)) }
        }
        switch (method, parts.first, parts.count) {
        case ("GET", "stats", 1):
            reply(ControlServer.Answer(body: metrics.value.json()))
        case ("DELETE", "devices", 2):
            let what = "there is no device \(parts[1])"
            guard let number = UInt64(parts[1]) else { return removed(what)(.unknown) }
            node.remove(DeviceID(number), removed(what))
        case ("DELETE", "topics", 2):
            node.removeApp(String(parts[1]), removed("no device registered \(parts[1])"))
        default: reply(question(method, path))
        }
    }

    private static func answer(_ problem: OperationProblem?, _ unknown: String)
        -> ControlServer.Answer
    {
        switch problem {
        case nil: ControlServer.Answer(body: "{}")
        case .unknown: .refusal("404 Not Found", unknown)
        case .notKept, .refused:
            .refusal(
                "503 Service Unavailable",
                "nothing was removed: the store cannot be written"
            )
        }
    }
}

/// Lines for whoever watches over the service.
enum GatewayLog {
    static func write(_ text: String) {
        let descriptor = FileDescriptor(owning: 2)
        try? descriptor.writeAll("offstage-gateway: \(text)\n")
        // The stream is not ours to close.
        _ = descriptor.release()
    }
}
