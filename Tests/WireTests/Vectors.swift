import Vocabulary
import Wire

/// The frames of docs/device-link.md by their names there.
enum Vectors {
    static let gateway: [(name: String, frame: GatewayFrame)] = [
        ("challenge", .challenge(.init(versions: 1...1, nonce: Array(0..<32)))),
        ("welcome at the first contact", .welcome(.init(device: 7, isNew: true, longest: 1800))),
        ("welcome later", .welcome(.init(device: 70_000, isNew: false, longest: 1800))),
        (
            "push: an alert that may be kept",
            .push(
                .init(
                    sending: 1,
                    app: 3,
                    type: 1,
                    priority: 10,
                    expiration: 1_800_000_000,
                    collapseID: Array("game".utf8),
                    payload: Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
                )
            )
        ),
        (
            "push: silent, riding along",
            .push(
                .init(
                    sending: 100,
                    app: 3,
                    type: 2,
                    priority: 5,
                    isRider: true,
                    isSilent: true,
                    expiration: 1_800_000_000,
                    payload: Array(#"{"aps":{"content-available":1}}"#.utf8)
                )
            )
        ),
        (
            "push: a call, tried once",
            .push(.init(sending: 2, app: 4, type: 3, priority: 10, payload: Array("{}".utf8)))
        ),
        (
            "registered",
            .registered(topic: "org.example.App", app: 3, token: Array(100..<132))
        ),
        ("unregistered", .unregistered(topic: "org.example.App")),
        ("refused", .refused(topic: "org.example.App", .tooManyApps)),
        ("refused for now", .refused(topic: "org.example.App", .unavailable)),
        ("kept alive", .keptAlive),
        (
            "end: stopped, come back",
            .end(.init(.shutdown, after: .seconds(5), spread: .seconds(120)))
        ),
        (
            "subscribed: for whoever knows the address",
            .subscribed(
                topic: "org.example.App",
                app: 3,
                key: [],
                endpoint: "https://push.example.org/push/AbC-_9"
            )
        ),
        ("following", .following(channel: Array(16..<32))),
        ("not following", .notFollowing(channel: Array(16..<32), .tooMany)),
        (
            "broadcast: kept",
            .broadcast(
                .init(
                    channel: Array(16..<32),
                    number: 70_000,
                    priority: 5,
                    expiration: 1_800_000_000,
                    payload: Array(#"{"t":1}"#.utf8)
                )
            )
        ),
        (
            "broadcast: for those who are there",
            .broadcast(
                .init(
                    channel: Array(16..<32),
                    number: 70_001,
                    priority: 10,
                    payload: Array("{}".utf8)
                )
            )
        ),
        (
            "push: Web Push",
            .push(
                .init(
                    sending: 3,
                    app: 3,
                    type: 12,
                    priority: 10,
                    expiration: 1_800_000_000,
                    collapseID: Array("score".utf8),
                    payload: [9] + Array("aes128gcm".utf8) + Array(0..<32)
                )
            )
        ),
    ]

    static let device: [(name: String, frame: DeviceFrame)] = [
        (
            "hello",
            .hello(
                .init(
                    key: Array(0..<32),
                    signature: Array(0..<64),
                    next: 240,
                    condition: LinkCondition(
                        battery: 80,
                        isOnMains: false,
                        isUnmetered: true,
                        silentWakes: 2
                    )
                )
            )
        ),
        (
            "hello with an enrolment secret",
            .hello(
                .init(
                    key: Array(0..<32),
                    signature: Array(0..<64),
                    next: 240,
                    condition: LinkCondition(),
                    enrolment: Array("open sesame".utf8)
                )
            )
        ),
        ("acknowledge one", .acknowledge([1])),
        ("acknowledge three", .acknowledge([1, 100, 70_000])),
        ("decline", .decline(2)),
        ("register", .register(topic: "org.example.App", renewing: false)),
        ("register anew", .register(topic: "org.example.App", renewing: true)),
        ("unregister", .unregister(topic: "org.example.App")),
        ("keep alive, nothing new", .keepAlive(.init(next: 240))),
        (
            "keep alive with condition and budgets",
            .keepAlive(
                .init(
                    next: 1800,
                    condition: LinkCondition(battery: 19, isOnMains: false, isLowPower: true),
                    budgets: [.init(app: 3, left: 0), .init(app: 100, left: 2)]
                )
            )
        ),
        ("condition", .condition(LinkCondition())),
        ("opened", .opened(3)),
        ("leaving", .end(.leaving)),
        (
            "follow",
            .follow(topic: "org.example.App", channel: Array(16..<32), last: 70_000)
        ),
        ("unfollow", .unfollow(channel: Array(16..<32))),
        ("subscribe", .subscribe(topic: "org.example.App", key: [])),
        (
            "subscribe for one sender",
            .subscribe(topic: "org.example.App", key: [4] + Array(0..<64))
        ),
    ]
}

extension [UInt8] {
    init(hex: some StringProtocol) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
