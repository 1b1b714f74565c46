package import Vocabulary

/// A request about broadcast channels as a provider sent it.
package struct ChannelArrival: Sendable {
    package let path: ChannelPath
    package let arrival: PushArrival
    /// The field that names the channel.
    package let field: ArraySlice<UInt8>?

    package init(_ path: ChannelPath, _ arrival: PushArrival, field: ArraySlice<UInt8>?) {
        (self.path, self.arrival, self.field) = (path, arrival, field)
    }
}

/// What a request about channels that may be made is for.
package enum ChannelVerdict: Equatable, Sendable {
    case send(Broadcast, provider: String)
    case create(bundle: String, keepsNewest: Bool)
    case remove(ChannelID)
    /// The answer: one channel.
    case describe(Channel)
    /// The answer: the channels of the app.
    case list([ChannelID])
}

/// In which order a request about channels is looked at: fields, method, then
/// - for a new one: who sends, the payload;
/// - for the list: who sends;
/// - for one that exists: channel, who sends, whose the channel is;
/// - for a broadcast: whether there is a push type, the form of the fields, the type, the same as
///   for one that exists, the expiration, the payload, the quota of the key.
extension GatewayDriver {
    package mutating func admit(
        _ request: ChannelArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ environment: PushEnvironment,
        at now: Moment
    ) throws(Reason) -> ChannelVerdict {
        sender.begin()
        do throws(Reason) {
            let caller = ChannelCaller(environment: environment, now: now)
            return try examine(request, from: &sender, proofs, caller)
        } catch {
            senders.refused(error)
            throw error
        }
    }

    private mutating func examine(
        _ request: ChannelArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ caller: ChannelCaller
    ) throws(Reason) -> ChannelVerdict {
        let arrival = request.arrival
        if arrival.hasDuplicate { throw .duplicateHeaders }
        switch request.path.kind {
        case .send:
            guard arrival.has(method: "POST") else { throw .methodNotAllowed }
            return try broadcast(request, from: &sender, proofs, caller)
        case .list:
            guard arrival.has(method: "GET") else { throw .methodNotAllowed }
            return try list(request, from: &sender, proofs, caller)
        case .manage where arrival.has(method: "POST"):
            _ = try authorize(request, &sender, proofs, caller)
            let keepsNewest = try Self.keepsNewest(arrival.push.payload)
            return .create(bundle: request.path.bundle, keepsNewest: keepsNewest)
        case .manage where arrival.has(method: "GET"):
            let named = request.path.channel ?? request.field
            if named == nil { return try list(request, from: &sender, proofs, caller) }
            return .describe(try channel(named, of: request, &sender, proofs, caller).channel)
        case .manage where arrival.has(method: "DELETE"):
            let named = request.path.channel ?? request.field
            return .remove(try channel(named, of: request, &sender, proofs, caller).channel.id)
        case .manage: throw .methodNotAllowed
        }
    }

    /// What holds for all checks of one request.
    private struct ChannelCaller {
        let environment: PushEnvironment
        let now: Moment
    }

    private func authorize(
        _ request: ChannelArrival,
        _ sender: inout PushSender,
        _ proofs: some Proofs,
        _ caller: ChannelCaller
    ) throws(Reason) -> AuthorizedSender {
        try sender.authorize(
            request.arrival.authorization,
            request.path.bundle,
            proofs,
            caller.environment,
            gateway.limits,
            at: caller.now
        )
    }

    private func list(
        _ request: ChannelArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ caller: ChannelCaller
    ) throws(Reason) -> ChannelVerdict {
        _ = try authorize(request, &sender, proofs, caller)
        return .list(channels(of: request.path.bundle))
    }

    /// The channel that is asked about, if the app is its, and who asks.
    private func channel(
        _ text: ArraySlice<UInt8>?,
        of request: ChannelArrival,
        _ sender: inout PushSender,
        _ proofs: some Proofs,
        _ caller: ChannelCaller
    ) throws(Reason) -> (channel: Channel, provider: AuthorizedSender) {
        guard let text, !text.isEmpty else { throw .missingChannelID }
        guard let id = ChannelID(text) else { throw .badChannelID }
        let provider = try authorize(request, &sender, proofs, caller)
        if isLeaving(id) { throw .serviceUnavailable }
        if let refusal = gateway.refusal(of: id, for: apps.number(of: request.path.bundle)) {
            throw refusal
        }
        guard let channel = gateway.channel(id) else { throw .channelNotRegistered }
        return (channel, provider)
    }

    private mutating func broadcast(
        _ request: ChannelArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ caller: ChannelCaller
    ) throws(Reason) -> ChannelVerdict {
        var push = request.arrival.push
        guard push.pushType != nil else { throw .missingPushType }
        // They have no topic, no id and nothing to replace.
        (push.topic, push.id, push.collapseID) = (nil, nil, nil)
        let said = try push.fields()
        guard said.type == .liveactivity else { throw .invalidPushType }
        let (channel, provider) = try channel(request.field, of: request, &sender, proofs, caller)
        let now = caller.now
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
        return .send(broadcast, provider: provider.name)
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

    /// Whether a new channel keeps its newest message, by the body of its request.
    private static func keepsNewest(_ body: [UInt8]) throws(Reason) -> Bool {
        guard let value = try? ValueJSON.parse(body), case .map = value else {
            throw .badRequestPayload
        }
        guard let type = value["push-type"] else { throw .missingPushType }
        guard type.stringValue?.lowercased() == PushType.liveactivity.name else {
            throw .invalidPushType
        }
        switch value["message-storage-policy"]?.integerValue {
        case 0: return false
        case 1: return true
        case .some, .none: throw .badRequestParameters
        }
    }
}
