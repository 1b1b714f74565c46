import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

extension GatewayProgram {
    static let initialize = Subcommand(
        "init",
        "create a gateway: authority, server certificate, first provider key",
        options: [
            OptionRow(
                "host",
                "names and addresses for the certificate (localhost,127.0.0.1,::1)",
                argument: "NAMES"
            ),
            OptionRow("key-id", "ID of the first key (OFFSTAGE01)", argument: "ID"),
            OptionRow("team", "team of the first key (TEAM000001)", argument: "ID"),
        ],
        details: ["Existing files are not changed. Prints the curl command for a first push."],
        examples: [Example("init --host=push.example.org", "Create a gateway for that name.")],
        printsData: true
    ) { invocation throws(Failure) in
        let given = invocation.options["host"].map(KeysFile.list)
        if given?.isEmpty == true {
            throw Failure(
                .usage,
                "--host is empty",
                fix: "Such as --host=push.example.org,10.0.0.7."
            )
        }
        for host in given ?? [] where !isHost(host) {
            throw Failure(
                .usage,
                "--host cannot be \(host.quoted)",
                fix: "Names and addresses without a port, such as push.example.org,10.0.0.7."
            )
        }
        let paths = invocation.paths
        let work = Initialization(
            paths: paths,
            hosts: given ?? ["localhost", "127.0.0.1", "::1"],
            keyID: try KeysFile.word(invocation.options["key-id"] ?? "OFFSTAGE01", "--key-id"),
            team: try KeysFile.word(invocation.options["team"] ?? "TEAM000001", "--team")
        )
        try work.run(invocation.console)
        try work.check(invocation.options)
        let settings = try GatewaySettings.read(paths.settings)
        let host = try work.host(given ?? [])
        // One that was made elsewhere signs nothing here.
        let keys = try KeysFile(paths.keys).keys().map(\.key)
        guard let key = keys.first(where: { Files.exists(paths.providerKey($0.id)) }) else {
            throw Failure(
                .failed,
                "the private half of no key of \(paths.keys) is here",
                fix: "\"offstage-gateway keys add\" makes one."
            )
        }
        let token = try ProviderClient.token(
            key: try failing { try Files.text(paths.providerKey(key.id)) },
            id: key.id,
            team: key.team
        )
        let curl =
            "curl --http2 --cacert \(paths.authority.shellWord) "
            + "-H 'authorization: bearer \(token)' "
            + "-H 'apns-topic: \(key.topics?.first ?? "org.example.App")' "
            + "-d '{\"aps\":{\"alert\":\"Hello\"}}' "
            + "https://\(host):\(settings.listen[0].port)/3/device/TOKEN"
        let report = Value.map([
            "directory": .string(paths.directory), "authority": .string(paths.authority),
            "key": .string(paths.providerKey(key.id)), "keyId": .string(key.id),
            "team": .string(key.team), "curl": .string(curl),
        ])
        invocation.show(report) { _ in
            let lines = [
                "The gateway is in \(paths.directory).",
                "Providers trust \(paths.authority),",
                "and sign with \(paths.providerKey(key.id)) (key \(key.id), team \(key.team)).",
                "",
                "Start it:  offstage-gateway serve "
                    + "--directory=\(paths.directory)".shellWord,
                "A first push, within the next hour, TOKEN being a device's:", "  " + curl,
            ]
            for line in lines { invocation.console.print(line) }
        }
    }

