import GatewayCore
import Vocabulary

extension PlantedGatewayBug {
    // MARK: Channels

    static func broadcasts(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ change: @escaping @Sendable (Broadcast) -> (PushNumber, ChannelID)
    ) -> Self {
        acts(description, raises: kind) {
            guard case .broadcast(let link, let own) = $0 else { return [$0] }
            let (number, channel) = change(own)
            let other = Broadcast(
                number: number,
                channel: channel,
                priority: own.priority,
                expiration: own.expiration,
                payload: own.payload
            )
            return [.broadcast(link, other)]
        }
    }

    static let channels: [Self] = [
        reads("channels are looked at instead of removed", raises: .channelVerdict) {
            $0.method = Array("GET".utf8)[...]
        },
        reads("nobody may send broadcasts", raises: .channelRefused) {
            if $0.push.pushType?.elementsEqual("liveactivity".utf8) == true {
                $0.authorization = nil
            }
        },
        acts("devices are told that there is no such channel", raises: .followRefused) {
            guard case .follows(let link, let channel, nil) = $0 else { return [$0] }
            return [.follows(link, channel, .noChannel)]
        },
        broadcasts("broadcasts go to another channel", raises: .notFollowed) {
            ($0.number, ChannelID(high: 0, low: 0))
        },
        broadcasts("broadcasts are numbered backwards", raises: .broadcastBehind) {
            (PushNumber(.max - $0.number.number), $0.channel)
        },
        changes("broadcasts are not written", raises: .broadcastLost) {
            if case .broadcast = $0 { [] } else { [$0] }
        },
        acts("devices that follow get nothing", raises: .broadcastMissed) {
            if case .broadcast = $0 { [] } else { [$0] }
        },
    ]

    // MARK: Who may be connected

    static let doors: [Self] = [
        acts("links that are ended stay open", raises: .doors) {
            if case .end = $0 { [] } else { [$0] }
        },
        hears("new devices are not asked for", raises: .enrolledUnasked) {
            guard case .identify(let operation, let key) = $0 else { return [$0] }
            return [.enrol(operation, key: key)]
        },
        Self(
            "providers make room for strangers",
            raises: .providerDisplaced,
            GatewayBug(forgetsProviders: true)
        ),
        Self(
            "no certificate is revoked",
            raises: .revokedTaken,
            GatewayBug(revoked: { _ in [] })
        ),
        answers("whoever has an old address is told to come again", raises: .endedNotGone) {
            _,
            answer in
            guard case .refused(.unregistered, _) = answer else { return answer }
            return .refused(.deviceTokenNotForTopic)
        },
    ]

    // MARK: What operators see

    static let operators: [Self] = [
        acts("operators are answered twice", raises: .doneTwice) {
            if case .done = $0 { [$0, $0] } else { [$0] }
        },
        acts("operators are not answered", raises: .operatorWaits) {
            if case .done = $0 { [] } else { [$0] }
        },
        acts("the store is not asked what has expired", raises: .restless) {
            if case .ask(.expired) = $0 { [] } else { [$0] }
        },
        acts("the store is not asked about some keys", raises: .rememberedDevices) {
            if case .ask(.device(let key)) = $0, key.first == 0 { [] } else { [$0] }
        },
    ]
}
