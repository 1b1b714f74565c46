import DeviceLink
import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

extension GatewayCommand {
    static let device = GatewayCommand(
        name: "device",
        summary: "Be a device: register apps, print their tokens and the pushes that come",
        forms: ["TOPIC..."],
        operands: 1...100,
        options: [
            GatewayOption("host", "HOST:PORT", "the gateway's port for devices"),
            GatewayOption("ca", "FILE", "who vouches for it"),
            GatewayOption("identity", "FILE", "the device's key, made if there is none"),
            GatewayOption("count", "NUMBER", "end after so many pushes"),
            GatewayOption("battery", "PERCENT", "say that it runs on battery"),
            GatewayOption("low-power", nil, "say that it saves power"),
            GatewayOption("no-ack", nil, "acknowledge nothing"),
        ],
        details: "For trying the gateway by hand. One line for each token and each push; with "
            + "--json each is an object. Ends with SIGTERM, or after --count pushes.",
        examples: [("device org.example.Chat", "Prints a token for \"send\", then what comes.")]
    ) { invocation throws(GatewayFailure) in
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
    private var pushes = 0
    private var signals: [SignalSource] = []

    init(_ invocation: GatewayInvocation) throws {
        self.invocation = invocation
        count = try invocation.integer("count", 1...1_000_000_000)
        try CurrentProcess.block(signals: [Signal.terminate, Signal.interrupt])
        loop = try EventLoop()
        let options = invocation.options
        let places = invocation.places
        var address = InternetAddress(
            host: "localhost",
            port: try GatewaySettings.read(places.settings).devices.port
        )
        if let text = options["host"] { address = try GatewayCommand.address(text) }
        let context = try TLSContext(
            clientTrusting: try Files.text(options["ca"] ?? places.authority),
            protocols: [LinkFormat.protocolName]
        )
        var condition = LinkCondition(isLowPower: options.has("low-power"))
        if let battery = try invocation.integer("battery", 0...100) {
            condition.battery = UInt8(battery)
            condition.isOnMains = false
        }
        let seed = UInt64(truncatingIfNeeded: Clocks.boot().nanoseconds)
        link = try GatewayLink(
            loop,
            to: address,
            context,
            key: try Self.identity(options["identity"] ?? places.directory + "/device.key"),
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
                throw GatewayFailure(.failed, "\(path) does not hold a device's key")
            }
            return try Ed25519PrivateKey(seed: seed)
        }
        let key = try Ed25519PrivateKey()
        try Files.replace(path, with: Hexadecimal.text(try key.seed()))
        return key
    }

    func run() throws {
        for topic in invocation.operands { link?.register(topic) }
        link?.start()
        while try loop.runTurn() {}
        link?.stop()
    }

    private func happened(_ event: GatewayLink.Event, _ link: GatewayLink) {
        switch event {
        case .online, .unregistered: break
        case .offline(let reason):
            if let reason { GatewayLog.write("the gateway ended the link: \(reason)") }
        case .problem(let text): GatewayLog.write(text)
        case .refused(let topic, let problem): GatewayLog.write("\(topic): \(problem)")
        case .registered(let topic, let app, let token):
            topics[app] = topic
            let text = Hexadecimal.text(token)
            say(["token": .string(text), "topic": .string(topic)], "token \(topic) \(text)")
        case .push(let delivery): received(delivery, link)
        }
    }

    private func received(_ delivery: LinkClient.Delivery, _ link: GatewayLink) {
        let push = delivery.push
        let topic = topics[push.app] ?? "?"
        let payload = String(decoding: push.payload, as: UTF8.self)
        let type = PushType(rawValue: push.type)?.name ?? "?"
        say(
            [
                "topic": .string(topic), "pushType": .string(type),
                "priority": .integer(Int64(push.priority)), "silent": .bool(push.isSilent),
                "rider": .bool(push.isRider), "payload": .string(payload),
            ],
            "push \(topic) \(type) \(payload)"
        )
        if !invocation.options.has("no-ack") { link.acknowledge(delivery) }
        pushes += 1
        if let count, pushes >= count { loop.exit() }
    }

    private func say(_ value: Value, _ text: String) {
        invocation.print(invocation.options.has("json") ? value.json() : text)
    }
}