    static let serve = Subcommand(
        "serve",
        "run the gateway until SIGTERM, which drains it",
        options: [
            OptionRow(
                "listen",
                "addresses for providers, separated by commas; overrides the settings",
                argument: "HOST:PORT"
            ),
            OptionRow(
                "devices",
                "address for devices; overrides the settings",
                argument: "HOST:PORT"
            ),
            OptionRow(
                "metrics",
                "address for Prometheus; overrides the settings",
                argument: "HOST:PORT"
            ),
        ],
        details: [
            "Settings, keys and certificate are reloaded when their files change, and on SIGHUP. "
                + "Port 0 lets the system choose a port; once the gateway serves, it prints the "
                + "ports.",
            "If the service manager passes sockets named providers, devices or metrics, these are "
                + "used instead.",
        ],
        examples: [
            Example("serve --listen=:443,:2197", "Serve on the ports of APNs, both at once.")
        ],
        printsData: true
    ) { invocation throws(Failure) in
        try failing {
            try CurrentProcess.block(signals: [
                Signal.terminate, Signal.interrupt, Signal.hangUp,
            ])
            let files = try ResourceLimit(current: .openFiles)
            try ResourceLimit(.openFiles, soft: files.hard, hard: files.hard).apply()
        }
        var settings = try GatewaySettings.read(invocation.paths.settings)
        if let text = invocation.options["listen"] {
            settings.listen = try addresses(text)
        }
        if let text = invocation.options["devices"] { settings.devices = try address(text) }
        if let text = invocation.options["metrics"] { settings.metrics = try address(text) }
        let service = try GatewayService(invocation.paths, settings)
        let report = Value.map([
            "port": .integer(Int64(service.ports[0])),
            "ports": .list(service.ports.map { .integer(Int64($0)) }),
            "devicePort": .integer(Int64(service.devicePort)),
            "metricsPort": service.metricsPort.map { .integer(Int64($0)) } ?? .null,
        ])
        invocation.show(report) { _ in
            invocation.console.print(
                "serving providers at port\(service.ports.count > 1 ? "s" : "") "
                    + "\(GatewayService.list(service.ports)), "
                    + "devices at port \(service.devicePort)"
                    + (service.metricsPort.map { ", metrics at port \($0)" } ?? "")
            )
        }
        try service.run()
    }

    /// A host name (RFC 1123), of which the first label may be `*`, or an address.
    static func isHost(_ text: String) -> Bool {
        let text = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        if text.contains(":") || text.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }) {
            return CertificateTemplate.isAddress(String(text))
        }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-")
                    && !label.hasSuffix("-")
                    && label.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"),
                            UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                            true
                        default: false
                        }
                    }
            }
    }

    private static func addresses(_ text: String) throws(Failure) -> [InternetAddress] {
        guard let addresses = GatewaySettings.addresses(text) else {
            throw Failure(
                .usage,
                "\(text.quoted) is not HOST:PORT, or several of them",
                fix: "Such as :8443, 127.0.0.1:8443 or [::1]:8443; or :443,:2197."
            )
        }
        for (index, address) in addresses.enumerated()
        where addresses[..<index].contains(where: { $0 == address && $0.port != 0 }) {
            throw Failure(.usage, "\(text.quoted) names an address twice")
        }
        return addresses
    }

    static func address(_ text: String) throws(Failure) -> InternetAddress {
        guard let address = InternetAddress(text) else {
            throw Failure(
                .usage,
                "\(text.quoted) is not HOST:PORT",
                fix: "Such as :8443, 127.0.0.1:8443 or [::1]:8443."
            )
        }
        return address
    }

    static let stats = Subcommand(
        "stats",
        "print the metrics of the running gateway",
        details: ["The metrics are the same as for Prometheus, counted since the gateway's start."],
        examples: [Example("stats --json", "Print the metrics as JSON.")],
        printsData: true
    ) { invocation throws(Failure) in
        invocation.show(try ControlClient.ask("GET", "/stats", invocation.paths)) { value in
            guard case .map(let map) = value else { return }
            var table = Table([Table.Column("FIGURE"), Table.Column("VALUE", isNumber: true)])
            for entry in map.entries {
                guard case .map(let parts) = entry.value else {
                    table.add(entry.key, "\(entry.value.integerValue ?? 0)")
                    continue
                }
                for part in parts.entries {
                    // Buckets are for programs.
                    if case .map = part.value { continue }
                    table.add("\(entry.key) \(part.key)", part.value.json())
                }
            }
            table.print(invocation.console)
        }
    }
}
