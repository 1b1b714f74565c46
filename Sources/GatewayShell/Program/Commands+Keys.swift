import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

extension GatewayProgram {
    static let keys = Subcommand(
        "keys",
        "list, create, limit and revoke what providers identify themselves with",
        forms: [
            "", "add ID --team=TEAM", "remove ID", "quota ID NUMBER/TIME|none",
            "certificate TOPIC", "revoke CERTIFICATE", "readmit CERTIFICATE", "revoked",
        ],
        operands: 0...3,
        options: [
            OptionRow("team", "team of the key", argument: "ID"),
            OptionRow("topics", "the only topics that the key may push to", argument: "LIST"),
            OptionRow("environment", "production or development (default: both)", argument: "NAME"),
            OptionRow(
                "public",
                "the public key (PEM), if the key pair exists already",
                argument: "FILE"
            ),
        ],
        details: [
            "\"add\" writes the private key to ID.p8 in the gateway's directory: move it to the "
                + "provider. \"remove\" removes the private and the public key. \"quota\" limits "
                + "the pushes of the key: NUMBER at once, refilled evenly over TIME. Further ones "
                + "are refused with 429 TooManyRequests. What is left of a quota is not stored: "
                + "all quotas are full after a restart.",
            "\"certificate\" prints a client certificate with its key, for providers without "
                + "tokens. \"revoke\" refuses a certificate from now on, with 403 "
                + "BadCertificate, and \"readmit\" takes that back; CERTIFICATE is its file or "
                + "its SHA-256 fingerprint, which \"log --json\" shows as the provider. "
                + "\"revoked\" lists the revoked ones. A running gateway applies all changes at "
                + "once.",
        ],
        examples: [
            Example(
                "keys add CHAT000001 --team=TEAM000001 --topics=org.example.Chat",
                "Create a key for one app."
            ),
            Example(
                "keys certificate org.example.Chat > chat.pem",
                "Create a certificate for a provider without tokens."
            ),
            Example(
                "keys quota CHAT000001 100000/1d",
                "100,000 pushes at once, and 100,000 more per day."
            ),
            Example("keys revoke chat.pem", "Refuse a certificate whose key is lost."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let operands = invocation.operands
        try invocation.paths.checkExists()
        let path = invocation.paths.keys
        let isReading = [nil, "revoked", "certificate"].contains(operands.first)
        var file = try isReading ? KeysFile(path) : KeysFile(changing: path, invocation.console)
        switch operands.first {
        case nil: try listKeys(file, invocation)
        case "add" where operands.count == 2: try addKey(operands[1], &file, invocation)
        case "remove" where operands.count == 2:
            try file.remove(operands[1])
            try file.write()
            if let id = try? KeysFile.word(operands[1], "a key's ID") {
                try? Files.remove(invocation.paths.providerKey(id))
            }
        case "quota" where operands.count == 3:
            try file.setQuota(operands[2] == "none" ? nil : operands[2], of: operands[1])
            try file.write()
        case "certificate" where operands.count == 2:
            try makeCertificate(operands[1], invocation)
        case "revoke" where operands.count == 2: try revoke(operands[1], &file, invocation)
        case "readmit" where operands.count == 2: try readmit(operands[1], &file, invocation)
        case "revoked" where operands.count == 1: listRevoked(file, invocation)
        case .some: throw misuse(of: "keys", operands)
        }
    }

    private static func listKeys(
        _ file: KeysFile,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        let keys = try file.keys().map(\.key)
        let report = Value.list(
            keys.map { key in
                .map([
                    "id": .string(key.id), "team": .string(key.team),
                    "topics": key.topics.map { .list($0.map { .string($0) }) } ?? .null,
                    "environment": key.environment.map { .string($0.rawValue) } ?? .null,
                    "quota": key.quota.map { .string($0.text) } ?? .null,
                ])
            }
        )
        invocation.show(report) { _ in
            var table = Table("KEY", "TEAM", "ENVIRONMENT", "QUOTA", "TOPICS")
            for key in keys {
                let topics = key.topics?.joined(separator: ", ") ?? "any"
                table.add(
                    key.id,
                    key.team,
                    key.environment?.rawValue ?? "both",
                    key.quota?.text ?? "none",
                    topics
                )
            }
            table.print(invocation.console)
        }
    }

    private static func addKey(
        _ id: String,
        _ file: inout KeysFile,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        guard let team = invocation.options["team"] else {
            throw Failure(
                .usage,
                "--team is missing",
                fix: "Usage: offstage-gateway keys add ID --team=TEAM"
            )
        }
        let hadOneTeam = try file.hasOneTeam()
        var key = ProviderKey(
            id: try KeysFile.word(id, "a key's ID"),
            team: try KeysFile.word(team, "--team")
        )
        if let list = invocation.options["topics"] {
            key.topics = try KeysFile.topics(KeysFile.list(list))
        }
        if let name = invocation.options["environment"] {
            guard let environment = PushEnvironment(rawValue: name) else {
                throw Failure.unknown(
                    "environment",
                    name,
                    among: PushEnvironment.allCases.map(\.rawValue),
                    otherwise: "It is production or development; without it, the key is for both."
                )
            }
            key.environment = environment
        }
        if let path = invocation.options["public"] {
            try file.add(key, try failing { try P256PublicKey(pem: try Files.text(path)) })
            try file.write()
            invocation.show(.map(["id": .string(id), "key": .null])) { _ in }
        } else {
            try Initialization.makeKey(key, invocation.paths, &file)
            let path = invocation.paths.providerKey(id)
            invocation.show(.map(["id": .string(id), "key": .string(path)])) { _ in
                invocation.console.print("the private key is in \(path)")
            }
        }
        if hadOneTeam { try tellOfTeams(file, invocation) }
    }

    static let devices = Subcommand(
        "devices",
        "list devices, or remove one",
        forms: ["", "remove NUMBER"],
        operands: 0...2,
        options: [
            OptionRow("lines", "maximum number of devices to list (1000)", argument: "NUMBER")
        ],
        details: [
            "The tokens of a removed device are no longer valid; it may register again. SEEN may "
                + "be up to a day old."
        ],
        examples: [
            Example(
                "devices remove 17",
                "Remove device 17; its tokens are answered 410 "
                    + "from now on."
            )
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let operands = invocation.operands
        if operands.count == 2, operands[0] == "remove" {
            guard let number = UInt64(operands[1]) else {
                throw Failure(.usage, "\(operands[1].quoted) is not a device number")
            }
            _ = try ControlClient.ask("DELETE", "/devices/\(number)", invocation.paths)
            return
        }
        guard operands.isEmpty else { throw misuse(of: "devices", operands) }
        let limit = Int(try invocation.integer("lines", in: 1...1_000_000) ?? 1000)
        let list = try failing { try invocation.store().devices(after: 0, limit: limit) }
        let report = Value.list(
            list.map { device in
                .map([
                    "device": .integer(Int64(clamping: device.id.number)),
                    "key": .string(Hexadecimal.text(device.key)),
                    "since": .integer(device.since.nanoseconds / 1_000_000_000),
                    "seen": .integer(device.seen.nanoseconds / 1_000_000_000),
                    "apps": .integer(Int64(device.apps)),
                    "stored": .integer(Int64(device.stored)),
                ])
            }
        )
        invocation.show(report) { _ in
            var table = Table([
                Table.Column("DEVICE", isNumber: true), Table.Column("APPS", isNumber: true),
                Table.Column("STORED", isNumber: true), Table.Column("SEEN"), Table.Column("KEY"),
            ])
            let now = Clocks.now().wall
            for device in list {
                let days = (now - device.seen).wholeSeconds / 86_400
                let cells = [
                    "\(device.id)", "\(device.apps)", "\(device.stored)",
                    days < 1 ? "today" : days == 1 ? "1 day ago" : "\(days) days ago",
                    Hexadecimal.text(device.key.prefix(8)),
                ]
                table.add(cells.map { Table.Cell($0) })
            }
            table.print(invocation.console)
        }
    }
}
