import DeviceLink
import Testing
import Vocabulary
import Wire

/// The device's side, event by event.
struct LinkClientTests {
    private var client = LinkClient(condition: LinkCondition(), network: "home", seed: 1)
    private var now = BootTime(nanoseconds: 0)
    private let nonce = [UInt8](repeating: 9, count: 32)

    /// Brings it online.
    private mutating func connect(isNew: Bool = false) throws -> [LinkClient.Action] {
        #expect(client.started(at: now) == [.connect])
        return try greet(isNew: isNew)
    }

    private mutating func greet(isNew: Bool = false) throws -> [LinkClient.Action] {
        #expect(client.connected(at: now) == [])
        #expect(
            try client.received(.challenge(.init(nonce: nonce)), at: now) == [
                .prove(
                    challenge: nonce,
                    next: UInt64(client.interval.wholeSeconds),
                    LinkCondition()
                )
            ]
        )
        return try client.received(
            .welcome(.init(device: 1, isNew: isNew, longest: 1800)),
            at: now
        )
    }

    private mutating func pass(_ interval: Interval) -> [LinkClient.Action] {
        now = now + interval
        return client.woke(at: now)
    }

    /// Waits as long as it wants to.
    private mutating func comeBack() -> [LinkClient.Action] {
        now = client.alarm ?? now
        return client.woke(at: now)
    }

    private func push(_ sending: UInt64) -> GatewayFrame.Push {
        .init(sending: sending, app: 1, type: 1, priority: 10, payload: [])
    }

    @Test mutating func aLinkComesUpAndTellsOfItsApps() throws {
        #expect(client.register("a.b") == [])
        #expect(
            try connect(isNew: true) == [
                .online(isNew: true), .send(.register(topic: "a.b", renewing: false)),
            ]
        )
        let token = [UInt8](repeating: 7, count: 32)
        let registered = GatewayFrame.registered(topic: "a.b", app: 1, token: token)
        #expect(
            try client.received(registered, at: now)
                == [.registered(topic: "a.b", app: 1, token: token)]
        )
        #expect(client.register("c") == [.send(.register(topic: "c", renewing: false))])
        #expect(client.register("no topic") == [])
    }

    @Test mutating func whatIsRegisteredIsNotToldAgainUnlessTheGatewayForgot() throws {
        _ = client.register("a")
        _ = try connect(isNew: true)
        _ = try client.received(.registered(topic: "a", app: 1, token: []), at: now)
        _ = client.lost(at: now)
        #expect(comeBack() == [.connect])
        #expect(try greet() == [.online(isNew: false)])
        _ = client.lost(at: now)
        #expect(comeBack() == [.connect])
        #expect(
            try greet(isNew: true)
                == [.online(isNew: true), .send(.register(topic: "a", renewing: false))]
        )
    }

    @Test mutating func anAddressIsAskedForUntilItIsThereAndAgainWhenTheGatewayForgot() throws {
        let one = LinkClient.Subscription(topic: "a", key: [4] + Array(0..<64))
        let asked = LinkClient.Action.send(.subscribe(topic: "a", key: one.key))
        #expect(client.subscribe(one) == [])
        #expect(client.subscribe(LinkClient.Subscription(topic: "a", key: [4])) == [])
        #expect(try connect() == [.online(isNew: false), asked])
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet() == [.online(isNew: false), asked])
        let answer = GatewayFrame.subscribed(topic: "a", app: 3, key: one.key, endpoint: "u")
        #expect(
            try client.received(answer, at: now) == [.subscribed(one, app: 3, endpoint: "u")]
        )
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet() == [.online(isNew: false)])
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet(isNew: true) == [.online(isNew: true), asked])
        _ = try client.received(answer, at: now)
        _ = client.unregister("a")
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(
            try greet(isNew: true) == [.online(isNew: true), .send(.unregister(topic: "a"))]
        )
    }

    @Test mutating func aBadKeyTakesBackNothingButItself() throws {
        let keys = [1, 2].map { [UInt8](repeating: $0, count: LinkFormat.senderKeyBytes) }
        for key in keys { _ = client.subscribe(LinkClient.Subscription(topic: "a", key: key)) }
        _ = try connect()
        _ = try client.received(.refused(topic: "a", .badKey), at: now)
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(
            try greet() == [.online(isNew: false), .send(.subscribe(topic: "a", key: keys[1]))]
        )
    }

    @Test mutating func whoIsToAskAgainDoesSoWithTheNextKeepAlive() throws {
        _ = client.register("a")
        _ = try connect()
        let told = try client.received(.refused(topic: "a", .unavailable), at: now)
        #expect(told == [.refused(topic: "a", .unavailable)])
        now = try #require(client.alarm)
        _ = client.woke(at: now)
        let asked = LinkClient.Action.send(.register(topic: "a", renewing: false))
        #expect(try client.received(.keptAlive, at: now) == [asked])
        now = try #require(client.alarm)
        _ = client.woke(at: now)
        #expect(try client.received(.keptAlive, at: now) == [])
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet() == [.online(isNew: false), asked])
    }

    @Test mutating func aChannelIsFollowedOnEachLinkFromTheLastMessageThatCame() throws {
        let channel = [UInt8](repeating: 9, count: 16)
        func saying(_ last: UInt64) -> LinkClient.Action {
            .send(.follow(topic: "a", channel: channel, last: last))
        }
        func message(_ number: UInt64) -> GatewayFrame.Broadcast {
            .init(channel: channel, number: number, priority: 10, payload: [])
        }
        #expect(client.follow(.init(topic: "a", channel: channel, last: 5)) == [])
        #expect(client.follow(.init(topic: "a", channel: [1])) == [])
        #expect(try connect() == [.online(isNew: false), saying(5)])
        let follow = LinkClient.Follow(topic: "a", channel: channel, last: 5)
        #expect(
            try client.received(.following(channel: channel), at: now)
                == [.following(follow, nil)]
        )
        #expect(
            try client.received(.broadcast(message(7)), at: now)
                == [.broadcast(message(7), topic: "a")]
        )
        // One that came twice, and one of a channel that nobody follows.
        #expect(try client.received(.broadcast(message(7)), at: now) == [])
        var other = message(8)
        other.channel = []
        #expect(try client.received(.broadcast(other), at: now) == [])
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet() == [.online(isNew: false), saying(7)])
        let removed = LinkClient.Follow(topic: "a", channel: channel, last: 7)
        #expect(
            try client.received(.notFollowing(channel: channel, .noChannel), at: now)
                == [.following(removed, .noChannel)]
        )
        #expect(client.unfollow(channel) == [])
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet() == [.online(isNew: false)])
        #expect(client.follow(removed) == [saying(7)])
        #expect(client.unfollow(channel) == [.send(.unfollow(channel: channel))])
    }

    @Test mutating func anAppThatLeavesWhileAwayIsToldOfLater() throws {
        _ = client.unregister("a")
        #expect(
            try connect() == [.online(isNew: false), .send(.unregister(topic: "a"))]
        )
        #expect(
            try client.received(.unregistered(topic: "a"), at: now) == [.unregistered(topic: "a")]
        )
        _ = client.lost(at: now)
        _ = comeBack()
        #expect(try greet() == [.online(isNew: false)])
    }

    @Test mutating func anAppThatCouldNotLeaveDoesSoWithTheNextKeepAlive() throws {
        _ = client.register("a")
        _ = try connect()
        #expect(client.unregister("a") == [.send(.unregister(topic: "a"))])
        _ = try client.received(.refused(topic: "a", .unavailable), at: now)
        _ = comeBack()
        let leaving = LinkClient.Action.send(.unregister(topic: "a"))
        #expect(try client.received(.keptAlive, at: now) == [leaving])
        _ = try client.received(.unregistered(topic: "a"), at: now)
        _ = comeBack()
        #expect(try client.received(.keptAlive, at: now) == [])
    }

    @Test mutating func aKeepAliveIsAnsweredOrTheLinkIsDead() throws {
        _ = try connect()
        let interval = client.interval
        #expect(pass(interval - .seconds(1)) == [])
        // What comes after the answer is announced.
        let longer = UInt64((interval + interval / 2).wholeSeconds)
        #expect(pass(.seconds(1)) == [.send(.keepAlive(.init(next: longer)))])
        #expect(try client.received(.keptAlive, at: now) == [])
        #expect(client.interval == .seconds(Int64(longer)))
        _ = pass(client.interval)
        #expect(pass(LinkClient.answerTime) == [.close, .offline(nil), .connect])
        #expect(client.interval == interval)
    }

    @Test mutating func aPushPutsTheNextKeepAliveOff() throws {
        _ = try connect()
        now = now + (client.interval - .seconds(1))
        _ = try client.received(.push(push(1)), at: now)
        #expect(pass(.seconds(1)) == [])
        #expect(client.alarm == now - .seconds(1) + client.interval)
    }

    @Test mutating func aPushIsAcknowledgedOverItsOwnLinkOnly() throws {
        _ = try connect()
        let actions = try client.received(.push(push(5)), at: now)
        guard case .push(let delivery) = actions.first else {
            Issue.record("no push")
            return
        }
        #expect(client.acknowledge(delivery) == [.send(.acknowledge([5]))])
        #expect(client.decline(delivery) == [.send(.decline(5))])
        _ = client.lost(at: now)
        #expect(client.acknowledge(delivery) == [])
        _ = comeBack()
        _ = try greet()
        #expect(client.acknowledge(delivery) == [])
    }

    @Test mutating func theNextKeepAliveComesWhenItWasAnnounced() throws {
        _ = try connect()
        var announced = client.interval
        for _ in 0..<200 {
            let alarm = try #require(client.alarm)
            // It is told in whole seconds.
            #expect(alarm - now < announced + .seconds(1))
            now = alarm
            guard case .send(.keepAlive(let keepAlive)) = client.woke(at: now).first else {
                Issue.record("no keep-alive")
                return
            }
            announced = .seconds(Int64(keepAlive.next))
            _ = try client.received(.keptAlive, at: now)
        }
        #expect(announced > KeepAlivePace.first * 2)
    }

    @Test mutating func wakingFromSleepProbesAtOnce() throws {
        _ = try connect()
        let interval = client.interval
        now = now + .hours(8)
        #expect(
            client.networkChanged(to: "home", at: now)
                == [.send(.keepAlive(.init(next: UInt64(interval.wholeSeconds))))]
        )
        #expect(pass(LinkClient.answerTime) == [.close, .offline(nil), .connect])
        // A sleep tells nothing about the network.
        #expect(client.interval == interval)
    }

    @Test mutating func anotherNetworkMeansANewConnectionAndItsOwnPace() throws {
        _ = try connect()
        _ = pass(client.interval)
        _ = try client.received(.keptAlive, at: now)
        let atHome = client.interval
        #expect(
            client.networkChanged(to: "train", at: now) == [.close, .offline(nil), .connect]
        )
        #expect(client.interval == KeepAlivePace.first)
        _ = client.networkChanged(to: "home", at: now)
        #expect(client.interval == atHome)
    }

    @Test mutating func aNetworkThatComesEndsTheWait() {
        #expect(client.started(at: now) == [.connect])
        for _ in 0..<10 {
            _ = client.lost(at: now)
            now = client.alarm ?? now
            _ = client.woke(at: now)
        }
        _ = client.lost(at: now)
        #expect(client.networkChanged(to: "home", at: now) == [.connect])
    }

    @Test mutating func anEndWithATimeIsKeptTo() throws {
        _ = try connect()
        let ending = GatewayFrame.Ending(.shutdown, after: .seconds(5), spread: .seconds(100))
        #expect(try client.received(.end(ending), at: now) == [.close, .offline(.shutdown)])
        let alarm = try #require(client.alarm)
        #expect(alarm >= now + .seconds(5))
        #expect(alarm <= now + .seconds(105))
        #expect(client.woke(at: alarm) == [.connect])
    }

    @Test mutating func anEndWithoutATimeIsNoInvitation() throws {
        var waits: [Interval] = []
        #expect(client.started(at: now) == [.connect])
        for _ in 0..<12 {
            _ = client.connected(at: now)
            _ = try client.received(.end(.init(.badSignature)), at: now)
            let alarm = try #require(client.alarm)
            waits.append(alarm - now)
            now = alarm
            #expect(client.woke(at: now) == [.connect])
        }
        #expect(waits.max() ?? .zero > .seconds(60))
    }

    @Test mutating func aGatewayThatDropsWhomItWelcomedIsLeftAloneForLonger() throws {
        _ = try connect()
        var waits: [Interval] = []
        for _ in 0..<12 {
            now = now + .seconds(1)
            _ = client.lost(at: now)
            waits.append(try #require(client.alarm) - now)
            _ = comeBack()
            _ = try greet()
        }
        #expect(waits.max() ?? .zero > .seconds(60))
        // One that lasted is another matter.
        now = now + LinkClient.steady
        _ = client.lost(at: now)
        #expect(try #require(client.alarm) - now <= .seconds(1))
    }

    @Test mutating func framesOutOfOrderAreRefused() throws {
        #expect(client.started(at: now) == [.connect])
        _ = client.connected(at: now)
        for frame in [GatewayFrame.keptAlive, .push(push(1)), .unregistered(topic: "a")] {
            #expect(throws: LinkError.outOfOrder) { try client.received(frame, at: now) }
        }
        let welcome = GatewayFrame.welcome(.init(device: 1, isNew: false, longest: 60))
        #expect(throws: LinkError.outOfOrder) { try client.received(welcome, at: now) }
        _ = try client.received(.challenge(.init(nonce: nonce)), at: now)
        #expect(throws: LinkError.outOfOrder) {
            try client.received(.challenge(.init(nonce: nonce)), at: now)
        }
        _ = try client.received(welcome, at: now)
        #expect(throws: LinkError.outOfOrder) { try client.received(welcome, at: now) }
        #expect(throws: LinkError.outOfOrder) {
            try client.received(.challenge(.init(nonce: nonce)), at: now)
        }
    }

    @Test mutating func aGatewayOfAnotherVersionIsRefused() {
        #expect(client.started(at: now) == [.connect])
        _ = client.connected(at: now)
        #expect(throws: LinkError.badVersion) {
            try client.received(.challenge(.init(versions: 2...3, nonce: nonce)), at: now)
        }
    }

    @Test mutating func aConnectionThatHangsIsGivenUp() {
        #expect(client.started(at: now) == [.connect])
        #expect(pass(LinkClient.patience) == [.close])
        #expect(!client.isOnline)
    }

    @Test mutating func theConditionIsToldWhenItMattersAndElseWithTheKeepAlive() throws {
        _ = try connect()
        let low = LinkCondition(battery: 50)
        #expect(client.changed(low, at: now) == [])
        client.counted(.init(app: 1, left: 2))
        client.counted(.init(app: 1, left: 1))
        let longer = UInt64((client.interval + client.interval / 2).wholeSeconds)
        #expect(
            pass(client.interval) == [
                .send(
                    .keepAlive(
                        .init(next: longer, condition: low, budgets: [.init(app: 1, left: 1)])
                    )
                )
            ]
        )
        let unplugged = LinkCondition(battery: 50, isOnMains: false)
        #expect(client.changed(unplugged, at: now) == [.send(.condition(unplugged))])
        #expect(client.changed(unplugged, at: now) == [])
    }

    @Test mutating func stoppingSaysGoodbye() throws {
        _ = try connect()
        #expect(client.stopped() == [.send(.end(.leaving)), .close, .offline(nil)])
        #expect(client.alarm == nil)
        #expect(client.started(at: now) == [.connect])
    }

    @Test mutating func theGatewaysLongestIntervalIsKept() throws {
        #expect(client.started(at: now) == [.connect])
        _ = client.connected(at: now)
        _ = try client.received(.challenge(.init(nonce: nonce)), at: now)
        _ = try client.received(.welcome(.init(device: 1, isNew: false, longest: 60)), at: now)
        #expect(client.alarm == now + .seconds(60))
    }
}
