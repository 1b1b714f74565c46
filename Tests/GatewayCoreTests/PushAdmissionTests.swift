import GatewayCore
import Testing
import Vocabulary

/// The order in which a push is looked at: of two things that are wrong, the first is told.
struct PushAdmissionTests {
    private struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: Reason
        let apply: @Sendable (inout Case) -> Void
    }

    /// A push that is taken, until something is wrong with it.
    private struct Case {
        var arrival = PushArrival()
        var proofs = Proof()
        var isActive = true
        var pushes = 1

        struct Proof: Proofs {
            var key: ProviderKey? = ProviderKey(id: "K", team: "T")
            var token: DeviceToken? = DeviceToken(
                device: DeviceID(1),
                app: AppNumber(1),
                generation: 1
            )

            var issuedAt: Int64 = 1_700_000_000

            var generation: Int { 0 }
            func known(_ field: ArraySlice<UInt8>) -> SignedProvider? { nil }
            func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? {
                key.map { SignedProvider(text: field, issuedAt: issuedAt, key: $0) }
            }
            func device(_ text: ArraySlice<UInt8>) -> DeviceToken? { token }
            func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? { nil }
            func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? { nil }
        }

        init() {
            arrival.method = Array("POST".utf8)[...]
            arrival.authorization = Array("bearer t".utf8)[...]
            arrival.token = [1]
            arrival.push.topic = Array("a.one".utf8)[...]
            arrival.push.payload = Array("{}".utf8)
        }
    }

    /// In the order that docs/gateway.md promises.
    private static let faults: [Fault] = [
        Fault(testDescription: "method", reason: .methodNotAllowed) {
            $0.arrival.method = Array("GET".utf8)[...]
        },
        Fault(testDescription: "double", reason: .duplicateHeaders) {
            $0.arrival.hasDuplicate = true
        },
        Fault(testDescription: "id", reason: .badMessageID) { $0.arrival.push.id = [1] },
        Fault(testDescription: "topic", reason: .badTopic) {
            $0.arrival.push.topic = Array(".a".utf8)[...]
        },
        Fault(testDescription: "collapse id", reason: .badCollapseID) {
            $0.arrival.push.collapseID = Array(repeating: 65, count: 65)[...]
        },
        Fault(testDescription: "priority", reason: .badPriority) {
            $0.arrival.push.priority = Array("7".utf8)[...]
        },
        Fault(testDescription: "type", reason: .invalidPushType) {
            $0.arrival.push.pushType = Array("x".utf8)[...]
        },
        Fault(testDescription: "expiration", reason: .badExpirationDate) {
            $0.arrival.push.expiration = Array("x".utf8)[...]
        },
        Fault(testDescription: "no provider", reason: .missingProviderToken) {
            $0.arrival.authorization = nil
        },
        Fault(testDescription: "provider", reason: .invalidProviderToken) { $0.proofs.key = nil },
        Fault(testDescription: "age", reason: .expiredProviderToken) {
            $0.proofs.issuedAt -= 4000
        },
        Fault(testDescription: "environment", reason: .badEnvironmentKeyIDInToken) {
            $0.proofs.key?.environment = .development
        },
        Fault(testDescription: "app", reason: .invalidProviderToken) {
            $0.proofs.key?.topics = ["a.two"]
        },
        Fault(testDescription: "no topic", reason: .missingTopic) { $0.arrival.push.topic = nil },
        Fault(testDescription: "no token", reason: .missingDeviceToken) { $0.arrival.token = [] },
        Fault(testDescription: "token", reason: .badDeviceToken) { $0.proofs.token = nil },
        Fault(testDescription: "another app's token", reason: .deviceTokenNotForTopic) {
            $0.proofs.token = $0.proofs.token.map {
                DeviceToken(device: $0.device, app: AppNumber(2), generation: 1)
            }
        },
        Fault(testDescription: "gone", reason: .unregistered) { $0.isActive = false },
        Fault(testDescription: "length", reason: .payloadTooLarge) {
            $0.arrival.push.isCutOff = true
        },
        Fault(testDescription: "payload", reason: .payloadEmpty) { $0.arrival.push.payload = [] },
        Fault(testDescription: "rate", reason: .tooManyRequests) { $0.pushes = 3 },
        Fault(testDescription: "quota", reason: .tooManyRequests) {
            $0.proofs.key?.quota = KeyQuota(1, per: .hours(1))
            $0.pushes = max($0.pushes, 2)
        },
    ]

    @Test(arguments: faults.indices)
    func `the first of two faults is told`(first: Int) {
        for second in Self.faults.indices where second >= first {
            var one = Case()
            // A later fault may take away where an earlier one is: it comes first.
            Self.faults[second].apply(&one)
            Self.faults[first].apply(&one)
            let what = "\(Self.faults[first]) and \(Self.faults[second])"
            let (reason, told, senders) = Self.outcome(one)
            guard !Self.exclude(first, second) else { continue }
            #expect(reason == Self.faults[first].reason, "\(what)")
            #expect(senders.refusals.map(\.reason) == [Self.faults[first].reason], "\(what)")
            #expect(senders.refusals.map(\.count) == [told], "\(what)")
            // Counted for the key as soon as it is known who signed.
            let isSigned = first >= Self.place(of: "age")
            #expect(senders.keys(["K"])[0].refused == (isSigned ? told : 0), "\(what)")
        }
    }

    private static func place(of name: String) -> Int {
        faults.firstIndex { $0.testDescription == name } ?? faults.count
    }

    /// A request cannot have both: what has no key has no app that the key may not push to.
    private static func exclude(_ first: Int, _ second: Int) -> Bool {
        [("app", "no topic")].contains { pair in
            [first, second] == [place(of: pair.0), place(of: pair.1)]
        }
    }

    @Test func `without a fault it is taken`() { #expect(Self.outcome(Case()).reason == nil) }

    /// Why a push is refused, and how many were; nil: they are taken. And what is counted.
    private static func outcome(
        _ one: Case
    ) -> (reason: Reason?, told: UInt64, SenderCounters) {
        var limits = GatewayLimits()
        (limits.tokenBurst, limits.tokenRate) = (2, 0)
        let app = AppNumber(1)
        let apps = [(app, "a.one"), (AppNumber(2), "a.two")]
        var driver = GatewayDriver(limits, StoredGateway(lastApp: 2, apps: apps))
        let now = Moment(
            boot: BootTime(nanoseconds: 1),
            awake: AwakeTime(nanoseconds: 1),
            wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
            utcOffset: 0
        )
        var sender = PushSender()
        var actions: [GatewayAction] = []
        let id = PushUUID(high: 0, low: 1)
        for number in 1...one.pushes {
            do throws(Reason) {
                let push = try driver.admit(
                    one.arrival,
                    from: &sender,
                    one.proofs,
                    .production,
                    id: id,
                    at: now
                )
                driver.handle(.push(push, CallID(UInt64(number))), at: now, into: &actions)
            } catch {
                return (error, 1, driver.senders)
            }
        }
        let answer = DeviceAnswer(
            &driver,
            app,
            isActive: one.isActive,
            at: now,
            behind: actions
        )
        let refusals = answer.refusals
        return (refusals.first, UInt64(refusals.count), driver.senders)
    }
}
