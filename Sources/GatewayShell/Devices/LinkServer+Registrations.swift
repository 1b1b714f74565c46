package import GatewayCore
import TLS
import Wire

/// What apps are told of their addresses and channels.
extension LinkServer {
    package func refused(_ bundle: String, _ why: RegistrationRefusal, over link: LinkID) {
        // What is no topic cannot be said either.
        guard LinkFormat.isTopic(bundle) else { return }
        let problem: RegistrationProblem =
            switch why {
            case .tooMany: .tooManyApps
            case .unknown: .unknownTopic
            case .badKey: .badKey
            case .unavailable: .unavailable
            }
        send(.refused(topic: bundle, problem), over: link)
    }

    /// The app's token as providers see it, 32 bytes.
    package func registered(_ bundle: String, token: [UInt8], over link: LinkID) {
        guard let app = owner.number(of: bundle) else { return }
        send(.registered(topic: bundle, app: UInt64(app.number), token: token), over: link)
    }

    package func subscribed(
        _ bundle: String,
        key: [UInt8],
        endpoint: String,
        over link: LinkID
    ) {
        guard let app = owner.number(of: bundle) else { return }
        let number = UInt64(app.number)
        send(.subscribed(topic: bundle, app: number, key: key, endpoint: endpoint), over: link)
    }

    package func unregistered(_ bundle: String, over link: LinkID) {
        send(.unregistered(topic: bundle), over: link)
    }

    func subscribe(_ topic: String, _ key: [UInt8], _ link: LinkID) {
        let isKey = key.isEmpty || (try? P256PublicKey(point: key)) != nil
        owner.subscribe(topic, key: isKey ? key : nil, over: link)
    }

    // MARK: Broadcast channels

    func follow(_ topic: String, _ channel: [UInt8], _ last: UInt64, _ link: LinkID) {
        guard let id = ChannelID(bytes: channel) else { return }
        owner.follow(id, of: topic, last: last, over: link)
    }

    package func send(_ broadcast: Broadcast, over link: LinkID) {
        send(.broadcast(GatewayFrame.Broadcast(broadcast)), over: link)
    }

    package func follows(_ channel: ChannelID, _ why: FollowProblem?, over link: LinkID) {
        switch why {
        case nil: send(.following(channel: channel.bytes), over: link)
        case .noChannel: send(.notFollowing(channel: channel.bytes, .noChannel), over: link)
        case .tooMany: send(.notFollowing(channel: channel.bytes, .tooMany), over: link)
        }
    }
}
