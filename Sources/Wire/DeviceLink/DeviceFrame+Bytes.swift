extension DeviceFrame: LinkFrame {
    enum Kind: UInt8 {
        case hello = 0x41
        case acknowledge, decline, register, unregister, keepAlive, condition, opened, end
        case subscribe, follow, unfollow
    }

    package static let longest = LinkFormat.longestFromDevice

    package var kind: UInt8 {
        let kind: Kind =
            switch self {
            case .hello: .hello
            case .acknowledge: .acknowledge
            case .decline: .decline
            case .register: .register
            case .unregister: .unregister
            case .keepAlive: .keepAlive
            case .condition: .condition
            case .opened: .opened
            case .end: .end
            case .subscribe: .subscribe
            case .follow: .follow
            case .unfollow: .unfollow
            }
        return kind.rawValue
    }

    package func appendFields(to bytes: inout [UInt8]) {
        switch self {
        case .hello(let hello):
            bytes.append(hello.version)
            bytes += hello.key
            bytes += hello.signature
            bytes.appendNumber(hello.next)
            bytes.append(hello.condition)
            if !hello.enrolment.isEmpty { bytes.appendCounted(hello.enrolment) }
        case .acknowledge(let sendings):
            for sending in sendings { bytes.appendNumber(sending) }
        case .decline(let sending): bytes.appendNumber(sending)
        case .register(let topic, let renewing):
            bytes.append(renewing ? 1 : 0)
            bytes.appendCounted(topic.utf8)
        case .unregister(let topic): bytes.appendCounted(topic.utf8)
        case .keepAlive(let keepAlive):
            bytes.appendNumber(keepAlive.next)
            guard keepAlive.condition != nil || !keepAlive.budgets.isEmpty else { return }
            bytes.append(keepAlive.condition == nil ? 0 : 1)
            if let condition = keepAlive.condition { bytes.append(condition) }
            for budget in keepAlive.budgets {
                bytes.appendNumber(budget.app)
                bytes.appendNumber(budget.left)
            }
        case .condition(let condition): bytes.append(condition)
        case .opened(let app): bytes.appendNumber(app)
        case .end(let reason): bytes.append(reason.rawValue)
        case .subscribe(let topic, let key):
            bytes.appendCounted(topic.utf8)
            bytes.appendCounted(key)
        case .follow(let topic, let channel, let last):
            bytes.appendCounted(topic.utf8)
            bytes += channel
            bytes.appendNumber(last)
        case .unfollow(let channel): bytes += channel
        }
    }

    package init(kind: UInt8, fields: ArraySlice<UInt8>) throws(LinkError) {
        guard let kind = Kind(rawValue: kind) else { throw .unknownKind }
        var reader = LinkReader(fields)
        switch kind {
        case .hello: self = .hello(try Self.hello(&reader))
        case .acknowledge:
            var sendings: [UInt64] = []
            repeat {
                guard sendings.count < LinkFormat.mostInList else { throw .tooLong }
                sendings.append(try reader.number())
            } while !reader.isAtEnd
            self = .acknowledge(sendings)
        case .decline: self = .decline(try reader.number())
        case .register:
            let flags = try reader.byte()
            guard flags <= 1 else { throw .notCanonical }
            self = .register(topic: try reader.topic(), renewing: flags == 1)
        case .unregister: self = .unregister(topic: try reader.topic())
        case .keepAlive: self = .keepAlive(try Self.keepAlive(&reader))
        case .condition: self = .condition(try reader.condition())
        case .opened: self = .opened(try reader.number())
        case .end:
            guard let reason = EndReason(rawValue: try reader.byte()) else { throw .badValue }
            self = .end(reason)
        case .subscribe:
            self = .subscribe(topic: try reader.topic(), key: try reader.senderKey())
        case .follow:
            self = .follow(
                topic: try reader.topic(),
                channel: try reader.take(LinkFormat.channelBytes),
                last: try reader.number()
            )
        case .unfollow:
            self = .unfollow(channel: try reader.take(LinkFormat.channelBytes))
        }
        try reader.end()
    }

    private static func hello(_ reader: inout LinkReader) throws(LinkError) -> Hello {
        var hello = Hello(
            version: try reader.byte(),
            key: try reader.take(LinkFormat.keyBytes),
            signature: try reader.take(LinkFormat.signatureBytes),
            next: try reader.number(),
            condition: try reader.condition()
        )
        if reader.isAtEnd { return hello }
        hello.enrolment = try reader.counted(atMost: LinkFormat.longestEnrolment)
        // Nothing to say is said by ending earlier.
        guard !hello.enrolment.isEmpty else { throw .notCanonical }
        return hello
    }

    private static func keepAlive(_ reader: inout LinkReader) throws(LinkError) -> KeepAlive {
        var keepAlive = KeepAlive(next: try reader.number())
        if reader.isAtEnd { return keepAlive }
        let flags = try reader.byte()
        guard flags <= 1 else { throw .notCanonical }
        if flags == 1 { keepAlive.condition = try reader.condition() }
        // Nothing to say is said by ending earlier.
        if flags == 0, reader.isAtEnd { throw .notCanonical }
        while !reader.isAtEnd {
            guard keepAlive.budgets.count < LinkFormat.mostInList else { throw .tooLong }
            keepAlive.budgets.append(Budget(app: try reader.number(), left: try reader.number()))
        }
        return keepAlive
    }
}
