package import GatewayCore
package import Linux
package import Vocabulary

/// `gateway.conf`: one NAME = VALUE a line. What is not there has its default.
package struct GatewaySettings: Sendable {
    package var listen = InternetAddress(host: "", port: 8443)
    package var devices = InternetAddress(host: "", port: 8444)
    /// Where Prometheus may ask; nil: nowhere.
    package var metrics: InternetAddress?
    package var logAge = Interval.days(7)
    package var drainTime = Interval.seconds(10)
    package var provider = ProviderServer.Settings()
    package var limits = GatewayLimits()

    package init() {}

    /// One line of the file: its name, what it means, and how it is set.
    package struct Row: Sendable {
        package let name: String
        package let meaning: String
        let set: @Sendable (inout GatewaySettings, String) -> Bool
    }

    package static let table: [Row] = [
        Row(name: "listen", meaning: "HOST:PORT for providers (:8443); read at the start") {
            set(&$0.listen, InternetAddress($1))
        },
        Row(name: "devices", meaning: "HOST:PORT for devices (:8444); read at the start") {
            set(&$0.devices, InternetAddress($1))
        },
        Row(name: "metrics", meaning: "HOST:PORT for Prometheus, nowhere else; at the start") {
            $0.metrics = InternetAddress($1)
            return $0.metrics != nil
        },
        Row(name: "environment", meaning: "production or development (production)") {
            set(&$0.provider.environment, PushEnvironment(rawValue: $1))
        },
        Row(name: "log-age", meaning: "how long the delivery log is kept (7d)") {
            set(&$0.logAge, Interval($1))
        },
        Row(name: "drain-time", meaning: "how long open requests may take at the end (10s)") {
            set(&$0.drainTime, Interval($1))
        },
        number("connections", "connections of providers at a time (10000)") {
            $0.provider.connections = $1
        },
        number("streams", "requests at a time on one connection (1000)") {
            $0.provider.streams = UInt32(clamping: $1)
        },
        span("request-time", "how long a request may take to come (30s)") {
            $0.provider.requestTime = $1
        },
        span("idle-time", "how long a connection may be silent (2h)") {
            $0.provider.idleTime = $1
        },
        number("silent-burst", "silent pushes to an app on a device at once (3)") {
            $0.limits.silentBurst = $1
        },
        span("silent-refill", "after which there may be one more (20min)") {
            $0.limits.silentRefill = $1
        },
        number("silent-per-day", "silent wakes of a device in 24 hours on battery (24)") {
            $0.limits.silentPerDay = $1
        },
        number("silent-battery", "percent of charge below which none goes (20)") {
            $0.limits.silentBattery = $1
        },
        span("acknowledgement", "how long a device has to acknowledge (2s)") {
            $0.limits.acknowledgement = $1
        },
        span("storage", "how long a push is kept at most (30d)") { $0.limits.storage = $1 },
        number("token-burst", "pushes to one token at once (1000)") {
            $0.limits.tokenBurst = $1
        },
        number("token-rate", "and so many a second after that (200)") {
            $0.limits.tokenRate = $1
        },
        span("token-renewal", "between two tokens of a provider on a connection (20min)") {
            $0.limits.tokenRenewal = $1
        },
    ]

    private static func set<Wanted>(_ field: inout Wanted, _ value: Wanted?) -> Bool {
        guard let value else { return false }
        field = value
        return true
    }

    private static func number(
        _ name: String,
        _ meaning: String,
        _ set: @escaping @Sendable (inout GatewaySettings, Int) -> Void
    ) -> Row {
        Row(name: name, meaning: meaning) {
            guard let number = Int($1), (0...1_000_000_000).contains(number) else { return false }
            set(&$0, number)
            return true
        }
    }

    private static func span(
        _ name: String,
        _ meaning: String,
        _ set: @escaping @Sendable (inout GatewaySettings, Interval) -> Void
    ) -> Row {
        Row(name: name, meaning: meaning) {
            guard let span = Interval($1) else { return false }
            set(&$0, span)
            return true
        }
    }

    /// Reads the file; the defaults when there is none.
    package static func read(_ path: String) throws(GatewayFailure) -> GatewaySettings {
        var settings = GatewaySettings()
        for entry in try ConfigurationFile.read(path).entries {
            guard let row = table.first(where: { $0.name == entry.name }), entry.section.isEmpty
            else {
                throw GatewayFailure(
                    .failed,
                    "\(path), line \(entry.line): there is no setting \(entry.name.quoted)",
                    fix: "\"offstage-gateway help settings\" lists them."
                )
            }
            guard row.set(&settings, entry.value) else {
                throw GatewayFailure(
                    .failed,
                    "\(path), line \(entry.line): \(entry.name) cannot be \(entry.value.quoted)",
                    fix: "\(row.name): \(row.meaning)."
                )
            }
        }
        return settings
    }
}

/// Files of NAME = VALUE lines.
enum ConfigurationFile {
    static func read(_ path: String) throws(GatewayFailure) -> ConfigurationText {
        guard Files.exists(path) else { return ConfigurationText() }
        let bytes = try failing {
            try Files.readRegular(path, limit: ConfigurationText.limit + 1)
        }
        let text = ConfigurationText(bytes: bytes)
        guard let problem = text.diagnostics.first else { return text }
        throw GatewayFailure(.failed, "\(path): \(problem)")
    }
}
