import GatewayCore
import Testing
import Vocabulary

/// The order in which requests about channels and about the log are looked at: of two things that
/// are wrong, the first is told.
struct ChannelAdmissionTests {
    /// A request that may be made, until something is wrong with it.
    private struct Case: Sendable {
        var method = "POST"
        var path: String
        var hasDuplicate = false
        var channel: String? = Self.channel.text
        var type: String? = "liveactivity"
        var isSigned = true
        var expiration: String?
        var priority: String?
        var body: String
        var requests = 1

        static let channel = ChannelID(high: 1, low: 2)

        static var create: Case {
            Case(
                path: "/1/apps/a.one/channels",
                body: "{\"push-type\":\"LiveActivity\",\"message-storage-policy\":1}"
            )
        }
        static var list: Case { Case(method: "GET", path: "/1/apps/a.one/all-channels", body: "") }
        static var remove: Case {
            Case(method: "DELETE", path: "/1/apps/a.one/channels", body: "")
        }
        static var send: Case { Case(path: "/4/broadcasts/apps/a.one", body: "{\"aps\":{}}") }
    }

    private struct Fault: Sendable {
        let name: String
        let reason: Reason
        let apply: @Sendable (inout Case) -> Void

        init(_ name: String, _ reason: Reason, _ apply: @escaping @Sendable (inout Case) -> Void) {
            (self.name, self.reason, self.apply) = (name, reason, apply)
        }
    }

    private struct Proof: Proofs {
        let isSigned: Bool
        var generation: Int { 0 }

        func known(_ field: ArraySlice<UInt8>) -> SignedProvider? { nil }
        func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? {
            guard isSigned else { return nil }
            var key = ProviderKey(id: "K", team: "T")
            key.quota = KeyQuota(2, per: .hours(1))
            return SignedProvider(text: field, issuedAt: 1_700_000_000, key: key)
        }
        func device(_ text: ArraySlice<UInt8>) -> DeviceToken? { nil }
        func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? { nil }
        func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? { nil }
    }

    private static let fields = Fault("double field", .duplicateHeaders) { $0.hasDuplicate = true }
    private static let method = Fault("method", .methodNotAllowed) { $0.method = "PUT" }
    private static let signature = Fault("signature", .invalidProviderToken) {
        $0.isSigned = false
    }
    private static let channelFaults = [
        Fault("no channel", .missingChannelID) { $0.channel = nil },
        Fault("channel", .badChannelID) { $0.channel = "?" },
        signature,
        Fault("unknown channel", .channelNotRegistered) {
            $0.channel = ChannelID(high: 3, low: 4).text
        },
        Fault("another's channel", .topicMismatch) {
            $0.path = $0.path.replacing("a.one", with: "a.two")
        },
    ]

    /// In the order that docs/gateway.md promises. A channel cannot be missing and malformed, nor
    /// unknown and another's, at once.
    private static let orders: [(request: Case, faults: [Fault])] = [
        (
            .create,
            [
                fields, method, signature,
                Fault("payload", .badRequestPayload) { $0.body = "x" },
            ]
        ),
        (.list, [fields, method, signature]),
        (.remove, [fields, method] + channelFaults),
        (
            .send,
            [
                fields, method,
                Fault("no type", .missingPushType) { $0.type = nil },
                Fault("priority", .badPriority) { $0.priority = "7" },
                Fault("no such type", .invalidPushType) { $0.type = $0.type.map { _ in "x" } },
                Fault("no date", .badExpirationDate) { $0.expiration = "soon" },
                Fault("type", .invalidPushType) { $0.type = $0.type.map { _ in "alert" } },
            ] + channelFaults + [
                Fault("expiration", .badExpirationDate) { $0.expiration = "1700000600" },
                Fault("payload", .payloadEmpty) { $0.body = "" },
                Fault("quota", .tooManyRequests) { $0.requests = 3 },
            ]
        ),
    ]

    @Test(arguments: orders.indices)
    func `the first of two faults is told`(index: Int) {
        let (request, faults) = Self.orders[index]
        for first in faults.indices {
            for second in faults.indices where second >= first {
                var one = request
                // Where both change the same field, the first fault wins.
                faults[second].apply(&one)
                faults[first].apply(&one)
                let what = "\(faults[first].name) and \(faults[second].name)"
                #expect(Self.outcome(one) == faults[first].reason, "\(what)")
            }
        }
    }

    @Test(arguments: orders.indices)
    func `without a fault it may be made`(index: Int) {
        #expect(Self.outcome(Self.orders[index].request) == nil)
    }

    private static let now = Moment(
        boot: BootTime(nanoseconds: 1),
        awake: AwakeTime(nanoseconds: 1),
        wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
        utcOffset: 0
    )

