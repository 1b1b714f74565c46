package import CommandTable
package import GatewayCore
package import Linux
package import Vocabulary
internal import Wire

/// `gateway.conf`: one NAME = VALUE a line. What is not there has its default.
package struct GatewaySettings: Sendable {
    /// The first is the one that `init`, `send` and addresses for Web Push name.
    package var listen = [InternetAddress(host: "", port: 8443)]
    package var devices = InternetAddress(host: "", port: 8444)
    /// Where Prometheus may ask; nil: nowhere.
    package var metrics: InternetAddress?
    /// How senders of Web Push reach it; nil: by the name in the certificate.
    package var url: String?
    /// The only apps that devices may register; nil: any.
    package var apps: [String]?
    package var drainTime = Interval.seconds(10)
    package var environment = PushEnvironment.production
    package var provider = SenderLimits()
    package var limits = GatewayLimits()
    package var links = LinkLimits()
    package var addresses = AddressPolicy()

    package init() {}

    /// One line of the file: its name, what it means, and what it sets.
    package struct Row: Sendable {
        package let name: String
        /// With what holds when it is not there.
        package let meaning: String
        private let field: Field

        fileprivate init(_ name: String, _ meaning: String, _ field: Field) {
            (self.name, self.field) = (name, field)
            let usual = field.text(GatewaySettings())
            self.meaning = usual.isEmpty ? meaning : "\(meaning) (\(usual))"
        }

        /// What is wrong with the value; nil: it was set.
        func set(_ settings: inout GatewaySettings, _ value: String) -> (String, fix: String)? {
            if field.set(&settings, value) { return nil }
            if case .secret = field {
                let longest = LinkFormat.longestEnrolment
                return ("\(name) must have 1 to \(longest) bytes", fix: "\(name): \(meaning).")
            }
            if case .span = field, Interval(value) == nil {
                let mistake = Interval.mistake(in: value)
                return ("\(name) = \(value) \(mistake.reason)", mistake.fix)
            }
            let range = field.range.map { " From \($0.lowerBound) to \($0.upperBound)." } ?? ""
            return ("\(name) cannot be \(value.quoted)", "\(name): \(meaning).\(range)")
        }
    }

    fileprivate typealias Path<Value> = WritableKeyPath<GatewaySettings, Value> & Sendable

    fileprivate enum Field: Sendable {
        case address(any Path<InternetAddress>)
        case addresses(any Path<[InternetAddress]>)
        case optionalAddress(any Path<InternetAddress?>)
        case origin(any Path<String?>)
        case environment(any Path<PushEnvironment>)
        case topics(any Path<[String]?>)
        case networks(any Path<[IPNetwork]>, usually: String)
        case secret(any Path<String?>)
        case number(any Path<Int>, ClosedRange<Int> = Field.some)
        case span(any Path<Interval>, mayBeZero: Bool = false)

        static let any = 0...1_000_000_000
        static let some = 1...1_000_000_000

        func set(_ settings: inout GatewaySettings, _ value: String) -> Bool {
            switch self {
            case .address(let path): assign(InternetAddress(value), path, &settings)
            case .addresses(let path):
                assign(GatewaySettings.addresses(value), path, &settings)
            case .optionalAddress(let path):
                assign(InternetAddress(value).map { .some($0) }, path, &settings)
            case .origin(let path):
                assign(isOrigin(value) ? .some(value) : nil, path, &settings)
            case .environment(let path):
                assign(PushEnvironment(rawValue: value), path, &settings)
            case .topics(let path):
                assign(
                    (try? KeysFile.topics(KeysFile.list(value))).map { .some($0) },
                    path,
                    &settings
                )
            case .networks(let path, _):
                assign(Self.networks(value), path, &settings)
            case .secret(let path):
                assign(
                    (1...LinkFormat.longestEnrolment).contains(value.utf8.count) ? value : nil,
                    path,
                    &settings
                )
            case .number(let path, let range):
                assign(Int(value).flatMap { range.contains($0) ? $0 : nil }, path, &settings)
            case .span(let path, let mayBeZero):
                assign(
                    Interval(value).flatMap { mayBeZero || $0 > .zero ? $0 : nil },
                    path,
                    &settings
                )
            }
        }

        private func assign<Value>(
            _ value: Value?,
            _ path: any Path<Value>,
            _ settings: inout GatewaySettings
        ) -> Bool {
            guard let value else { return false }
            settings[keyPath: path] = value
            return true
        }

        var range: ClosedRange<Int>? {
            if case .number(_, let range) = self { range } else { nil }
        }

        /// Nil when one of them is none. `none`: there are none.
        private static func networks(_ text: String) -> [IPNetwork]? {
            if text == "none" { return [] }
            let words = KeysFile.list(text)
            let networks = words.compactMap { IPNetwork($0) }
            return networks.count == words.count && !words.isEmpty ? networks : nil
        }

        /// The scheme, a host and perhaps a port, and nothing behind them.
        private func isOrigin(_ text: String) -> Bool {
            guard text.hasPrefix("https://") else { return false }
            let rest = text.utf8.dropFirst("https://".utf8.count)
            return !rest.isEmpty && rest.count <= 255
                && rest.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
        }

        func text(_ settings: GatewaySettings) -> String {
            switch self {
            case .address(let path):
                "\(settings[keyPath: path])"
            case .addresses(let path):
                settings[keyPath: path].map(\.description).joined(separator: "; ")
            case .optionalAddress, .origin, .topics, .secret: ""
            case .networks(_, let text): text
            case .environment(let path): settings[keyPath: path].rawValue
            case .number(let path, _): "\(settings[keyPath: path])"
            case .span(let path, _): "\(settings[keyPath: path])"
            }
        }
    }

    package static let table: [Row] = [
        Row(
            "listen",
            "HOST:PORT for providers, several separated by ;, read at start",
            .addresses(\.listen)
        ),
        Row("devices", "HOST:PORT for devices, read at start", .address(\.devices)),
        Row(
            "metrics",
            "HOST:PORT for Prometheus only, read at start",
            .optionalAddress(\.metrics)
        ),
        Row("url", "https://HOST:PORT for Web Push (the certificate's name)", .origin(\.url)),
        Row(
            "environment",
            "production or development, read at start",
            .environment(\.environment)
        ),
        Row(
            "apps",
            "the only topics that devices may register, separated by ; (any)",
            .topics(\.apps)
        ),
        Row(
            "apps-largest",
            "topics that devices may register, beyond those that keys name",
            .number(\.limits.apps)
        ),
        Row("new-apps", "new topics that may be registered at once", .number(\.limits.newApps)),
        Row(
            "new-apps-refill",
            "time after which one more is allowed",
            .span(\.limits.newAppRefill)
        ),
        Row(
            "log-age",
            "how long the delivery log is kept",
            .span(\.limits.logAge, mayBeZero: true)
        ),
        Row(
            "drain-time",
            "time for open requests when the gateway stops",
            .span(\.drainTime, mayBeZero: true)
        ),
        Row(
            "connections",
            "maximum number of provider connections",
            .number(\.provider.connections)
        ),
        Row(
            "connections-per-address",
            "provider connections per address (or IPv6 /64)",
            .number(\.provider.perAddress)
        ),
        Row(
            "handshakes-per-address",
            "provider handshakes in progress per address",
            .number(\.provider.handshakesPerAddress)
        ),
        Row(
            "exempt-networks",
            "networks without limits per address, separated by ;",
            .networks(\.addresses.exempt, usually: "127.0.0.0/8; ::1")
        ),
        Row(
            "proxies",
            "networks of load balancers that send PROXY headers (version 2)",
            .networks(\.addresses.proxies, usually: "none")
        ),
        Row("streams", "concurrent requests on one connection", .number(\.provider.streams)),
        Row("request-time", "time for a request to arrive", .span(\.provider.requestTime)),
        Row("idle-time", "how long a connection may be silent", .span(\.provider.idleTime)),
        Row(
            "proof-time",
            "the same before a valid token was received",
            .span(\.provider.proofTime)
        ),
        Row(
            "stall-time",
            "how long a connection may not read answers",
            .span(\.provider.stallTime)
        ),
        Row(
            "request-memory",
            "bytes of incomplete requests, in total",
            .number(\.provider.requestMemory)
        ),
        Row(
            "silent-burst",
            "silent pushes to an app at once",
            .number(\.limits.silentBurst, Field.any)
        ),
        Row(
            "silent-refill",
            "time after which one more is allowed",
            .span(\.limits.silentRefill)
        ),
        Row(
            "silent-per-day",
            "silent wakes of a device on battery in 24 hours",
            .number(\.limits.silentPerDay, Field.any)
        ),
        Row(
            "silent-battery",
            "charge in percent below which no silent push is sent",
            .number(\.limits.silentBattery, 0...100)
        ),
        Row(
            "acknowledgement",
            "time for a device to acknowledge",
            .span(\.limits.acknowledgement)
        ),
        Row("storage", "maximum time that a push is stored", .span(\.limits.storage)),
        Row(
            "web-push-kept",
            "Web Push messages stored per app of a device",
            .number(\.limits.webPushKept, 1...64)
        ),
        Row("token-burst", "pushes to one token at once", .number(\.limits.tokenBurst)),
        Row("token-rate", "further pushes to one token per second", .number(\.limits.tokenRate)),
        Row(
            "token-renewal",
            "minimum time between two tokens on a connection",
            .span(\.limits.tokenRenewal, mayBeZero: true)
        ),
        Row(
            "channels",
            "broadcast channels of one app",
            .number(\.limits.channelsPerApp, Field.any)
        ),
        Row("links", "maximum number of connected devices", .number(\.links.connections)),
        Row(
            "links-per-address",
            "connected devices per address (or IPv6 /64)",
            .number(\.links.perAddress)
        ),
        Row(
            "new-devices",
            "new devices per address at once",
            .number(\.links.newDevices)
        ),
        Row(
            "new-devices-refill",
            "time after which one more new device is allowed",
            .span(\.links.newDeviceRefill)
        ),
        Row(
            "enrolment",
            "secret that new devices must present (none)",
            .secret(\.links.enrolment)
        ),
        Row(
            "device-age",
            "time without contact after which a device is removed",
            .span(\.limits.deviceAge)
        ),
        Row(
            "link-handshakes",
            "device handshakes in progress",
            .number(\.links.handshakes)
        ),
        Row(
            "link-handshakes-per-address",
            "device handshakes in progress per address",
            .number(\.links.handshakesPerAddress)
        ),
        Row(
            "link-handshake-time",
            "time for a device handshake",
            .span(\.links.handshakeTime)
        ),
        Row(
            "link-welcomes",
            "devices admitted per second; further ones are told to come later",
            .number(\.links.welcomesPerSecond)
        ),
        Row(
            "keep-alive-longest",
            "the longest keep-alive interval of a device",
            .span(\.links.longestKeepAlive)
        ),
        Row(
            "keep-alive-shortest",
            "the shortest time to wait for a keep-alive",
            .span(\.links.shortestKeepAlive)
        ),
        Row(
            "keep-alive-grace",
            "tolerance beyond the announced time and a quarter of it",
            .span(\.links.keepAliveGrace, mayBeZero: true)
        ),
        Row(
            "link-frames",
            "frames that a device may send at once, not counting acknowledgements",
            .number(\.links.frames)
        ),
        Row(
            "link-queue",
            "bytes queued for a device above which nothing more is queued",
            .number(\.links.queue)
        ),
        Row(
            "link-queue-largest",
            "bytes queued for a device above which it is disconnected",
            .number(\.links.largestQueue)
        ),
        Row("link-stall", "how long a device may not read what is queued", .span(\.links.stall)),
    ]

    /// Reads the file; the defaults when there is none.
    package static func read(_ path: String) throws(Failure) -> GatewaySettings {
        var settings = GatewaySettings()
        for entry in try ConfigurationFile.read(path).entries {
            guard let row = table.first(where: { $0.name == entry.name }), entry.section.isEmpty
            else {
                throw Failure(
                    .failed,
                    "\(path): line \(entry.line): there is no setting \(entry.name.quoted)",
                    fix: "\"offstage-gateway help settings\" lists them."
                )
            }
            if let (problem, fix) = row.set(&settings, entry.value) {
                throw Failure(.failed, "\(path): line \(entry.line): \(problem)", fix: fix)
            }
        }
        if let problem = settings.contradiction { throw Failure(.failed, "\(path): \(problem)") }
        return settings
    }

    /// Each HOST:PORT, at least one; nil when one of them is none.
    static func addresses(_ text: String) -> [InternetAddress]? {
        let words = KeysFile.list(text)
        let addresses = words.compactMap { InternetAddress($0) }
        return addresses.count == words.count && !words.isEmpty && words.count <= mostAddresses
            ? addresses : nil
    }

    /// Each costs a socket, and a look in each turn.
    private static let mostAddresses = 16

    /// Two settings that cannot hold together, in words.
    private var contradiction: String? {
        if links.shortestKeepAlive > links.longestKeepAlive {
            return "keep-alive-longest (\(links.longestKeepAlive)) is less than "
                + "keep-alive-shortest (\(links.shortestKeepAlive))"
        }
        guard links.queue > links.largestQueue else { return nil }
        return "link-queue-largest (\(links.largestQueue)) is less than link-queue "
            + "(\(links.queue))"
    }

    /// What counts at the start only, and is not as in `other`.
    func readAtStart(otherThan other: GatewaySettings) -> [String] {
        var names: [String] = []
        if listen != other.listen { names.append("listen") }
        if devices != other.devices { names.append("devices") }
        if metrics != other.metrics { names.append("metrics") }
        if environment != other.environment { names.append("environment") }
        return names
    }
}

/// Files of NAME = VALUE lines.
enum ConfigurationFile {
    static func read(_ path: String) throws(Failure) -> ConfigurationText {
        if Files.isMissing(path) { return ConfigurationText() }
        try GatewayPaths.checkReadable(path)
        let bytes = try failing {
            try Files.readRegular(path, limit: ConfigurationText.limit + 1)
        }
        let text = ConfigurationText(bytes: bytes)
        guard let problem = text.diagnostics.first else { return text }
        throw Failure(.failed, "\(path): \(problem.finding)", fix: problem.fix)
    }
}
