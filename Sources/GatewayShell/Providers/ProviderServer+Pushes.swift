import GatewayCore
import HTTP2
import Vocabulary

/// What a request asks for, by its path.
extension ProviderServer {
    func received(_ message: HTTP2Message, on connection: ProviderConnection) {
        let fields = RequestFields(message)
        if let token = fields.path.after(Self.devicePath) {
            push(message, fields, token, connection)
        } else if let id = fields.path.after(Self.logPath) {
            tell(message, fields, id, connection)
        } else if let text = subscription(fields.path) {
            receivedWebPush(message, fields, text, connection)
        } else if let request = ChannelRequest(fields.path) {
            receivedChannel(message, fields, request, connection)
        } else {
            refuse(message, connection, .badPath)
        }
    }

    private static let devicePath = Array("/3/device/".utf8)
    private static let logPath = Array("/3/log/".utf8)

    func refuse(_ message: HTTP2Message, _ connection: ProviderConnection, _ reason: Reason) {
        let written = message.headers["apns-id"].map(Array.init)
        let answer = Answer.refused(reason)
        count(answer)
        respond(connection, message.stream, .push(freshID(), written: written), answer)
    }

    /// A request for whose rest there is no memory.
    func turnAway(_ stream: Int32, of connection: ProviderConnection) {
        counters.turnedAway += 1
        let answer = Answer.refused(.serviceUnavailable)
        count(answer)
        respond(connection, stream, .push(freshID(), written: nil), answer)
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
            connection.keyCounters?.refused += 1
            refuse(message, connection, error)
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
        defer { if connection.sender.isProven { connection.trust() } }
        let push = try node.admit(
            arrival,
            from: &connection.sender,
            ConnectionProofs(connection),
            settings.environment,
            id: freshID()
        )
        let written = arrival.push.id.map(Array.init)
        let call = begin(message.stream, connection, .push(push.id, written: written))
        node.push(push, for: call)
    }

    /// Who sends, and whether it may do so for an app, if one is named.
    func authorize(
        _ fields: RequestFields,
        _ bundle: String?,
        _ connection: ProviderConnection
    ) throws(Reason) -> AuthorizedSender {
        defer { if connection.sender.isProven { connection.trust() } }
        return try connection.sender.authorize(
            fields.authorization,
            bundle,
            ConnectionProofs(connection),
            settings.environment,
            node.driver.gateway.limits,
            at: now
        )
    }

    /// `apns-id` for a provider that gave none. It is no secret.
    func freshID() -> PushUUID {
        PushUUID(high: random.next() & ~0xF000 | 0x4000, low: random.next() >> 2 | 1 << 63)
    }

    // MARK: The log

    /// `GET /3/log/UNIQUE-ID`: what became of a push, for the provider that sent it.
    private func tell(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ text: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) {
        do throws(Reason) {
            guard fields.method.elementsEqual("GET".utf8) else { throw .methodNotAllowed }
            // Before all else: who may not ask does not learn what there is.
            let provider = try authorize(fields, nil, connection).name
            guard let number = PushUUID(text)?.number(gateway: node.identity) else {
                throw .badMessageID
            }
            let row: LogRow?
            do throws(StorageError) {
                row = try node.log(of: number)
            } catch {
                throw .serviceUnavailable
            }
            guard let row, let bundle = node.driver.apps.bundle(of: row.head.app) else {
                throw .badMessageID
            }
            // Whose push it was not learns not even that there was one.
            guard provider == row.head.provider else { throw .badMessageID }
            let report = LogReport(row, bundle: bundle, gateway: node.identity).value
            var headers = HeaderBlock()
            headers.append(":status", "200")
            headers.append("content-type", "application/json")
            try? connection.http?.respond(
                to: message.stream,
                headers,
                body: Array(report.json().utf8)
            )
            touch(connection)
        } catch {
            refuse(message, connection, error)
        }
    }
}

extension ArraySlice where Element == UInt8 {
    /// What follows `prefix`; nil if something else begins it.
    func after(_ prefix: [UInt8]) -> Self? {
        guard count >= prefix.count else { return nil }
        for index in prefix.indices where self[startIndex + index] != prefix[index] { return nil }
        return self[(startIndex + prefix.count)...]
    }
}
