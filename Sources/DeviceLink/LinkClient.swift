package import Vocabulary
package import Wire

/// The device's side of its link to the gateway, as a pure machine: when to connect, what to say,
/// how long to be silent, when to give a connection up.
///
/// Each event returns what must be done about it, in order. `alarm` says when `woke` wants to be
/// called; a call too many does nothing.
package struct LinkClient: Sendable {
    package enum Action: Equatable, Sendable {
        /// Connect with TLS, then say `connected` or `lost`. A connection that is there is closed.
        case connect
        case close
        /// Sign `LinkFormat.proof` of the challenge and say `hello` with it.
        case prove(challenge: [UInt8], next: UInt64, LinkCondition)
        case send(DeviceFrame)
        /// A push arrived; `acknowledge` it once it will not be lost.
        case push(ReceivedPush)
        case registered(topic: String, app: UInt64, token: [UInt8])
        case unregistered(topic: String)
        case refused(topic: String, RegistrationProblem)
        /// The address for the sender of Web Push with this key.
        case subscribed(Subscription, app: UInt64, endpoint: String)
        /// Messages of the channel come from now on; or not, and why: it is forgotten then.
        case following(Follow, FollowRefusal?)
        /// A message of a channel; its number is what the app had when it follows again.
        case broadcast(GatewayFrame.Broadcast, topic: String)
        /// The gateway knows us now. `isNew`: perhaps not all our apps.
        case online(isNew: Bool)
        /// The link is gone, or the gateway ended it before it stood; its reason, if it gave one.
        case offline(EndReason?)
    }

    /// What an app wants an address for: a sender's key; empty: whoever knows the address.
    package struct Subscription: Hashable, Sendable {
        package let topic: String
        package let key: [UInt8]

        package init(topic: String, key: [UInt8] = []) { (self.topic, self.key) = (topic, key) }
    }

    /// A broadcast channel that an app follows, and the newest of its messages that it had.
    package struct Follow: Hashable, Sendable {
        package let topic: String
        /// 16 bytes.
        package let channel: [UInt8]
        package var last: UInt64

        package init(topic: String, channel: [UInt8], last: UInt64 = 0) {
            (self.topic, self.channel, self.last) = (topic, channel, last)
        }
    }

    /// A push, and the link over which it came: only there it can be acknowledged.
    package struct ReceivedPush: Equatable, Sendable {
        package let link: UInt64
        package let push: GatewayFrame.Push
    }

    enum State: Equatable, Sendable {
        case stopped
        case waiting(until: BootTime)
        case connecting(until: BootTime)
        /// TLS stands, the challenge or the welcome is still to come.
        case greeting(until: BootTime, isProving: Bool)
        /// `nextKeepAlive`, or until when its answer must come.
        case online(nextKeepAlive: BootTime)
        case asking(until: BootTime, isProbe: Bool)
    }

    /// How long a connection, a greeting and the answer to a keep-alive may take.
    package static let patience = Interval.seconds(30)
    package static let answerTime = Interval.seconds(10)
    /// How long a link must last for the failures before it to be forgotten.
    package static let steady = Interval.minutes(1)

    private(set) var state = State.stopped
    private var reconnect = ReconnectPace()
    private var paces = KeepAlivePaces()
    private var network: String
    private var longest = Interval.minutes(30)
    private var onlineSince: BootTime?
    private var random: SeededRandom
    private var link: UInt64 = 0
    private var condition: LinkCondition
    /// What the gateway was last told.
    private var toldCondition: LinkCondition?
    private var budgets: [DeviceFrame.Budget] = []
    /// Apps that want a token, and whether this gateway gave it.
    private var wanted: [(topic: String, renewing: Bool)] = []
    private var leaving: [String] = []
    private var known: [String] = []
    /// Those that wait for their address.
    private var subscriptions: [Subscription] = []
    private var subscribed: [Subscription] = []
    private var follows: [Follow] = []
    /// Some of them were told to ask again.
    private var asksAgain = false

    /// `network`: a name of the present network, the same whenever the device is in it.
    package init(
        condition: LinkCondition,
        network: String = "",
        seed: UInt64
    ) {
        (self.condition, self.network) = (condition, network)
        random = SeededRandom(seed: seed)
    }

    /// When `woke` is to be called; nil: not before another event.
    package var alarm: BootTime? {
        switch state {
        case .stopped: nil
        case .waiting(let instant), .connecting(let instant), .greeting(let instant, _),
            .online(let instant), .asking(let instant, _):
            instant
        }
    }

    package var isOnline: Bool {
        switch state {
        case .online, .asking: true
        case .stopped, .waiting, .connecting, .greeting: false
        }
    }

    /// How long the link may be silent in this network.
    package var interval: Interval { paces[network].interval }

    // MARK: The world

    package mutating func started(at now: BootTime) -> [Action] {
        guard state == .stopped else { return [] }
        return connect(at: now)
    }

    /// Nobody needs the link any more.
    package mutating func stopped() -> [Action] {
        let wasOnline = isOnline
        let had = state
        state = .stopped
        toldCondition = nil
        switch had {
        case .stopped, .waiting: return []
        case .connecting, .greeting: return [.close]
        case .online, .asking: break
        }
        return [.send(.end(.leaving)), .close] + (wasOnline ? [.offline(nil)] : [])
    }

    /// The device woke from sleep, or its route to the gateway changed: the connection may be dead
    /// without a sign. It is asked at once; without one, a new one is tried at once.
    package mutating func networkChanged(
        to network: String,
        at now: BootTime
    ) -> [Action] {
        let isOther = network != self.network
        self.network = network
        switch state {
        case .stopped: return []
        case .waiting, .connecting, .greeting:
            reconnect.succeeded()
            return connect(at: now)
        case .online, .asking:
            // Another network has another address: the old connection leads nowhere.
            if isOther { return lost(at: now, retrying: true) }
            return ask(isProbe: true, at: now)
        }
    }

    package mutating func changed(_ condition: LinkCondition, at now: BootTime) -> [Action] {
        let old = self.condition
        self.condition = condition
        let matters =
            old.isOnMains != condition.isOnMains || old.isUnmetered != condition.isUnmetered
            || old.isLowPower != condition.isLowPower
        guard matters, isOnline, toldCondition != condition else { return [] }
        toldCondition = condition
        return [.send(.condition(condition))]
    }

    /// What is left of an app's silent budget; told with the next keep-alive.
    package mutating func counted(_ budget: DeviceFrame.Budget) {
        budgets.removeAll { $0.app == budget.app }
        budgets.append(budget)
        if budgets.count > LinkFormat.mostInList { budgets.removeFirst() }
    }

    // MARK: Apps

    /// An app wants its token. `renewing`: it was installed anew.
    package mutating func register(_ topic: String, renewing: Bool = false) -> [Action] {
        guard LinkFormat.isTopic(topic) else { return [] }
        leaving.removeAll { $0 == topic }
        wanted.removeAll { $0.topic == topic }
        wanted.append((topic, renewing))
        return isOnline ? [.send(.register(topic: topic, renewing: renewing))] : []
    }

    package mutating func unregister(_ topic: String) -> [Action] {
        guard LinkFormat.isTopic(topic) else { return [] }
        wanted.removeAll { $0.topic == topic }
        known.removeAll { $0 == topic }
        leaving.removeAll { $0 == topic }
        leaving.append(topic)
        subscriptions.removeAll { $0.topic == topic }
        subscribed.removeAll { $0.topic == topic }
        follows.removeAll { $0.topic == topic }
        return isOnline ? [.send(.unregister(topic: topic))] : []
    }

    /// An app wants an address for a sender of Web Push. It is registered by that.
    package mutating func subscribe(_ subscription: Subscription) -> [Action] {
        guard LinkFormat.isTopic(subscription.topic),
            [0, LinkFormat.senderKeyBytes].contains(subscription.key.count)
        else { return [] }
        leaving.removeAll { $0 == subscription.topic }
        subscriptions.removeAll { $0 == subscription }
        subscribed.removeAll { $0 == subscription }
        subscriptions.append(subscription)
        return isOnline ? [Self.asking(for: subscription)] : []
    }

    /// An app follows a broadcast channel from now on, also over links to come.
    package mutating func follow(_ follow: Follow) -> [Action] {
        guard LinkFormat.isTopic(follow.topic), follow.channel.count == LinkFormat.channelBytes
        else { return [] }
        follows.removeAll { $0.channel == follow.channel }
        follows.append(follow)
        return isOnline ? [Self.saying(follow)] : []
    }

    package mutating func unfollow(_ channel: [UInt8]) -> [Action] {
        guard follows.contains(where: { $0.channel == channel }) else { return [] }
        follows.removeAll { $0.channel == channel }
        return isOnline ? [.send(.unfollow(channel: channel))] : []
    }

    private static func saying(_ follow: Follow) -> Action {
        .send(.follow(topic: follow.topic, channel: follow.channel, last: follow.last))
    }

    private static func asking(for subscription: Subscription) -> Action {
        .send(.subscribe(topic: subscription.topic, key: subscription.key))
    }

    /// The push will not be lost any more.
    package func acknowledge(_ received: ReceivedPush) -> [Action] {
        guard isOnline, received.link == link else { return [] }
        return [.send(.acknowledge([received.push.sending]))]
    }

    /// There is no such app.
    package func decline(_ received: ReceivedPush) -> [Action] {
        guard isOnline, received.link == link else { return [] }
        return [.send(.decline(received.push.sending))]
    }

    /// The user opened the app.
    package func opened(_ app: UInt64) -> [Action] { isOnline ? [.send(.opened(app))] : [] }

    // MARK: The connection

    package mutating func connected(at now: BootTime) -> [Action] {
        guard case .connecting = state else { return [] }
        state = .greeting(until: now + Self.patience, isProving: false)
        return []
    }

    /// The connection is gone, or could not be had.
    package mutating func lost(at now: BootTime) -> [Action] { lost(at: now, retrying: false) }

    package mutating func received(
        _ frame: GatewayFrame,
        at now: BootTime
    ) throws(LinkError) -> [Action] {
        switch frame {
        case .challenge(let challenge): return try challenged(challenge)
        case .welcome(let welcome): return try welcomed(welcome, at: now)
        case .end(let ending): return ended(ending, at: now)
        case .push, .registered, .unregistered, .refused, .keptAlive, .subscribed, .following,
            .notFollowing, .broadcast:
            break
        }
        guard isOnline else { throw .outOfOrder }
        switch frame {
        case .push(let push):
            heard(at: now)
            return [.push(ReceivedPush(link: link, push: push))]
        case .registered(let topic, let app, let token):
            wanted.removeAll { $0.topic == topic }
            known.removeAll { $0 == topic }
            known.append(topic)
            return [.registered(topic: topic, app: app, token: token)]
        case .unregistered(let topic):
            leaving.removeAll { $0 == topic }
            return [.unregistered(topic: topic)]
        case .refused(let topic, let problem):
            refused(topic, problem)
            return [.refused(topic: topic, problem)]
        case .subscribed(let topic, let app, let key, let endpoint):
            let subscription = Subscription(topic: topic, key: key)
            subscriptions.removeAll { $0 == subscription }
            subscribed.removeAll { $0 == subscription }
            subscribed.append(subscription)
            return [.subscribed(subscription, app: app, endpoint: endpoint)]
        case .following(let channel): return follows(channel, nil)
        case .notFollowing(let channel, let why): return follows(channel, why)
        case .broadcast(let broadcast):
            heard(at: now)
            return received(broadcast)
        case .keptAlive: return answered(at: now)
        case .challenge, .welcome, .end: throw .outOfOrder
        }
    }

    private mutating func refused(_ topic: String, _ problem: RegistrationProblem) {
        switch problem {
        case .tooManyApps, .unknownTopic:
            wanted.removeAll { $0.topic == topic }
            subscriptions.removeAll { $0.topic == topic }
        case .badKey:
            // Answers come in the order of the questions.
            let index = subscriptions.firstIndex { $0.topic == topic && !$0.key.isEmpty }
            if let index { subscriptions.remove(at: index) }
        case .unavailable: asksAgain = true
        }
    }

    private mutating func follows(_ channel: [UInt8], _ why: FollowRefusal?) -> [Action] {
        guard let index = follows.firstIndex(where: { $0.channel == channel }) else { return [] }
        return [.following(why == nil ? follows[index] : follows.remove(at: index), why)]
    }

    /// What was had already, or is not followed any more, is dropped.
    private mutating func received(_ broadcast: GatewayFrame.Broadcast) -> [Action] {
        guard let index = follows.firstIndex(where: { $0.channel == broadcast.channel }),
            broadcast.number > follows[index].last
        else { return [] }
        follows[index].last = broadcast.number
        return [.broadcast(broadcast, topic: follows[index].topic)]
    }

    // MARK: Time

    package mutating func woke(at now: BootTime) -> [Action] {
        guard let alarm, alarm <= now else { return [] }
        switch state {
        case .stopped: return []
        case .waiting: return connect(at: now)
        case .connecting, .greeting: return lost(at: now)
        case .online: return ask(isProbe: false, at: now)
        case .asking(_, let isProbe):
            // Found dead. A probe came before its time and says nothing of the interval.
            if !isProbe { paces[network].lost() }
            return lost(at: now, retrying: true)
        }
    }

    // MARK: Steps

    private mutating func connect(at now: BootTime) -> [Action] {
        state = .connecting(until: now + Self.patience)
        return [.connect]
    }

    private mutating func challenged(
        _ challenge: GatewayFrame.Challenge
    ) throws(LinkError) -> [Action] {
        guard case .greeting(let until, false) = state else { throw .outOfOrder }
        guard challenge.versions.contains(LinkFormat.version) else { throw .badVersion }
        state = .greeting(until: until, isProving: true)
        toldCondition = condition
        return [.prove(challenge: challenge.nonce, next: seconds(interval), condition)]
    }

    private mutating func welcomed(
        _ welcome: GatewayFrame.Welcome,
        at now: BootTime
    ) throws(LinkError) -> [Action] {
        guard case .greeting(_, true) = state else { throw .outOfOrder }
        link += 1
        onlineSince = now
        longest = .seconds(Int64(clamping: min(welcome.longest, 86_400)))
        state = .online(nextKeepAlive: now + min(interval, longest))
        var actions = [Action.online(isNew: welcome.isNew)]
        // A gateway that lost what it knew has to be told of every app again.
        if welcome.isNew {
            for topic in known where !wanted.contains(where: { $0.topic == topic }) {
                wanted.append((topic, false))
            }
            known = []
            subscriptions += subscribed
            subscribed = []
        }
        actions += askForAll()
        actions += follows.map(Self.saying)
        return actions
    }

    private mutating func heard(at now: BootTime) {
        // What passes keeps the network's memory of the connection as well: our acknowledgement
        // follows.
        if case .online = state { state = .online(nextKeepAlive: now + min(interval, longest)) }
    }

    private mutating func ask(isProbe: Bool, at now: BootTime) -> [Action] {
        state = .asking(until: now + Self.answerTime, isProbe: isProbe)
        let told = condition == toldCondition ? nil : condition
        if told != nil { toldCondition = condition }
        let reported = budgets
        budgets = []
        // The gateway's time limit follows from it, and the answer lengthens the interval.
        var pace = paces[network]
        if !isProbe { pace.answered(longest: longest) }
        return [
            .send(
                .keepAlive(
                    .init(next: seconds(pace.interval), condition: told, budgets: reported)
                )
            )
        ]
    }

    private mutating func answered(at now: BootTime) -> [Action] {
        guard case .asking(_, let isProbe) = state else { return [] }
        if !isProbe { paces[network].answered(longest: longest) }
        state = .online(nextKeepAlive: now + min(interval, longest))
        return asksAgain ? askForAll() : []
    }

    /// For what waits to be registered, or to be no more.
    private mutating func askForAll() -> [Action] {
        asksAgain = false
        return leaving.map { .send(.unregister(topic: $0)) }
            + wanted.map { .send(.register(topic: $0.topic, renewing: $0.renewing)) }
            + subscriptions.map(Self.asking)
    }

    private mutating func ended(_ ending: GatewayFrame.Ending, at now: BootTime) -> [Action] {
        forget(at: now)
        switch state {
        case .stopped, .waiting, .connecting: return []
        case .greeting, .online, .asking: break
        }
        let drawn = random.within(0...max(0, ending.spread.nanoseconds))
        var wait = ending.after + Interval(nanoseconds: drawn)
        // A gateway that names no time is not stormed.
        if ending.after == .zero, ending.spread == .zero { wait = reconnect.failed(&random) }
        state = .waiting(until: now + wait)
        return [.close, .offline(ending.reason)]
    }

    private mutating func lost(at now: BootTime, retrying: Bool) -> [Action] {
        let wasOnline = isOnline
        forget(at: now)
        switch state {
        case .stopped, .waiting: return []
        case .connecting, .greeting, .online, .asking: break
        }
        let offline: [Action] = wasOnline ? [.offline(nil)] : []
        if retrying { return [.close] + offline + connect(at: now) }
        state = .waiting(until: now + reconnect.failed(&random))
        return [.close] + offline
    }

    /// What held only for the link that ends now.
    private mutating func forget(at now: BootTime) {
        toldCondition = nil
        // A gateway that welcomes and then drops its devices is not stormed either.
        if let since = onlineSince, since + Self.steady <= now { reconnect.succeeded() }
        onlineSince = nil
    }

    private func seconds(_ interval: Interval) -> UInt64 {
        UInt64(max(1, min(interval, longest).wholeSeconds))
    }
}
