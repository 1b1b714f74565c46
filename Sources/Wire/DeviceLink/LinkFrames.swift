package import Vocabulary

/// The device link: names and limits (docs/device-link.md).
package enum LinkFormat {
    /// What ALPN calls it.
    package static let protocolName = "offstage-link"
    package static let version: UInt8 = 1
    /// The suites of TLS 1.3, most wanted first: the smaller one costs each idle connection 400
    /// bytes less.
    package static let suites = [
        "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384",
    ]
    /// Bytes behind the head of a frame, by who sends it.
    package static let longestFromDevice = 1024
    package static let longestFromGateway = 8192
    package static let challengeBytes = 32
    package static let keyBytes = 32
    package static let signatureBytes = 64
    package static let tokenBytes = 32
    /// What is exported from the TLS connection under `exporterLabel`.
    package static let bindingBytes = 32
    package static let exporterLabel = "EXPORTER-offstage-link"
    package static let longestTopic = 255
    package static let longestCollapseID = 64
    package static let longestPayload = 5120
    /// A point of P-256, uncompressed: who alone may send to a subscription.
    package static let senderKeyBytes = 65
    package static let longestEndpoint = 1000
    package static let channelBytes = 16
    package static let longestEnrolment = 200
    /// Acknowledgements in one frame, and app reports in one keep-alive.
    package static let mostInList = 100
    /// The longest of the two waits of an end, in seconds: a day.
    package static let longestWait: UInt64 = 86_400
    /// Expirations count from the start of 2025, so that they take four bytes; before it, they are
    /// it.
    package static let epoch: UInt64 = 1_735_689_600
    /// Numbers are below 2^62.
    package static let largestNumber: UInt64 = 1 << 62 - 1

    /// What a device signs to prove who it is: bound to this gateway's challenge and to this very
    /// TLS connection, so that it serves nobody who reads or relays it.
    package static func proof(challenge: [UInt8], binding: [UInt8]) -> [UInt8] {
        Array("offstage device link\0".utf8) + challenge + binding
    }

    /// Whether a text can be an app's identifier: 1 to 255 letters, digits, `.`, `-` and `_`.
    package static func isTopic(_ text: String) -> Bool {
        let utf8 = text.utf8
        return (1...longestTopic).contains(utf8.count) && utf8.allSatisfy(isTopicByte)
    }

    static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// What a device says of itself, so that the gateway mirrors its budgets.
package struct LinkCondition: Hashable, Sendable {
    /// Percent of charge; nil: no battery.
    package var battery: UInt8?
    package var isOnMains: Bool
    package var isLowPower: Bool
    /// Not paid by volume.
    package var isUnmetered: Bool
    /// Silent wakes in its last 24 hours on battery; nil: it does not count.
    package var silentWakes: UInt64?

    package init(
        battery: UInt8? = nil,
        isOnMains: Bool = true,
        isLowPower: Bool = false,
        isUnmetered: Bool = true,
        silentWakes: UInt64? = nil
    ) {
        (self.battery, self.isOnMains) = (battery, isOnMains)
        (self.isLowPower, self.isUnmetered) = (isLowPower, isUnmetered)
        self.silentWakes = silentWakes
    }
}

/// What a device sends.
package enum DeviceFrame: Hashable, Sendable {
    case hello(Hello)
    /// The device has these pushes and will not lose them.
    case acknowledge([UInt64])
    /// The device has no such app: the push is not wanted.
    case decline(UInt64)
    /// An app wants its token. `renewing`: an earlier one, if any, is to end.
    case register(topic: String, renewing: Bool)
    case unregister(topic: String)
    case keepAlive(KeepAlive)
    /// The condition changed in a way that matters now: mains, Wi-Fi, low power.
    case condition(LinkCondition)
    /// The user opened the app with this number: it gets what is kept for it.
    case opened(UInt64)
    case end(EndReason)
    /// An app wants an address for a sender of Web Push: the one with this key, or (empty) whoever
    /// knows the address.
    case subscribe(topic: String, key: [UInt8])
    /// An app follows a broadcast channel (16 bytes); `last`: the newest message that it had, or 0.
    case follow(topic: String, channel: [UInt8], last: UInt64)
    case unfollow(channel: [UInt8])

    package struct Hello: Hashable, Sendable {
        package var version: UInt8
        /// Ed25519, 32 bytes: who the device is, from its first contact on.
        package var key: [UInt8]
        /// 64 bytes, of `LinkFormat.proof`.
        package var signature: [UInt8]
        /// Seconds in which the gateway hears from the device at the latest.
        package var next: UInt64
        package var condition: LinkCondition
        /// What the gateway wants to hear from devices that it does not know; often nothing.
        package var enrolment: [UInt8]

        package init(
            version: UInt8 = LinkFormat.version,
            key: [UInt8],
            signature: [UInt8],
            next: UInt64,
            condition: LinkCondition,
            enrolment: [UInt8] = []
        ) {
            (self.version, self.key, self.signature) = (version, key, signature)
            (self.next, self.condition, self.enrolment) = (next, condition, enrolment)
        }
    }

    package struct KeepAlive: Hashable, Sendable {
        /// Seconds in which the gateway hears from the device again, at the latest.
        package var next: UInt64
        /// Nil: as last told.
        package var condition: LinkCondition?
        /// What is left of the silent budgets of apps, where it changed: the app's number, and how
        /// many pushes at once.
        package var budgets: [Budget]

        package init(next: UInt64, condition: LinkCondition? = nil, budgets: [Budget] = []) {
            (self.next, self.condition, self.budgets) = (next, condition, budgets)
        }
    }

    package struct Budget: Hashable, Sendable {
        package var app: UInt64
        package var left: UInt64

        package init(app: UInt64, left: UInt64) { (self.app, self.left) = (app, left) }
    }
}

/// What a gateway sends.
package enum GatewayFrame: Hashable, Sendable {
    case challenge(Challenge)
    case welcome(Welcome)
    case push(Push)
    case registered(topic: String, app: UInt64, token: [UInt8])
    case unregistered(topic: String)
    case refused(topic: String, RegistrationProblem)
    /// The answer to a keep-alive. What was stored for the device comes before it.
    case keptAlive
    case end(Ending)
    /// The address that the app gives to the sender with this key.
    case subscribed(topic: String, app: UInt64, key: [UInt8], endpoint: String)
    /// Messages of the channel come from now on.
    case following(channel: [UInt8])
    /// They do not, or not any more.
    case notFollowing(channel: [UInt8], FollowRefusal)
    case broadcast(Broadcast)

    package struct Challenge: Hashable, Sendable {
        /// The versions that the gateway speaks.
        package var versions: ClosedRange<UInt8>
        /// 32 bytes that were never used before.
        package var nonce: [UInt8]

        package init(
            versions: ClosedRange<UInt8> = LinkFormat.version...LinkFormat.version,
            nonce: [UInt8]
        ) {
            (self.versions, self.nonce) = (versions, nonce)
        }
    }

    package struct Welcome: Hashable, Sendable {
        /// The device's number at this gateway, the same at each connection.
        package var device: UInt64
        /// The gateway may not know all apps of the device: at first, or after a restore.
        package var isNew: Bool
        /// The longest keep-alive interval that the gateway waits for, in seconds.
        package var longest: UInt64

        package init(device: UInt64, isNew: Bool, longest: UInt64) {
            (self.device, self.isNew, self.longest) = (device, isNew, longest)
        }
    }

    package struct Push: Hashable, Sendable {
        package var sending: UInt64
        package var app: UInt64
        /// Which of the push types, by their order in docs/device-link.md.
        package var type: UInt8
        /// 10, 5 or 1.
        package var priority: UInt8
        /// It comes with something else and is no reason to wake the device.
        package var isRider: Bool
        package var isSilent: Bool
        /// Seconds since 1970 at which it is worth nothing any more; nil: it was sent once.
        package var expiration: UInt64?
        /// At most 64 bytes; empty: none.
        package var collapseID: [UInt8]
        /// JSON, at most 5120 bytes; of a Web Push its encoding and its body.
        package var payload: [UInt8]

        package init(
            sending: UInt64,
            app: UInt64,
            type: UInt8,
            priority: UInt8,
            isRider: Bool = false,
            isSilent: Bool = false,
            expiration: UInt64? = nil,
            collapseID: [UInt8] = [],
            payload: [UInt8]
        ) {
            (self.sending, self.app, self.type) = (sending, app, type)
            (self.priority, self.isRider, self.isSilent) = (priority, isRider, isSilent)
            (self.expiration, self.collapseID, self.payload) = (expiration, collapseID, payload)
        }
    }

    /// A message to all that follow a channel. It is not acknowledged: the device says which it had
    /// when it follows again.
    package struct Broadcast: Hashable, Sendable {
        package var channel: [UInt8]
        /// Later messages of a channel have larger ones.
        package var number: UInt64
        /// 10, 5 or 1.
        package var priority: UInt8
        /// Seconds since 1970 at which it is worth nothing any more; nil: it was sent once.
        package var expiration: UInt64?
        /// JSON, at most 5120 bytes.
        package var payload: [UInt8]

        package init(
            channel: [UInt8],
            number: UInt64,
            priority: UInt8,
            expiration: UInt64? = nil,
            payload: [UInt8]
        ) {
            (self.channel, self.number, self.priority) = (channel, number, priority)
            (self.expiration, self.payload) = (expiration, payload)
        }
    }

    package struct Ending: Hashable, Sendable {
        package var reason: EndReason
        /// When the device may come back: after this long, and then within `spread`, at an instant
        /// that it draws itself.
        package var after: Interval
        package var spread: Interval

        package init(_ reason: EndReason, after: Interval = .zero, spread: Interval = .zero) {
            (self.reason, self.after, self.spread) = (reason, after, spread)
        }
    }
}

/// Why an app gets no token.
package enum RegistrationProblem: UInt8, Hashable, Sendable, CaseIterable {
    /// The device has as many apps as a device may have.
    case tooManyApps = 1
    /// The gateway serves no provider of this app.
    case unknownTopic
    /// What should be a sender's key is no point of its curve.
    case badKey
    /// Not now, for a reason of the gateway's own: the device asks again with its next keep-alive.
    case unavailable
}

/// Why a channel is not followed.
package enum FollowRefusal: UInt8, Hashable, Sendable, CaseIterable {
    /// There is none of the app, or it was removed.
    case noChannel = 1
    /// The device follows as many as a device may follow.
    case tooMany
}
