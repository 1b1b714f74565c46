import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

extension GatewayProgram {
    static let send = Subcommand(
        "send",
        "send a push, as a provider would",
        forms: ["TOKEN"],
        operands: 1...1,
        options: [
            OptionRow("topic", "the app's bundle identifier (required)", argument: "ID"),
            OptionRow("alert", "text to show", argument: "TEXT"),
            OptionRow("silent", "wake the app; without --alert, show nothing"),
            OptionRow(
                "data",
                "add a key beside aps; may be given more than once",
                argument: "NAME=VALUE"
            ),
            OptionRow("payload", "use this payload instead", argument: "JSON"),
            OptionRow("type", "apns-push-type (alert, or background if silent)", argument: "TYPE"),
            OptionRow("priority", "apns-priority: 10, 5 or 1", argument: "NUMBER"),
            OptionRow(
                "expiration",
                "apns-expiration, in seconds since 1970; 0: one attempt",
                argument: "SECONDS"
            ),
            OptionRow("collapse-id", "replace an earlier push with this id", argument: "ID"),
            OptionRow(
                "host",
                "address of the gateway (default: that of the directory)",
                argument: "HOST:PORT"
            ),
            OptionRow("ca", "file with the authorities to trust", argument: "FILE"),
            OptionRow("key", "the provider's private key", argument: "FILE"),
            OptionRow("key-id", "ID of that key", argument: "ID"),
            OptionRow("team", "team of that key", argument: "ID"),
        ],
        details: [
            "Without --key, the push is signed with a key from the gateway's directory: the one "
                + "with --key-id, or else the first."
        ],
        examples: [
            Example(
                "send --topic=org.example.Chat --alert=Hello TOKEN",
                "Send a push that is "
                    + "shown at once."
            ),
            Example(
                "send --topic=org.example.Chat --silent --data=room=7 TOKEN",
                "Send a push "
                    + "that only wakes the app."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let options = invocation.options
        guard let topic = options["topic"] else {
            throw Failure(
                .usage,
                "--topic is missing",
                fix: "It is the app's bundle identifier, such as --topic=org.example.Chat."
            )
        }
        let token = invocation.operands[0]
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Failure(.usage, "\(token.quoted) is not a token", fix: "Digits and a to f.")
        }
        let response = try send(
            "POST",
            "/3/device/\(token)",
            [("apns-topic", topic)] + fields(options),
            Array(try payload(options).utf8),
            invocation
        )
        let body = (try? ValueJSON.parse(response.body)) ?? .null
        let report = Value.map([
            "status": .integer(Int64(response.status)),
            "apnsId": response.header("apns-id").map { .string($0) } ?? .null,
            "uniqueId": response.header("apns-unique-id").map { .string($0) } ?? .null,
            "reason": body["reason"] ?? .null,
        ])
        invocation.show(report) { report in
            guard response.status == 200 else { return }
            invocation.console.print("accepted: \(report["uniqueId"]?.stringValue ?? "")")
        }
        guard response.status == 200 else {
            throw Failure(
                .failed,
                "refused: \(response.status) \(body["reason"]?.stringValue ?? "")"
            )
        }
    }

    private static func fields(_ options: Options) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        let type =
            options["type"]
            ?? (options.has("silent") && options["alert"] == nil ? "background" : "alert")
        fields.append(("apns-push-type", type))
        let priority = options["priority"] ?? (type == "background" ? "5" : nil)
        if let priority { fields.append(("apns-priority", priority)) }
        for name in ["expiration", "collapse-id"] {
            if let value = options[name] { fields.append(("apns-\(name)", value)) }
        }
        return fields
    }

    static func payload(_ options: Options) throws(Failure) -> String {
        if let text = options["payload"] {
            for name in ["alert", "silent", "data"] where options.has(name) {
                throw Failure(.usage, "--payload is the whole payload: leave out --\(name)")
            }
            guard let value = try? ValueJSON.parse(text), case .map = value else {
                throw Failure(
                    .usage,
                    "--payload is not a JSON object",
                    fix: "Such as --payload='{\"aps\":{\"alert\":\"Hello\"}}'."
                )
            }
            return text
        }
        guard options.has("alert") || options.has("silent") else {
            throw Failure(
                .usage,
                "the push has no content",
                fix: "Say --alert=TEXT, --silent or --payload=JSON."
            )
        }
        var aps: [(String, Value)] = []
        if let alert = options["alert"] { aps.append(("alert", .string(alert))) }
        if options.has("silent") { aps.append(("content-available", .integer(1))) }
        var fields: [(String, Value)] = [("aps", .map(ValueMap(aps)))]
        for entry in options.all("data") {
            guard let equals = entry.firstIndex(of: "=") else {
                throw Failure(.usage, "--data \(entry.quoted) is not NAME=VALUE")
            }
            let name = String(entry[..<equals])
            // `aps` among them; of two entries with one name only the last would be sent.
            guard !fields.contains(where: { $0.0 == name }) else {
                throw Failure(
                    .usage,
                    name == "aps"
                        ? "--data cannot set aps, which has what --alert and --silent say"
                        : "--data has \(name.quoted) twice",
                    fix: "--payload=JSON takes any payload."
                )
            }
            let value = String(entry[entry.index(after: equals)...])
            fields.append((name, .string(value)))
        }
        return Value.map(ValueMap(fields)).json()
    }

    /// One request of a provider, with what the options and the directory say.
    private static func send(
        _ method: String,
        _ path: String,
        _ fields: [(name: String, value: String)],
        _ body: [UInt8],
        _ invocation: GatewayInvocation
    ) throws(Failure) -> ProviderClient.Response {
        let options = invocation.options
        let paths = invocation.paths
        let settings = try GatewaySettings.read(paths.settings)
        var address = InternetAddress(host: "localhost", port: settings.listen[0].port)
        if let text = options["host"] { address = try Self.address(text) }
        let anchors = try invocation.anchors()
        var key: (text: String, id: String, team: String)
        var file = options["key"]
        if let path = options["key"] {
            guard let id = options["key-id"], let team = options["team"] else {
                throw Failure(.usage, "--key needs --key-id and --team")
            }
            key = (try failing { try Files.text(path) }, id, team)
        } else {
            key = try ownKey(options["key-id"], options["team"], paths)
            file = paths.providerKey(key.id)
        }
        let token = try ProviderClient.token(
            key: key.text,
            id: key.id,
            team: key.team,
            from: file ?? ""
        )
        let client = ProviderClient(
            address: address,
            host: options["ca"] == nil ? paths.serverName(at: address) : address.host,
            anchors: anchors.text,
            from: anchors.file
        )
        return try client.send(
            method,
            path,
            fields + [("authorization", "bearer " + token)],
            body: body
        )
    }

    /// A key of the gateway's directory.
    private static func ownKey(
        _ id: String?,
        _ team: String?,
        _ paths: GatewayPaths
    ) throws(Failure) -> (text: String, id: String, team: String) {
        if team != nil { throw Failure(.usage, "--team is that of --key, which is missing") }
        let keys = try KeysFile(paths.keys).keys().map(\.key)
        guard let key = id.map({ id in keys.first { $0.id == id } }) ?? keys.first else {
            throw Failure(
                .notFound,
                "there is no key\(id.map { " \($0.quoted)" } ?? "")",
                fix: "Say --key, --key-id and --team, or make one: offstage-gateway keys add ID "
                    + "--team=TEAM"
            )
        }
        return (try failing { try Files.text(paths.providerKey(key.id)) }, key.id, key.team)
    }
}
