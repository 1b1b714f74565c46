import GatewayCore
import Synchronization
import Testing
import Vocabulary

/// A bug of a gateway, and the kind of problem that shows it.
struct PlantedGatewayBug: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let raises: WorldProblem.Kind
    let bug: GatewayBug

    init(_ description: String, raises kind: WorldProblem.Kind, _ bug: GatewayBug) {
        (testDescription, raises, self.bug) = (description, kind, bug)
    }

    static let all = devices + providers + channels + doors + operators + stores + figures

    // MARK: Kinds of bugs

    static func acts(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ action: @escaping @Sendable (GatewayAction) -> [GatewayAction]
    ) -> Self {
        Self(description, raises: kind, GatewayBug(action: action))
    }

    static func hears(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ event: @escaping @Sendable (GatewayEvent) -> [GatewayEvent]
    ) -> Self {
        Self(description, raises: kind, GatewayBug(event: event))
    }

    static func reads(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ request: @escaping @Sendable (inout PushArrival) -> Void
    ) -> Self {
        Self(description, raises: kind, GatewayBug(request: request))
    }

    static func answers(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ change: @escaping @Sendable (CallID, Answer) -> Answer
    ) -> Self {
        acts(description, raises: kind) {
            guard case .answer(let call, let answer) = $0 else { return [$0] }
            return [.answer(call, change(call, answer))]
        }
    }

    static func writes(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ change: @escaping @Sendable (inout StoreBatch) -> Void
    ) -> Self {
        acts(description, raises: kind) {
            guard case .write(var batch) = $0 else { return [$0] }
            change(&batch)
            return [.write(batch)]
        }
    }

    /// The same for each change; what becomes of it.
    static func changes(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ change: @escaping @Sendable (StoreBatch.Change) -> [StoreBatch.Change]
    ) -> Self {
        writes(description, raises: kind) { $0.changes = $0.changes.flatMap(change) }
    }

    /// A push is overtaken by one that replaces it; `isLate`: until the device has that one.
    static func overtaken(
        _ description: String,
        raises kind: WorldProblem.Kind,
        isLate: Bool
    ) -> Self {
        let sendings = OvertakenSendings(isLate)
        return Self(
            description,
            raises: kind,
            GatewayBug(
                action: { sendings.actions(for: $0) },
                event: {
                    sendings.heard($0)
                    return [$0]
                }
            )
        )
    }

    private final class OvertakenSendings: Sendable {
        private let isLate: Bool
        private let state = Mutex(State())

        struct State: Sendable {
            var held: (link: LinkID, sending: Sending)?
            /// The one that overtakes it, and whether it is there.
            var newer: SendingID?
            var isThere = false
            var age = 0
        }

        init(_ isLate: Bool) { self.isLate = isLate }

        func heard(_ event: GatewayEvent) {
            guard case .link(_, .acknowledged(let id)) = event else { return }
            state.withLock { if $0.newer == id { $0.isThere = true } }
        }

        func actions(for action: GatewayAction) -> [GatewayAction] {
            state.withLock { state in
                state.age += 1
                if let held = state.held, state.isThere {
                    state = State()
                    return [action, .send(held.link, held.sending)]
                }
                guard case .send(let link, let sending) = action, !sending.push.collapseID.isEmpty
                else { return [action] }
                guard let held = state.held, state.age < 300 else {
                    state = State(held: (link, sending))
                    return []
                }
                if held.link == link, held.sending.push.number < sending.push.number,
                    GatewayWorld.kind(held.sending.push) == GatewayWorld.kind(sending.push)
                {
                    (state.newer, state.isThere) = (sending.id, !isLate)
                }
                return [action]
            }
        }
    }

    // MARK: What devices see

    private static let devices: [Self] = [
        acts("tokens begin anew with each registration", raises: .tokenBack) {
            guard case .registered(let link, let bundle, let token) = $0 else { return [$0] }
            let first = DeviceToken(device: token.device, app: token.app, generation: 1)
            return [.registered(link, bundle: bundle, first)]
        },
        changes("that an app is unregistered is not written", raises: .tokenBack) {
            guard case .registration(_, let registration) = $0, !registration.isActive else {
                return [$0]
            }
            return []
        },
        acts("what is kept is sent along twice", raises: .sentTwice) {
            guard case .send(_, let sending) = $0, sending.isRider else { return [$0] }
            return [$0, $0]
        },
        Self(
            "the clock is an hour late",
            raises: .sentExpired,
            GatewayBug(clock: {
                var now = $0
                now.wall = now.wall - .hours(1)
                return now
            })
        ),
        acts("devices are told wrongly that an app is unregistered", raises: .sentToEnded) {
            guard case .send(let link, _) = $0 else { return [$0] }
            return [.unregistered(link, bundle: "a.one"), $0]
        },
        overtaken(
            "a push is overtaken by one that replaces it",
            raises: .sentBehind,
            isLate: false
        ),
        overtaken(
            "a push comes when the device has one that replaces it",
            raises: .tookPlace,
            isLate: true
        ),
        Self(
            "silent pushes are not held back",
            raises: .silentBudget,
            GatewayBug(limits: { ($0.silentBurst, $0.silentRefill) = (100, .seconds(1)) })
        ),
        Self(
            "a low battery is not looked at",
            raises: .silentCondition,
            GatewayBug(limits: { $0.silentBattery = 0 })
        ),
        hears("low power is not heard of", raises: .silentCondition) {
            switch $0 {
            case .link(let link, .changed(var condition)):
                condition.isLowPower = false
                return [.link(link, .changed(condition))]
            case .connected(let device, let link, var condition):
                condition.isLowPower = false
                return [.connected(device, link, condition)]
            default: return [$0]
            }
        },
        acts("apps that are allowed are refused", raises: .refusedApp) {
            guard case .registered(let link, let bundle, _) = $0 else { return [$0] }
            return [.refused(link, bundle: bundle, .unknown)]
        },
        acts("apps that are not allowed are registered", raises: .allowedApp) {
            guard case .refused(let link, let bundle, .unknown) = $0 else { return [$0] }
            let token = DeviceToken(device: DeviceID(1), app: AppNumber(1), generation: 1)
            return [.registered(link, bundle: bundle, token)]
        },
        Self(
            "new devices are not written, and taken for known",
            raises: .unknownConnected,
            GatewayBug(
                action: {
                    guard case .write(var batch) = $0 else { return [$0] }
                    batch.changes.removeAll { if case .device = $0 { true } else { false } }
                    return [.write(batch)]
                },
                event: {
                    guard case .answered(.record(let device), .record(var record)) = $0 else {
                        return [$0]
                    }
                    record.isKnown = true
                    return [.answered(.record(device), .record(record))]
                }
            )
        ),
        hears("that there is room again is not heard of", raises: .waits) {
            if case .link(_, .congested(false)) = $0 { [] } else { [$0] }
        },
        hears("signs of life are not heard of", raises: .waitsAfterContact) {
            if case .link(_, .keptAlive) = $0 { [] } else { [$0] }
        },
    ]

    // MARK: What providers see

    private static let providers: [Self] = [
        changes("what is answered 200 is not written", raises: .lost) {
            if case .store = $0 { [] } else { [$0] }
        },
        answers("a refusal is told as a 200", raises: .lost) { call, answer in
            guard case .refused(.serviceUnavailable, _) = answer else { return answer }
            return .accepted(PushNumber(call.number))
        },
        acts("another topic is told of the log", raises: .logAnswer) {
            guard case .tell(let call, .told(let row, _)) = $0 else { return [$0] }
            return [.tell(call, .told(row, topic: "a.none"))]
        },
        acts("the log hides what it knows", raises: .logHidden) {
            guard case .tell(let call, .told) = $0 else { return [$0] }
            return [.tell(call, .refused(.badMessageID))]
        },
        acts("the log is not told", raises: .logWaits) {
            if case .tell = $0 { [] } else { [$0] }
        },
        acts("the log forgets too early", raises: .logForgotten) {
            guard case .forgetLog(let oldest) = $0 else { return [$0] }
            return [.forgetLog(before: PushNumber(oldest.number + 1_000_000))]
        },
        acts("answers are given twice", raises: .answeredTwice) {
            if case .answer = $0 { [$0, $0] } else { [$0] }
        },
        acts("answers are not given", raises: .providersWait) {
            if case .answer = $0 { [] } else { [$0] }
        },
        answers("all pushes get one number", raises: .numberTwice) { _, answer in
            if case .accepted = answer { .accepted(PushNumber(1)) } else { answer }
        },
        answers("a quota is said to be spent", raises: .quotaUnspent) { _, answer in
            if case .accepted = answer { .refused(.tooManyRequests) } else { answer }
        },
        Self(
            "a quota is not looked at",
            raises: .quotaExceeded,
            GatewayBug(quota: KeyQuota(100_000, per: .hours(1)))
        ),
        reads("no method is the right one", raises: .refusedAtOnce) {
            $0.method = Array("GET".utf8)[...]
        },
        reads("no method is the right one, whatever else is wrong", raises: .wrongReason) {
            $0.method = Array("GET".utf8)[...]
        },
        reads("a token is made up where there is none", raises: .faultTaken) {
            guard $0.token.isEmpty else { return }
            let token = DeviceToken(device: DeviceID(1), app: AppNumber(1), generation: 1)
            ($0.token, $0.authorization) = (token.bytes[...], Array("t".utf8)[...])
            $0.push.priority = nil
        },
        answers("a token is said to be none", raises: .refusedLater) { _, answer in
            if case .accepted = answer { .refused(.badDeviceToken) } else { answer }
        },
        answers("a token is said to be no more", raises: .goneTooSoon) { _, answer in
            guard case .accepted = answer else { return answer }
            return .refused(.unregistered, timestamp: WallTime(nanoseconds: 1))
        },
        answers("since when a token is no more is not told", raises: .goneTime) { _, answer in
            guard case .refused(.unregistered, _) = answer else { return answer }
            return .refused(.unregistered)
        },
        changes("tokens are written to have ended later", raises: .goneTime) {
            guard case .registration(let device, var registration) = $0 else { return [$0] }
            for place in registration.ended.indices {
                registration.ended[place].at = registration.ended[place].at + .seconds(1)
            }
            return [.registration(device, registration)]
        },
        answers("pushes to tokens that are no more are taken", raises: .endedTaken) {
            call,
            answer in
            guard case .refused(.unregistered, _) = answer else { return answer }
            return .accepted(PushNumber(call.number))
        },
        changes("the ends of tokens are not written", raises: .endedNotGone) {
            guard case .registration(let device, var registration) = $0 else { return [$0] }
            registration.ended = []
            return [.registration(device, registration)]
        },
        answers("a 200 is told as a 503", raises: .needlesslyUnavailable) { _, answer in
            if case .accepted = answer { .refused(.serviceUnavailable) } else { answer }
        },
    ]

    // MARK: What the store sees

    private static let stores: [Self] = [
        acts("batches are written twice", raises: .twoBatches) {
            if case .write = $0 { [$0, $0] } else { [$0] }
        },
        hears("all devices are said to be new", raises: .deviceTwice) {
            guard case .answered(.device(let key), .device) = $0 else { return [$0] }
            return [.answered(.device(key: key), .device(nil))]
        },
        changes("apps get two numbers", raises: .appTwice) {
            guard case .app(let app, let bundle) = $0 else { return [$0] }
            return [$0, .app(AppNumber(app.number + 100), bundle: bundle)]
        },
        changes("what may be tried once is stored", raises: .onceStored) {
            guard case .store(let own, let slot, let end) = $0 else { return [$0] }
            let push = Push(
                number: own.number,
                device: own.device,
                app: own.app,
                type: own.type,
                priority: own.priority,
                expiration: .once,
                collapseID: own.collapseID,
                isSilent: own.isSilent,
                payload: own.payload
            )
            return [.store(push, in: slot, expiration: end)]
        },
        changes("pushes are stored twice", raises: .slotBack) {
            if case .store = $0 { [$0, $0] } else { [$0] }
        },
        changes("pushes of APNs are stored among those of Web Push", raises: .wrongPlace) {
            guard case .store(let push, let slot, let end) = $0 else { return [$0] }
            let other = SlotKey(slot.device, slot.app, place: 1)
            return [.store(push, in: other, expiration: end)]
        },
        changes("broadcasts are stored twice", raises: .channelBack) {
            if case .broadcast = $0 { [$0, $0] } else { [$0] }
        },
        hears("all apps are said to be unused", raises: .appInUse) {
            guard case .answered(.unusedApps(let limit), .apps) = $0 else { return [$0] }
            let apps = (1...9 as ClosedRange<UInt32>).map { AppNumber($0) }
            return [.answered(.unusedApps(limit: limit), .apps(apps))]
        },
        changes("channels are not removed with their app", raises: .channelOfNoApp) {
            if case .removeChannel = $0 { [] } else { [$0] }
        },
        changes("tokens of removed devices stay in force", raises: .keptForNobody) {
            guard case .registration(_, let registration) = $0, !registration.isActive else {
                return [$0]
            }
            return []
        },
        writes("what is kept for removed devices stays", raises: .keptForNobody) { batch in
            let isRemoval = batch.changes.contains {
                if case .removeDevice = $0 { true } else { false }
            }
            guard isRemoval else { return }
            batch.changes.removeAll { if case .remove = $0 { true } else { false } }
        },
        Self(
            "too much of Web Push is kept",
            raises: .tooManyWebPushes,
            GatewayBug(limits: { $0.webPushKept = 9 })
        ),
        changes("messages of Web Push are kept at two places", raises: .topicTwice) {
            guard case .store(let push, let slot, let end) = $0, slot.place != 0 else {
                return [$0]
            }
            let next = SlotKey(slot.device, slot.app, place: slot.place % 3 + 1)
            return [$0, .store(push, in: next, expiration: end)]
        },
    ]
}