    /// Why the last request is refused; nil: it may be made.
    private static func outcome(_ one: Case) -> Reason? {
        let apps = [(AppNumber(1), "a.one"), (AppNumber(2), "a.two")]
        // It keeps nothing.
        let channel = Channel(id: Case.channel, app: AppNumber(1), keepsNewest: false)
        var driver = GatewayDriver(
            GatewayLimits(),
            StoredGateway(lastApp: 2, apps: apps, channels: [channel])
        )
        guard let path = ChannelPath(Array(one.path.utf8)[...]) else { return .badPath }
        var arrival = PushArrival()
        arrival.method = Array(one.method.utf8)[...]
        arrival.hasDuplicate = one.hasDuplicate
        arrival.authorization = Array("bearer t".utf8)[...]
        arrival.push.pushType = one.type.map { Array($0.utf8)[...] }
        arrival.push.priority = one.priority.map { Array($0.utf8)[...] }
        arrival.push.expiration = one.expiration.map { Array($0.utf8)[...] }
        arrival.push.payload = Array(one.body.utf8)
        let request = ChannelArrival(path, arrival, field: one.channel.map { Array($0.utf8)[...] })
        var sender = PushSender()
        for _ in 0..<one.requests {
            do throws(Reason) {
                _ = try driver.admit(
                    request,
                    from: &sender,
                    Proof(isSigned: one.isSigned),
                    .production,
                    at: now
                )
            } catch {
                return error
            }
        }
        return nil
    }

    // MARK: The log

    private static func question(
        _ method: String,
        isSigned: Bool,
        id: String
    ) throws(Reason) -> LogQuestion {
        var driver = GatewayDriver(GatewayLimits(), StoredGateway())
        var sender = PushSender()
        return try driver.admit(
            LogArrival(
                method: Array(method.utf8)[...],
                authorization: Array("bearer t".utf8)[...],
                id: Array(id.utf8)[...]
            ),
            from: &sender,
            Proof(isSigned: isSigned),
            .production,
            gateway: 7,
            at: now
        )
    }

    @Test func `who may not ask does not learn what the log has`() throws {
        let own = "\(PushUUID(number: PushNumber(5), gateway: 7))"
        #expect(throws: Reason.methodNotAllowed) {
            try Self.question("POST", isSigned: false, id: "x")
        }
        #expect(throws: Reason.invalidProviderToken) {
            try Self.question("GET", isSigned: false, id: "x")
        }
        #expect(throws: Reason.badMessageID) { try Self.question("GET", isSigned: true, id: "x") }
        let other = "\(PushUUID(number: PushNumber(5), gateway: 8))"
        #expect(throws: Reason.badMessageID) {
            try Self.question("GET", isSigned: true, id: other)
        }
        let question = try Self.question("GET", isSigned: true, id: own)
        #expect(question.push == PushNumber(5))

        let stored = StoredGateway(lastApp: 1, apps: [(AppNumber(1), "a.one")])
        var driver = GatewayDriver(GatewayLimits(), stored)
        func told(_ answer: StoreAnswer) -> LogAnswer? {
            var actions: [GatewayAction] = []
            driver.handle(.lookUp(question, CallID(1)), at: Self.now, into: &actions)
            driver.handle(.answered(.log(PushNumber(5)), answer), at: Self.now, into: &actions)
            for case .tell(CallID(1), let answer) in actions { return answer }
            return nil
        }
        func row(from provider: String, app: UInt32 = 1) -> LogRow {
            let head = LogRow.Head(
                target: .channel(Case.channel, provider: provider),
                app: AppNumber(app),
                type: .liveactivity,
                priority: .immediate,
                size: 1
            )
            return LogRow(number: PushNumber(5), head: head, events: [])
        }
        #expect(told(.log(row(from: "K"))) == .told(row(from: "K"), topic: "a.one"))
        for hidden in [nil, row(from: "L"), row(from: "K", app: 2)] {
            #expect(told(.log(hidden)) == .refused(.badMessageID))
        }
        #expect(told(.failed) == .refused(.serviceUnavailable))
        #expect(driver.senders.refusals.map(\.count) == [3, 1])
        #expect(driver.isSettled)
    }

    // MARK: Paths

    @Test(arguments: [
        ("/3/device/00ff", SenderPath.push(Array("00ff".utf8)[...])), ("/3/device/", .push([])),
        ("/3/log/x", .log(Array("x".utf8)[...])),
        ("/push/abc", .webPush(Array("abc".utf8)[...])),
        ("/3/device", .unknown), ("/", .unknown), ("", .unknown), ("/1/apps/a/other", .unknown),
    ])
    func `a path says what a request is about`(path: String, what: SenderPath) {
        #expect(SenderPath(Array(path.utf8)[...]) == what)
    }
}
