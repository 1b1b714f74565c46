import GatewayCore
import Testing
import Vocabulary

/// What one connection may show of its provider, and what may follow.
struct ProviderSessionTests {
    private var session = ProviderSession()
    private var now = Moment(
        boot: BootTime(nanoseconds: 1_000_000_000),
        awake: AwakeTime(nanoseconds: 1_000_000_000),
        wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
        utcOffset: 0
    )
    private let app = "org.example.Chat"
    private let teamKey = ProviderKey(id: "TEAMKEY001", team: "T")
    private let topicKey = ProviderKey(id: "TOPICKEY01", team: "T", topics: ["org.example.Chat"])

    private mutating func use(
        _ token: String,
        _ key: ProviderKey,
        _ bundle: String? = nil,
        age: Int64 = 0,
        in environment: PushEnvironment = .production
    ) -> Reason? {
        session.use(
            Array(token.utf8)[...],
            issuedAt: now.wall.nanoseconds / 1_000_000_000 - age,
            key: key,
            bundle: bundle ?? app,
            environment: environment,
            GatewayLimits(),
            at: now
        )
    }

    private mutating func pass(_ interval: Interval) {
        now.boot = now.boot + interval
        now.wall = now.wall + interval
    }

    @Test mutating func `a token is good for an hour, and from little beyond our clock`() {
        #expect(use("a", teamKey, age: 3600) == nil)
        #expect(use("a", teamKey, age: 3601) == .expiredProviderToken)
        #expect(use("a", teamKey, age: -600) == nil)
        #expect(use("a", teamKey, age: -601) == .invalidProviderToken)
    }

    @Test mutating func `a new token comes every 20 minutes at most, or none until they are over`()
    {
        #expect(use("a", teamKey) == nil)
        pass(.minutes(20))
        #expect(use("b", teamKey) == nil)
        pass(.minutes(19))
        #expect(use("b", teamKey) == nil)
        #expect(use("c", teamKey) == .tooManyProviderTokenUpdates)
        // The one before serves no more either: the connection is of no use until then.
        #expect(use("b", teamKey) == .tooManyProviderTokenUpdates)
        pass(.seconds(59))
        #expect(use("c", teamKey) == .tooManyProviderTokenUpdates)
        pass(.seconds(1))
        #expect(use("c", teamKey) == nil)
    }

    @Test mutating func `after a key only those that belong with it`() {
        #expect(use("a", teamKey) == nil)
        pass(.minutes(20))
        #expect(use("b", topicKey) == .unrelatedKeyIDInToken)
        #expect(use("c", ProviderKey(id: "K", team: "U")) == .invalidProviderToken)
        // Another key of the team is one of its two.
        #expect(use("d", ProviderKey(id: "TEAMKEY002", team: "T")) == nil)
        var other = self
        other.session = ProviderSession()
        #expect(other.use("a", topicKey) == nil)
        other.pass(.minutes(20))
        #expect(other.use("b", teamKey) == .unrelatedKeyIDInToken)
        let second = ProviderKey(id: "TOPICKEY02", team: "T", topics: [app])
        #expect(other.use("c", second) == .unrelatedKeyIDInToken)
        #expect(other.use("d", topicKey) == nil)
        #expect(other.use("d", topicKey, "org.example.Mail") == .invalidProviderToken)
    }

    @Test mutating func `a key whose topics the operator changes stays itself`() {
        #expect(use("a", teamKey) == nil)
        pass(.minutes(20))
        var limited = teamKey
        limited.topics = [app]
        #expect(use("b", limited) == nil)
        #expect(use("b", limited, "org.example.Mail") == .invalidProviderToken)
        pass(.minutes(20))
        #expect(use("c", teamKey) == nil)
        // Another key of the team may follow as soon as this one is for all topics.
        var other = self
        other.session = ProviderSession()
        #expect(other.use("a", limited) == nil)
        #expect(other.use("a", teamKey) == nil)
        other.pass(.minutes(20))
        #expect(other.use("b", ProviderKey(id: "TEAMKEY002", team: "T")) == nil)
    }

    @Test mutating func `a key of one environment serves there`() {
        let key = ProviderKey(id: "K", team: "T", environment: .development)
        #expect(use("a", key) == .badEnvironmentKeyIDInToken)
        #expect(use("a", key, in: .development) == nil)
        #expect(use("a", key) == .badEnvironmentKeyIDInToken, "also when it is limited later")
    }

    @Test(arguments: [
        (nil, "org.example.Chat", nil), (.production, "org.example.Chat", nil),
        (PushEnvironment.development, "org.example.Chat", Reason.badCertificateEnvironment),
        (nil, "org.example.Mail", .topicDisallowed),
    ])
    func `a certificate serves its topics, in its environment`(
        environment: PushEnvironment?,
        bundle: String,
        refusal: Reason?
    ) {
        let certificate = ProviderCertificate(
            fingerprint: "f",
            topics: ["org.example.Chat"],
            environment: environment
        )
        let found = ProviderSession.refusal(
            of: certificate,
            bundle: bundle,
            environment: .production
        )
        #expect(found == refusal)
    }

    @Test func `every reason has the status that the interface gives it`() {
        let table = [
            (
                400,
                "BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic "
                    + "DeviceTokenNotForTopic DuplicateHeaders IdleTimeout InvalidPushType "
                    + "MissingDeviceToken MissingTopic PayloadEmpty TopicDisallowed "
                    + "FeatureNotEnabled MissingChannelId BadChannelId ChannelNotRegistered "
                    + "BadRequestParams BadRequestPayload MissingPushType "
                    + "CannotCreateChannelConfig"
            ),
            (
                403,
                "BadCertificate BadCertificateEnvironment ExpiredProviderToken Forbidden "
                    + "InvalidProviderToken MissingProviderToken UnrelatedKeyIdInToken "
                    + "BadEnvironmentKeyIdInToken TopicMismatch"
            ),
            (404, "BadPath"), (405, "MethodNotAllowed"), (410, "ExpiredToken Unregistered"),
            (413, "PayloadTooLarge"), (429, "TooManyProviderTokenUpdates TooManyRequests"),
            (500, "InternalServerError"), (503, "ServiceUnavailable Shutdown"),
        ]
        var count = 0
        for (status, names) in table {
            for name in names.split(separator: " ") {
                #expect(Reason(rawValue: String(name))?.status == status, "\(name)")
                count += 1
            }
        }
        #expect(count == Reason.allCases.count)
    }
}
