import GatewayCore
import Testing
import Vocabulary

/// The order in which a Web Push is looked at: of two things that are wrong, the first is told.
struct WebPushAdmissionTests {
    private struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: WebPushReason
        let apply: @Sendable (inout Case) -> Void
    }

    /// A message that is taken, until something is wrong with it.
    private struct Case {
        var method = "POST"
        var fields = [
            "ttl": "60", "urgency": "low", "topic": "t", "content-encoding": "aes128gcm",
            "authorization": Case.vapid(),
        ]
        var hasDuplicate = false
        var isSealed = true
        var isBound = true
        var isSigned = true
        var isActive = true
        var isCutOff = false
        var messages = 1

        static let key: [UInt8] = [4] + [UInt8](repeating: 7, count: 64)

        static func vapid(
            origin: String = "https://push.test",
            expiration: Int64 = 1_700_000_600,
            key: [UInt8] = key
        ) -> String {
            let claims = "{\"aud\":\"\(origin)\",\"exp\":\(expiration)}"
            let parts = ["{\"alg\":\"ES256\"}", claims].map { Base64.urlText(Array($0.utf8)) }
            let signature = Base64.urlText([UInt8](repeating: 1, count: 64))
            let token = (parts + [signature]).joined(separator: ".")
            return "vapid t=\(token), k=\(Base64.urlText(key))"
        }
    }

    private struct Proof: Proofs {
        let one: Case

        var generation: Int { 0 }
        func known(_ field: ArraySlice<UInt8>) -> SignedProvider? { nil }
        func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? { nil }
        func device(_ text: ArraySlice<UInt8>) -> DeviceToken? { nil }
        func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? {
            guard one.isSealed else { return nil }
            let token = DeviceToken(device: DeviceID(1), app: AppNumber(1), generation: 1)
            return WebPushAddress(token, key: one.isBound ? Case.key : [])
        }
        func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? {
            one.isSigned ? VapidToken(field) : nil
        }
    }

    /// In the order that docs/gateway.md promises.
    private static let faults: [Fault] = [
        Fault(testDescription: "path", reason: .noSubscription) { $0.isSealed = false },
        Fault(testDescription: "method", reason: .methodNotAllowed) { $0.method = "PUT" },
        Fault(testDescription: "double", reason: .duplicateHeaders) { $0.hasDuplicate = true },
        Fault(testDescription: "no ttl", reason: .missingTTL) { $0.fields["ttl"] = nil },
        Fault(testDescription: "ttl", reason: .badTTL) { $0.fields["ttl"] = "x" },
        Fault(testDescription: "urgency", reason: .badUrgency) { $0.fields["urgency"] = "x" },
        Fault(testDescription: "topic", reason: .badTopic) { $0.fields["topic"] = "a b" },
        Fault(testDescription: "encoding", reason: .unsupportedEncoding) {
            $0.fields["content-encoding"] = "gzip"
        },
        Fault(testDescription: "no sender", reason: .missingVapid) {
            $0.fields["authorization"] = nil
        },
        Fault(testDescription: "signature", reason: .badVapid) { $0.isSigned = false },
        Fault(testDescription: "audience", reason: .badVapid) {
            $0.fields["authorization"] = Case.vapid(origin: "https://other.test")
        },
        Fault(testDescription: "age", reason: .expiredVapid) {
            $0.fields["authorization"] = Case.vapid(expiration: 1_699_999_999)
        },
        Fault(testDescription: "another sender", reason: .otherSender) {
            let other: [UInt8] = [4] + [UInt8](repeating: 8, count: 64)
            $0.fields["authorization"] = Case.vapid(key: other)
        },
        Fault(testDescription: "gone", reason: .gone) { $0.isActive = false },
        Fault(testDescription: "length", reason: .payloadTooLarge) { $0.isCutOff = true },
        Fault(testDescription: "rate", reason: .tooManyRequests) { $0.messages = 3 },
    ]

    @Test(arguments: faults.indices)
    func `the first of two faults is told`(first: Int) {
        for second in Self.faults.indices where second >= first {
            var one = Case()
            // A later fault may write over an earlier one: it comes first.
            Self.faults[second].apply(&one)
            Self.faults[first].apply(&one)
            let what = "\(Self.faults[first]) and \(Self.faults[second])"
            let (reason, told, senders, _) = Self.outcome(one)
            #expect(reason == Self.faults[first].reason, "\(what)")
            #expect(senders.webPushRefusals.map(\.reason) == [Self.faults[first].reason])
            #expect(senders.webPushRefusals.map(\.count) == [told], "\(what)")
            #expect(senders.refusals.isEmpty, "\(what)")
        }
    }

    @Test func `without a fault it is taken`() { #expect(Self.outcome(Case()).reason == nil) }

    @Test func `who knows an address has shown who sends, with a key or without`() {
        var one = Case()
        #expect(Self.isAuthorized(one))
        one.isBound = false
        #expect(Self.isAuthorized(one))
        one.fields["authorization"] = nil
        #expect(Self.isAuthorized(one))
        one.isBound = true
        #expect(!Self.isAuthorized(one), "its sender says nothing")
        one.isSealed = false
        #expect(!Self.isAuthorized(one), "we made no such address")
    }

    private static func isAuthorized(_ one: Case) -> Bool {
        outcome(one).sender.authorized == .webPush
    }

    /// Why a message is refused, and how many were; nil: they are taken. And what is counted.
    private static func outcome(
        _ one: Case
    ) -> (reason: WebPushReason?, told: UInt64, SenderCounters, sender: PushSender) {
        var limits = GatewayLimits()
        (limits.tokenBurst, limits.tokenRate) = (2, 0)
        let app = AppNumber(1)
        var driver = GatewayDriver(limits, StoredGateway(lastApp: 1, apps: [(app, "a.one")]))
        let now = Moment(
            boot: BootTime(nanoseconds: 1),
            awake: AwakeTime(nanoseconds: 1),
            wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
            utcOffset: 0
        )
        var request = WebPushRequest()
        for (name, value) in one.fields.sorted(by: { $0.key < $1.key }) {
            request.add(Array(name.utf8), Array(value.utf8)[...])
        }
        if one.hasDuplicate { request.add(Array("topic".utf8), Array("t".utf8)[...]) }
        var sender = PushSender()
        var actions: [GatewayAction] = []
        for number in 1...one.messages {
            do throws(WebPushReason) {
                let push = try driver.admit(
                    WebPushArrival(
                        method: Array(one.method.utf8)[...],
                        request: request,
                        body: [1],
                        isCutOff: one.isCutOff
                    ),
                    to: [1],
                    from: &sender,
                    Proof(one: one),
                    origin: "https://push.test",
                    id: PushUUID(high: 0, low: UInt64(number)),
                    at: now
                )
                driver.handle(.push(push, CallID(UInt64(number))), at: now, into: &actions)
            } catch {
                return (error, 1, driver.senders, sender)
            }
        }
        let answer = DeviceAnswer(
            &driver,
            app,
            isActive: one.isActive,
            at: now,
            behind: actions
        )
        let refusals = answer.refusals.map { WebPushReason($0) }
        return (refusals.first, UInt64(refusals.count), driver.senders, sender)
    }
}
