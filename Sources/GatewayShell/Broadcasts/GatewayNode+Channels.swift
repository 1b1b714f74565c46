package import GatewayCore
import Linux

/// Broadcast channels, and who follows them.
extension GatewayNode {
    /// Makes a channel; told once it is kept, or why it is not.
    package func create(
        _ id: ChannelID,
        of bundle: String,
        keepsNewest: Bool,
        _ completion: @escaping (Reason?) -> Void
    ) {
        let app = apps.number(of: bundle) ?? addApp(bundle)
        var refusal: Reason?
        event { gateway, _, effects in
            let channel = Channel(id: id, app: app, keepsNewest: keepsNewest)
            refusal = gateway.create(channel, into: &effects)
        }
        if let refusal { return completion(refusal) }
        deferred.append(.done(completion))
    }

    package func remove(_ id: ChannelID, _ completion: @escaping (Reason?) -> Void) {
        event { gateway, _, effects in gateway.remove(id, into: &effects) }
        deferred.append(.done(completion))
    }

    package func take(_ broadcast: Broadcast, from provider: String, for call: CallID) {
        event { $0.take(broadcast, from: provider, for: call, at: $1, into: &$2) }
    }

    package func follow(
        _ channel: ChannelID,
        of bundle: String,
        last: UInt64,
        over link: LinkID
    ) {
        let app = apps.number(of: bundle)
        event { $0.follow(channel, of: app, last: last, over: link, at: $1, into: &$2) }
    }

    package func unfollow(_ channel: ChannelID, over link: LinkID) {
        event { gateway, _, _ in gateway.unfollow(channel, over: link) }
    }
}
