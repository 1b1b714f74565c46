import CommandTable
import DeviceLink
import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

extension GatewayProgram {
    static let device = Subcommand(
        "device",
        "run a test device: register apps, print their tokens and the pushes that arrive",
        forms: ["TOPIC..."],
        operands: 1...100,
        options: [
            OptionRow("host", "address of the gateway's device port", argument: "HOST:PORT"),
            OptionRow("ca", "file with the authorities to trust", argument: "FILE"),
            OptionRow(
                "enrolment-file",
                "file with the secret that the gateway requires from new devices",
                argument: "FILE"
            ),
            OptionRow(
                "identity",
                "file with the device's key, created if it does not exist",
                argument: "FILE"
            ),
            OptionRow("web-push", "also request addresses for Web Push"),
            OptionRow(
                "sender",
                "key of the only sender that may use the address (VAPID, base64)",
                argument: "KEY"
            ),
            OptionRow("channel", "follow a broadcast channel of the first app", argument: "ID"),
            OptionRow("count", "exit after this number of pushes", argument: "NUMBER"),
            OptionRow("battery", "report this battery charge", argument: "PERCENT"),
            OptionRow("low-power", "report low-power mode"),
            OptionRow("no-ack", "do not acknowledge pushes"),
        ],
        details: [
            "For testing the gateway by hand. Prints one line for each token, address and push; "
                + "with --json, one object. Exits on SIGTERM, or after --count pushes."
        ],
        examples: [
            Example("device org.example.Chat", "Print a token for \"send\", then each push."),
            Example(
                "device --web-push org.example.Chat",
                "Also print an address for a Web Push "
                    + "library."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        try failing { try TrialDevice(invocation).run() }
    }
}

/// A device for the shell: one link, a few apps, nothing kept but who it is.
private final class TrialDevice {
    private let invocation: GatewayInvocation
    private let loop: EventLoop
    private let count: Int?
    private var link: GatewayLink?
    private var topics: [UInt64: String] = [:]
    /// Topics that were asked for and not answered yet.
    private var asked: Set<String> = []
    /// Pushes that were kept come before the answer that says which app they are for.
    private var early: [LinkClient.ReceivedPush] = []
    private var pushes = 0
    private var signals: [SignalSource] = []
    private let anchors: String
    private let name: String
    private let address: InternetAddress
    private var hasBeenOnline = false
    private var failure: Failure?

    init(_ invocation: GatewayInvocation) throws {
        self.invocation = invocation
        _ = try KeysFile.topics(invocation.operands)
        count = try invocation.integer("count", in: 1...1_000_000_000).map { Int($0) }
        try CurrentProcess.block(signals: [Signal.terminate, Signal.interrupt])
        loop = try EventLoop()
        let options = invocation.options
        let paths = invocation.paths
        let settings = try GatewaySettings.read(paths.settings)
        var address = InternetAddress(host: "localhost", port: settings.devices.port)
        if let text = options["host"] { address = try GatewayProgram.address(text) }
        let trusted = try invocation.anchors()
        anchors = trusted.file
        name = options["ca"] == nil ? paths.serverName(at: address) : address.host
        self.address = address
        let context = try failing(trusted.file) {
            try TLSContext(clientTrusting: trusted.text, protocols: [LinkFormat.protocolName])
        }
        var condition = LinkCondition(isLowPower: options.has("low-power"))
        if let battery = try invocation.integer("battery", in: 0...100) {
            condition.battery = UInt8(battery)
            condition.isOnMains = false
        }
        let seed = UInt64(truncatingIfNeeded: Clocks.boot().nanoseconds)
        link = try GatewayLink(
            loop,
            to: address,
            name: name,
            context,
            key: try Self.identity(options["identity"] ?? paths.deviceKey),
            enrolment: try Self.enrolment(options, settings),
            LinkClient(condition: condition, seed: seed)
        ) { [unowned self] link, event in happened(event, link) }
        for signal in [Signal.terminate, Signal.interrupt] {
            signals.append(try SignalSource(loop, signal) { [unowned self] _ in loop.exit() })
        }
    }

    private static func identity(_ path: String) throws -> Ed25519PrivateKey {
        if Files.exists(path) {
            let text = try Files.text(path)
            guard let seed = Hexadecimal.bytes(text.utf8.filter { $0 > 0x20 }) else {
                throw Failure(.failed, "\(path) does not hold a device's key")
            }
            return try Ed25519PrivateKey(seed: seed)
        }
        let key = try Ed25519PrivateKey()
        try Files.replace(path, with: Hexadecimal.text(try key.seed()))
        return key
    }

    /// That of this machine's gateway is told to no other.
    private static func enrolment(
        _ options: Options,
        _ settings: GatewaySettings
    ) throws -> String {
        guard let path = options["enrolment-file"] else {
            return options["host"] == nil ? settings.links.enrolment ?? "" : ""
        }
        let text = try Files.text(path).split(separator: "\n").first.map(String.init) ?? ""
        guard (1...LinkFormat.longestEnrolment).contains(text.utf8.count) else {
            throw Failure(
                .usage,
                "\(path) must hold one line of 1 to \(LinkFormat.longestEnrolment) bytes"
            )
        }
        return text
    }

    private static func senderKey(_ text: String?) throws(Failure) -> [UInt8] {
        guard let text else { return [] }
        guard let key = Base64.decode(text.utf8), key.count == LinkFormat.senderKeyBytes else {
            throw Failure(.usage, "--sender \(text.quoted) is not a key of 65 bytes in base64")
        }
        return key
    }

    private func follow() throws(Failure) {
        guard let topic = invocation.operands.first else { return }
        for text in invocation.options.all("channel") {
            guard let id = ChannelID(text.utf8) else {
                throw Failure(.usage, "--channel \(text.quoted) is not a channel's id")
            }
            link?.follow(LinkClient.Follow(topic: topic, channel: id.bytes))
        }
    }

    func run() throws {
        asked = Set(invocation.operands)
        for topic in invocation.operands { link?.register(topic) }
        let options = invocation.options
        if options.has("web-push") || options["sender"] != nil {
            let key = try Self.senderKey(options["sender"])
            for topic in invocation.operands {
                link?.subscribe(LinkClient.Subscription(topic: topic, key: key))
            }
        }
        try follow()
        link?.start()
        while try loop.runTurn() {}
        link?.stop()
        if let failure { throw failure }
    }

    private func happened(_ event: GatewayLink.Event, _ link: GatewayLink) {
        switch event {
        case .online: hasBeenOnline = true
        case .unregistered: break
        case .untrusted(let problem):
            refuse(Failure(untrusted: problem, at: address, as: name, trusting: anchors))
        case .otherProtocol(let problem):
            refuse(
                Failure(
                    .failed,
                    "\(address) does not speak the protocol for devices (\(problem))",
                    fix: "If that is the gateway's port for providers, name the one for devices "
                        + "(setting \"devices\")."
                )
            )
        case .offline(let reason):
            if let reason { GatewayLog.write("the gateway ended the link: \(reason.explanation)") }
        case .problem(let text): GatewayLog.write(text)
        case .refused(let topic, let problem):
            GatewayLog.write("\(topic): \(problem.explanation)")
            if problem != .unavailable { answered(topic, link) }
        case .registered(let topic, let app, let token):
            topics[app] = topic
            let text = Hexadecimal.text(token)
            say(["token": .string(text), "topic": .string(topic)], "token \(topic) \(text)")
            answered(topic, link)
        case .subscribed(let subscription, let app, let endpoint):
            topics[app] = subscription.topic
            say(
                ["endpoint": .string(endpoint), "topic": .string(subscription.topic)],
                "endpoint \(subscription.topic) \(endpoint)"
            )
        case .following(let follow, let why):
            let text = ChannelID(bytes: follow.channel)?.text ?? ""
            if let why { return GatewayLog.write("channel \(text): \(why.explanation)") }
            say(["channel": .string(text)], "following \(text)")
        case .broadcast(let broadcast, let topic):
            let text = String(decoding: broadcast.payload, as: UTF8.self)
            let channel = ChannelID(bytes: broadcast.channel)?.text ?? ""
            say(
                [
                    "topic": .string(topic), "channel": .string(channel),
                    "priority": .integer(Int64(broadcast.priority)), "payload": .string(text),
                ],
                "broadcast \(topic) \(text)"
            )
            counted()
        case .push(let received):
            guard topics[received.push.app] == nil, !asked.isEmpty else {
                return self.received(received, link)
            }
            early.append(received)
        }
    }

    /// Trying again helps only where it was good before: the gateway may get a new certificate.
    private func refuse(_ reason: Failure) {
        guard !hasBeenOnline else { return GatewayLog.write(reason.message) }
        failure = reason
        loop.exit()
    }

    /// What came too early is shown once it is known whose it is, or that nobody will say.
    private func answered(_ topic: String, _ link: GatewayLink) {
        asked.remove(topic)
        let waiting = early
        early = []
        for push in waiting { happened(.push(push), link) }
    }

    private func received(_ received: LinkClient.ReceivedPush, _ link: GatewayLink) {
        let push = received.push
        let topic = topics[push.app] ?? "app-\(push.app)"
        let (encoding, payload) = Self.content(of: push)
        let type = PushType(rawValue: push.type)?.name ?? "?"
        let collapseID = String(decoding: push.collapseID, as: UTF8.self)
        say(
            [
                "topic": .string(topic), "pushType": .string(type),
                "priority": .integer(Int64(push.priority)), "silent": .bool(push.isSilent),
                "rider": .bool(push.isRider),
                "encoding": encoding.map { .string($0) } ?? .null, "payload": .string(payload),
                "collapseId": .string(collapseID),
            ],
            (["push", topic, type] + [encoding].compactMap(\.self) + [payload])
                .joined(separator: " ")
        )
        if !invocation.options.has("no-ack") { link.acknowledge(received) }
        counted()
    }

    private func counted() {
        pushes += 1
        if let count, pushes >= count { loop.exit() }
    }

    /// What a Web Push brought is encrypted for the app: its encoding, if the sender named one, and
    /// the body in base64.
    private static func content(
        of push: GatewayFrame.Push
    ) -> (encoding: String?, payload: String) {
        guard push.type == PushType.webpush.rawValue, let count = push.payload.first else {
            return (nil, String(decoding: push.payload, as: UTF8.self))
        }
        let encoding = String(
            decoding: push.payload.dropFirst().prefix(Int(count)),
            as: UTF8.self
        )
        let body = Base64.urlText(Array(push.payload.dropFirst(1 + Int(count))))
        return (encoding.isEmpty ? nil : encoding, body)
    }

    private func say(_ value: Value, _ text: String) {
        invocation.console.print(invocation.wantsJSON ? value.json() : text)
    }
}
