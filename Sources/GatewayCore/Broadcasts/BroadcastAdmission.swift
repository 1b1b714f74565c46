package import Vocabulary

/// A request to send to a channel.
package struct BroadcastArrival: Sendable {
    package var arrival: PushArrival
    package var bundle: String
    /// The field that names the channel.
    package var channel: ArraySlice<UInt8>?

    package init(_ arrival: PushArrival, bundle: String, channel: ArraySlice<UInt8>?) {
        (self.arrival, self.bundle, self.channel) = (arrival, bundle, channel)
    }
}

/// In which order a broadcast is looked at: method, fields, channel, who sends, whose the channel
/// is, the expiration, the payload, the quota of the key.
extension GatewayDriver {
    /// The message, and who sends it.
    package mutating func admit(
        _ request: BroadcastArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ environment: PushEnvironment,
        at now: Moment
    ) throws(Reason) -> (Broadcast, provider: String) {
        sender.isProven = false
        let arrival = request.arrival
        guard arrival.has(method: "POST") else { throw .methodNotAllowed }
        var push = arrival.push
        guard push.pushType != nil else { throw .missingPushType }
        // They have no topic, no id and nothing to replace.
        (push.topic, push.id, push.collapseID) = (nil, nil, nil)
        let said = try push.fields()
        guard said.type == .liveactivity else { throw .invalidPushType }
        let (channel, provider) = try self.channel(request, from: &sender, proofs, environment, now)
        let expiration = try Self.expiration(said, channel, gateway.limits, now.wall)
        guard !push.payload.isEmpty || push.isCutOff else { throw .payloadEmpty }
        guard !push.isCutOff, push.payload.count <= Broadcast.payloadLimit else {
            throw .payloadTooLarge
        }
        guard PayloadScan(push.payload) != nil else { throw .badRequestPayload }
        guard !quotas.isSpent(provider.quota, of: provider.name, at: now.boot) else {
            throw .tooManyRequests
        }
        quotas.spend(provider.quota, of: provider.name, at: now.boot)
        let broadcast = Broadcast(
            number: gateway.takeNumber(at: now),
            channel: channel.id,
            priority: said.priority ?? .immediate,
            expiration: expiration,
            payload: push.payload
        )
        return (broadcast, provider.name)
    }

    /// The channel that is asked about, if the app is its, and who asks.
    package func channel(
        _ request: BroadcastArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ environment: PushEnvironment,
        _ now: Moment
    ) throws(Reason) -> (channel: Channel, provider: AuthorizedSender) {
        guard let text = request.channel, !text.isEmpty else { throw .missingChannelID }
        guard let id = ChannelID(text) else { throw .badChannelID }
        let provider = try sender.authorize(
            request.arrival.authorization,
            request.bundle,
            proofs,
            environment,
            gateway.limits,
            at: now
        )
        if let refusal = gateway.refusal(of: id, for: apps.number(of: request.bundle)) {
            throw refusal
        }
        guard let channel = gateway.channel(id) else { throw .channelNotRegistered }
        return (channel, provider)
    }

    /// What a channel does not keep may not ask to be kept.
    private static func expiration(
        _ said: PushRequest.Fields,
        _ channel: Channel,
        _ limits: GatewayLimits,
        _ now: WallTime
    ) throws(Reason) -> PushExpiration {
        switch (said.expiration, channel.keepsNewest) {
        case (.until, false): throw .badExpirationDate
        case (.once, _), (nil, false): return .once
        case (nil, true): return .until(now + limits.channelStorage)
        case (.until(let end), true): return .until(min(end, now + limits.channelStorage))
        }
    }
}
