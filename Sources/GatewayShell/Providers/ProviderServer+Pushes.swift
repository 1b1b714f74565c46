package import GatewayCore
import HTTP2
import Vocabulary

/// What a request asks for, by its path.
extension ProviderServer {
    func received(_ message: HTTP2Message, on connection: ProviderConnection) {
        let fields = RequestFields(message)
        switch SenderPath(fields.path) {
        case .push(let token): push(message, fields, token, connection)
        case .log(let id): lookUp(message, fields, id, connection)
        case .webPush(let text): receivedWebPush(message, fields, text, connection)
        case .channels(let path): receivedChannel(message, fields, path, connection)
        case .unknown: refuse(message, connection, .badPath)
        }
    }

    /// For a reason that the core has not given.
    private func refuse(
        _ message: HTTP2Message,
        _ connection: ProviderConnection,
        _ reason: Reason
    ) {
        node.use { $0.refused(reason) }
        respond(message, connection, reason)
    }

    private func respond(
        _ message: HTTP2Message,
        _ connection: ProviderConnection,
        _ reason: Reason
    ) {
        let written = message.headers["apns-id"].map(Array.init)
        let kind = Call.Kind.push(freshID(), written: written)
        respond(connection, message.stream, kind, .refused(reason))
    }

    /// A request for whose rest there is no memory.
    func turnAway(_ stream: Int32, of connection: ProviderConnection) {
        door.turnedAway()
        node.use { $0.refused(Reason.serviceUnavailable) }
        let kind = Call.Kind.push(freshID(), written: nil)
        respond(connection, stream, kind, .refused(.serviceUnavailable))
    }

    private func push(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ text: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) {
        do throws(Reason) {
            try take(message, fields, text, connection)
        } catch {
            respond(message, connection, error)
        }
    }

    /// The core looks at it, in the order that senders are promised.
    private func take(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ text: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) throws(Reason) {
        var arrival = fields.arrival
        arrival.token = text
        defer { connection.hasLearned() }
        let (id, now) = (freshID(), now)
        let push = try node.use { (driver) throws(Reason) in
            try driver.admit(
                arrival,
                from: &connection.sender,
                ConnectionProofs(connection),
                environment,
                id: id,
                at: now
            )
        }
        let written = arrival.push.id.map(Array.init)
        let call = begin(message.stream, connection, .push(push.id, written: written))
        node.push(push, for: call)
    }

    /// `apns-id` for a provider that gave none. It is no secret.
    func freshID() -> PushUUID {
        PushUUID(high: random.next() & ~0xF000 | 0x4000, low: random.next() >> 2 | 1 << 63)
    }

    // MARK: The log

    /// `GET /3/log/UNIQUE-ID`: what became of a push, for the provider that sent it.
    private func lookUp(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ text: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) {
        do throws(Reason) {
            defer { connection.hasLearned() }
            let question = try node.use { (driver) throws(Reason) in
                try driver.admit(
                    LogArrival(
                        method: fields.method,
                        authorization: fields.authorization,
                        id: text
                    ),
                    from: &connection.sender,
                    ConnectionProofs(connection),
                    environment,
                    gateway: node.identity,
                    at: now
                )
            }
            let call = begin(message.stream, connection, .log(freshID()))
            node.feed(.lookUp(question, call))
        } catch {
            respond(message, connection, error)
        }
    }

    package func tell(_ call: CallID, _ answer: LogAnswer) {
        guard let waiting = take(call), let connection = connections[waiting.connection] else {
            return
        }
        switch answer {
        case .refused(let reason):
            respond(connection, waiting.stream, waiting.kind, .refused(reason))
        case .told(let row, let topic):
            var headers = HeaderBlock()
            headers.append(":status", "200")
            headers.append("content-type", "application/json")
            let report = LogReport(row, bundle: topic, gateway: node.identity).value
            submit(headers, Array(report.json().utf8), to: waiting.stream, of: connection)
        }
    }
}
