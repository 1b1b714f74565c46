internal import Vocabulary

extension GatewayFrame: LinkFrame {
    enum Kind: UInt8 {
        case challenge = 0x01
        case welcome, push, registered, unregistered, refused, keptAlive, end, subscribed
        case following, notFollowing, broadcast
    }

    /// Flags of a push, beside its priority.
    private enum Flag {
        static let rider: UInt8 = 0x10
        static let silent: UInt8 = 0x20
        static let expires: UInt8 = 0x40
        static let collapses: UInt8 = 0x80
        static let priority: UInt8 = 0x0F
    }

    package static let longest = LinkFormat.longestFromGateway

    package var kind: UInt8 {
        let kind: Kind =
            switch self {
            case .challenge: .challenge
            case .welcome: .welcome
            case .push: .push
            case .registered: .registered
            case .unregistered: .unregistered
            case .refused: .refused
            case .keptAlive: .keptAlive
            case .end: .end
            case .subscribed: .subscribed
            case .following: .following
            case .notFollowing: .notFollowing
            case .broadcast: .broadcast
            }
        return kind.rawValue
    }

    package func appendFields(to bytes: inout [UInt8]) {
        switch self {
        case .challenge(let challenge):
            bytes.append(challenge.versions.lowerBound)
            bytes.append(challenge.versions.upperBound)
            bytes += challenge.nonce
        case .welcome(let welcome):
            bytes.appendNumber(welcome.device)
            bytes.append(welcome.isNew ? 1 : 0)
            bytes.appendNumber(welcome.longest)
        case .push(let push): Self.append(push, to: &bytes)
        case .registered(let topic, let app, let token):
            bytes.appendCounted(topic.utf8)
            bytes.appendNumber(app)
            bytes += token
        case .unregistered(let topic): bytes.appendCounted(topic.utf8)
        case .refused(let topic, let problem):
            bytes.appendCounted(topic.utf8)
            bytes.append(problem.rawValue)
        case .keptAlive: break
        case .end(let ending):
            bytes.append(ending.reason.rawValue)
            for wait in [ending.after, ending.spread] {
                let seconds = UInt64(max(0, wait.wholeSeconds))
                bytes.appendNumber(min(seconds, LinkFormat.longestWait))
            }
        case .subscribed(let topic, let app, let key, let endpoint):
            bytes.appendCounted(topic.utf8)
            bytes.appendNumber(app)
            bytes.appendCounted(key)
            bytes.appendCounted(endpoint.utf8)
        case .following(let channel): bytes += channel
        case .notFollowing(let channel, let why):
            bytes += channel
            bytes.append(why.rawValue)
        case .broadcast(let broadcast): Self.append(broadcast, to: &bytes)
        }
    }

    private static func append(_ broadcast: Broadcast, to bytes: inout [UInt8]) {
        bytes += broadcast.channel
        bytes.appendNumber(broadcast.number)
        bytes.append(broadcast.priority | (broadcast.expiration == nil ? 0 : Flag.expires))
        if let expiration = broadcast.expiration {
            bytes.appendNumber(max(expiration, LinkFormat.epoch) - LinkFormat.epoch)
        }
        bytes += broadcast.payload
    }

    private static func append(_ push: Push, to bytes: inout [UInt8]) {
        bytes.appendNumber(push.sending)
        bytes.appendNumber(push.app)
        var flags = push.priority & Flag.priority
        if push.isRider { flags |= Flag.rider }
        if push.isSilent { flags |= Flag.silent }
        if push.expiration != nil { flags |= Flag.expires }
        if !push.collapseID.isEmpty { flags |= Flag.collapses }
        bytes.append(flags)
        bytes.append(push.type)
        if let expiration = push.expiration {
            bytes.appendNumber(max(expiration, LinkFormat.epoch) - LinkFormat.epoch)
        }
        if !push.collapseID.isEmpty { bytes.appendCounted(push.collapseID) }
        bytes += push.payload
    }

