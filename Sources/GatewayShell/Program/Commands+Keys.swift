import GatewayCore
import Linux
import TLS
import Vocabulary

extension GatewayCommand {
    static let keys = GatewayCommand(
        name: "keys",
        summary: "List, make and remove the keys of providers",
        forms: ["", "add ID --team=TEAM", "remove ID", "certificate TOPIC"],
        operands: 0...2,
        options: [
            GatewayOption("team", "ID", "whose key it is"),
            GatewayOption("topics", "LIST", "the only topics that it may push to"),
            GatewayOption("environment", "NAME", "production or development; both without"),
            GatewayOption("public", "FILE", "the public half (PEM), if the key exists already"),
        ],
        details: "\"add\" writes the private half to ID.p8 beside the other files: move it to the "
            + "provider. \"certificate\" prints a client certificate with its key instead. "
            + "A gateway that runs knows of changes at once.",
        examples: [
            ("keys add CHAT000001 --team=TEAM000001 --topics=org.example.Chat", "For one app."),
            ("keys certificate org.example.Chat > chat.pem", "For a provider without tokens."),
        ]
    ) { invocation throws(GatewayFailure) in
        var file = try KeysFile(invocation.places.keys)
        let operands = invocation.operands
        switch operands.first {
        case nil: try listKeys(file, invocation)
        case "add" where operands.count == 2: try addKey(operands[1], &file, invocation)
        case "remove" where operands.count == 2:
            try file.remove(operands[1])
            try file.write()
        case "certificate" where operands.count == 2:
            let work = Initialization(
                places: invocation.places,
                hosts: [],
                keyID: "",
                team: ""
            )
            invocation.print(try work.makeClientCertificate(operands[1]))
        case .some(let word):
            throw GatewayFailure(
                .usage,
                "keys cannot \(operands.joined(separator: " ").quoted)",
                fix: word == "add" ? "Usage: keys add ID --team=TEAM" : "See \"help keys\"."
            )
        }
    }

    private static func listKeys(
        _ file: KeysFile,
        _ invocation: GatewayInvocation
    ) throws(GatewayFailure) {
        let keys = try file.keys().map(\.key)
        let report = Value.list(
            keys.map { key in
                .map([
                    "id": .string(key.id), "team": .string(key.team),
                    "topics": key.topics.map { .list($0.map { .string($0) }) } ?? .null,
                    "environment": key.environment.map { .string($0.rawValue) } ?? .null,
                ])
            }
        )
        invocation.show(report) { _ in
            ["KEY".padded(to: 14) + "TEAM".padded(to: 14) + "TOPICS"]
                + keys.map {
                    $0.id.padded(to: 14) + $0.team.padded(to: 14)
                        + ($0.topics?.joined(separator: ", ") ?? "any")
                }
        }
    }

    private static func addKey(
        _ id: String,
        _ file: inout KeysFile,
        _ invocation: GatewayInvocation
    ) throws(GatewayFailure) {
        guard let team = invocation.options["team"] else {
            throw GatewayFailure(.usage, "--team is missing", fix: "keys add ID --team=TEAM")
        }
        var key = ProviderKey(id: id, team: team)
        key.topics = invocation.options["topics"].map(KeysFile.list)
        if let name = invocation.options["environment"] {
            guard let environment = PushEnvironment(rawValue: name) else {
                throw GatewayFailure(.usage, "there is no environment \(name.quoted)")
            }
            key.environment = environment
        }
        if let path = invocation.options["public"] {
            try file.add(key, try failing { try P256PublicKey(pem: try Files.text(path)) })
            try file.write()
        } else {
            try Initialization.makeKey(key, invocation.places, &file)
            invocation.print("the private key is in \(invocation.places.providerKey(id))")
        }
    }

    static let topics = GatewayCommand(
        name: "topics",
        summary: "List the apps of devices, and say which a key may push to",
        forms: ["", "set KEY TOPIC...", "any KEY"],
        operands: 0...100,
        options: [],
        details: "An app is known once a device has registered it.",
        examples: [("topics set CHAT000001 org.example.Chat", "Only that app, from now on.")]
    ) { invocation throws(GatewayFailure) in
        let operands = invocation.operands
        switch operands.first {
        case nil:
            let apps = try failing { try invocation.reader().apps() }.map(\.1)
            invocation.show(.list(apps.map { .string($0) })) { _ in apps }
        case "set" where operands.count > 2:
            var file = try KeysFile(invocation.places.keys)
            try file.setTopics(Array(operands.dropFirst(2)), of: operands[1])
            try file.write()
        case "any" where operands.count == 2:
            var file = try KeysFile(invocation.places.keys)
            try file.setTopics(nil, of: operands[1])
            try file.write()
        case .some:
            throw GatewayFailure(.usage, "topics set KEY TOPIC..., or topics any KEY")
        }
    }

    static let devices = GatewayCommand(
        name: "devices",
        summary: "List devices, or remove one",
        forms: ["", "remove NUMBER"],
        operands: 0...2,
        options: [GatewayOption("lines", "NUMBER", "how many at most (1000)")],
        details: "A device that was removed has no valid tokens any more, and may register again.",
        examples: [("devices remove 17", "Its tokens are answered 410 from now on.")]
    ) { invocation throws(GatewayFailure) in
        let operands = invocation.operands
        if operands.count == 2, operands[0] == "remove" {
            guard let number = UInt64(operands[1]) else {
                throw GatewayFailure(.usage, "\(operands[1].quoted) is no device's number")
            }
            _ = try ControlClient.ask("DELETE", "/devices/\(number)", invocation.places)
            return
        }
        guard operands.isEmpty else { throw GatewayFailure(.usage, "devices remove NUMBER") }
        let limit = try invocation.integer("lines", 1...1_000_000) ?? 1000
        let list = try failing { try invocation.reader().devices(after: 0, limit: limit) }
        let report = Value.list(
            list.map { device in
                .map([
                    "device": .integer(Int64(clamping: device.id.number)),
                    "key": .string(Hexadecimal.text(device.key)),
                    "since": .integer(device.since.nanoseconds / 1_000_000_000),
                    "apps": .integer(Int64(device.apps)),
                    "stored": .integer(Int64(device.stored)),
                ])
            }
        )
        invocation.show(report) { _ in
            ["DEVICE".padded(to: 10) + "APPS".padded(to: 6) + "STORED".padded(to: 8) + "KEY"]
                + list.map {
                    "\($0.id)".padded(to: 10) + "\($0.apps)".padded(to: 6)
                        + "\($0.stored)".padded(to: 8) + Hexadecimal.text($0.key.prefix(8))
                }
        }
    }
}
