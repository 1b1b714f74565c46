import DeviceLink
import EventLoop
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Vocabulary
import Wire

/// A gateway with its store, and devices, on one loop.
final class LinkWorld {
    let scratch = ScratchDirectory()
    let loop: EventLoop
    let storage: SQLiteStorage
    let node: GatewayNode
    let server: LinkServer
    let clientContext: TLSContext
    let anchors: String
    private var timer: TimerSource?
    private var isOver = false
    private var lastCall: UInt64 = 0

    init(_ limits: LinkLimits = LinkLimits(), _ gateway: GatewayLimits = GatewayLimits()) throws {
        try CurrentProcess.ignore(signal: Signal.pipe)
        loop = try EventLoop()
        storage = try SQLiteStorage(scratch("store"))
        let seal = try SyntheticTokens(key: [UInt8](repeating: 5, count: 32))
        node = try GatewayNode(loop, storage, gateway, seal: seal, identity: 1)
        let key = try P256PrivateKey()
        let year: ClosedRange<Int64> = 1_700_000_000...4_000_000_000
        let authority = CertificateTemplate(.authority, commonName: "authority", validity: year)
        let anchor = try authority.issue(for: key)
        anchors = try anchor.pem()
        var template = CertificateTemplate(.server, commonName: "localhost", validity: year)
        template.hosts = ["localhost", "127.0.0.1"]
        let own = try P256PrivateKey()
        let certificate = try template.issue(for: own, by: (anchor, key))
        let context = try TLSContext(
            server: certificate.pem(),
            key: own.pem(),
            protocols: [LinkFormat.protocolName]
        )
        let listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
        server = try LinkServer(loop, listener, context, limits, owner: node)
        node.links = server
        clientContext = try TLSContext(
            clientTrusting: anchors,
            protocols: [LinkFormat.protocolName]
        )
        timer = try TimerSource(loop) { [unowned self] in isOver = true }
    }

    var address: InternetAddress {
        InternetAddress(host: "127.0.0.1", port: server.port ?? 0)
    }

    func turn() throws {
        guard try loop.runTurn() else { throw DidNotHappen(description: "the loop ended") }
        node.endTurn()
        server.flush()
    }

    func until(_ what: String, _ condition: () -> Bool) throws {
        isOver = false
        try timer?.arm(at: Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds)))
        while !condition() {
            guard !isOver else { throw DidNotHappen(description: what) }
            try turn()
        }
    }

    /// A device with its key, and what it was told.
    func device(
        _ key: Ed25519PrivateKey? = nil,
        _ condition: LinkCondition = LinkCondition(),
        acknowledging: Bool = true
    ) throws -> Device {
        let device = Device(acknowledging)
        device.link = try GatewayLink(
            loop,
            to: address,
            clientContext,
            key: try key ?? Ed25519PrivateKey(),
            LinkClient(condition: condition, seed: 1)
        ) { [unowned device] link, event in device.happened(event, link) }
        return device
    }

    final class Device {
        var link: GatewayLink?
        var events: [GatewayLink.Event] = []
        var pushes: [GatewayFrame.Push] = []
        var tokens: [String: [UInt8]] = [:]
        var endpoints: [LinkClient.Subscription: String] = [:]
        private let acknowledging: Bool

        init(_ acknowledging: Bool) { self.acknowledging = acknowledging }

        var isOnline: Bool { link?.isOnline ?? false }

        func happened(_ event: GatewayLink.Event, _ link: GatewayLink) {
            events.append(event)
            switch event {
            case .push(let delivery):
                pushes.append(delivery.push)
                if acknowledging { link.acknowledge(delivery) }
            case .registered(let topic, _, let token): tokens[topic] = token
            case .subscribed(let subscription, _, let endpoint):
                endpoints[subscription] = endpoint
            case .online, .offline, .unregistered, .refused, .problem, .untrusted, .following,
                .broadcast, .otherProtocol:
                break
            }
        }
    }

    /// Sends as a provider would, to a token; its number.
    func push(
        to token: [UInt8],
        _ payload: String = #"{"aps":{"alert":"Hi"}}"#,
        type: PushType = .alert
    ) throws -> PushNumber {
        guard let plain = node.seal.open(token), let address = DeviceToken(bytes: plain) else {
            throw DidNotHappen(description: "a token that is none")
        }
        var request = PushRequest()
        request.pushType = Array(type.name.utf8)[...]
        request.payload = Array(payload.utf8)
        let id = PushUUID(high: 1, low: 1)
        let push = try AdmittedPush(request, to: address, id: id, provider: "K")
        lastCall += 1
        node.push(push, for: CallID(lastCall))
        return PushNumber(node.driver.gateway.lastPush)
    }
}