    package init(kind: UInt8, fields: ArraySlice<UInt8>) throws(LinkError) {
        guard let kind = Kind(rawValue: kind) else { throw .unknownKind }
        var reader = LinkReader(fields)
        switch kind {
        case .challenge:
            let (low, high) = (try reader.byte(), try reader.byte())
            guard low > 0, low <= high else { throw .badValue }
            let nonce = try reader.take(LinkFormat.challengeBytes)
            self = .challenge(Challenge(versions: low...high, nonce: nonce))
        case .welcome:
            let device = try reader.number()
            let flags = try reader.byte()
            guard flags <= 1 else { throw .notCanonical }
            let longest = try reader.number()
            self = .welcome(Welcome(device: device, isNew: flags == 1, longest: longest))
        case .push: self = .push(try Self.push(&reader))
        case .registered:
            self = .registered(
                topic: try reader.topic(),
                app: try reader.number(),
                token: try reader.take(LinkFormat.tokenBytes)
            )
        case .unregistered: self = .unregistered(topic: try reader.topic())
        case .refused:
            let topic = try reader.topic()
            guard let problem = RegistrationProblem(rawValue: try reader.byte()) else {
                throw .badValue
            }
            self = .refused(topic: topic, problem)
        case .keptAlive: self = .keptAlive
        case .end: self = .end(try Self.ending(&reader))
        case .subscribed:
            self = .subscribed(
                topic: try reader.topic(),
                app: try reader.number(),
                key: try reader.senderKey(),
                endpoint: try reader.endpoint()
            )
        case .following:
            self = .following(channel: try reader.take(LinkFormat.channelBytes))
        case .notFollowing:
            let channel = try reader.take(LinkFormat.channelBytes)
            guard let why = FollowRefusal(rawValue: try reader.byte()) else { throw .badValue }
            self = .notFollowing(channel: channel, why)
        case .broadcast: self = .broadcast(try Self.broadcast(&reader))
        }
        try reader.end()
    }

    private static func priority(_ flags: UInt8) throws(LinkError) -> UInt8 {
        let priority = flags & Flag.priority
        guard priority == 10 || priority == 5 || priority == 1 else { throw .badValue }
        return priority
    }

    private static func broadcast(_ reader: inout LinkReader) throws(LinkError) -> Broadcast {
        let channel = try reader.take(LinkFormat.channelBytes)
        let number = try reader.number()
        let flags = try reader.byte()
        guard flags & ~(Flag.priority | Flag.expires) == 0 else { throw .notCanonical }
        var broadcast = Broadcast(
            channel: channel,
            number: number,
            priority: try priority(flags),
            payload: []
        )
        if flags & Flag.expires != 0 {
            broadcast.expiration = LinkFormat.epoch + (try reader.number())
        }
        guard reader.remaining <= LinkFormat.longestPayload else { throw .tooLong }
        broadcast.payload = try reader.take(reader.remaining)
        return broadcast
    }

    private static func push(_ reader: inout LinkReader) throws(LinkError) -> Push {
        let (sending, app) = (try reader.number(), try reader.number())
        let flags = try reader.byte()
        let priority = try Self.priority(flags)
        var push = Push(
            sending: sending,
            app: app,
            type: try reader.byte(),
            priority: priority,
            isRider: flags & Flag.rider != 0,
            isSilent: flags & Flag.silent != 0,
            payload: []
        )
        if flags & Flag.expires != 0 { push.expiration = LinkFormat.epoch + (try reader.number()) }
        if flags & Flag.collapses != 0 {
            push.collapseID = try reader.counted(atMost: LinkFormat.longestCollapseID)
            guard !push.collapseID.isEmpty else { throw .notCanonical }
        }
        guard reader.remaining <= LinkFormat.longestPayload else { throw .tooLong }
        push.payload = try reader.take(reader.remaining)
        return push
    }

    private static func ending(_ reader: inout LinkReader) throws(LinkError) -> Ending {
        guard let reason = EndReason(rawValue: try reader.byte()) else { throw .badValue }
        let (after, spread) = (try reader.number(), try reader.number())
        guard max(after, spread) <= LinkFormat.longestWait else { throw .badValue }
        return Ending(reason, after: .seconds(Int64(after)), spread: .seconds(Int64(spread)))
    }
}
