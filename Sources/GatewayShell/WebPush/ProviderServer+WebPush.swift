import GatewayCore
import HTTP2
import Vocabulary

/// Web Push (RFC 8030, RFC 8292), over HTTP/2 and over HTTP/1.1.
extension ProviderServer {
    func receivedWebPush(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ text: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) {
        var request = WebPushRequest()
        for index in 0..<message.headers.count {
            request.add(message.headers.name(at: index), message.headers.value(at: index))
        }
        let arrival = WebPushArrival(
            method: fields.method,
            request: request,
            body: message.body,
            isCutOff: message.isCutOff
        )
        push(arrival, text, message.stream, connection)
    }

    func received(_ message: HTTP1Reader.Request, on connection: ProviderConnection) {
        let stream = connection.web?.number ?? 0
        let text: ArraySlice<UInt8>
        switch SenderPath(message.path[...]) {
        case .webPush(let address): text = address
        // APNs has no HTTP/1.1.
        case .push, .log, .channels: return refuse(.versionNotSupported, stream, connection)
        case .unknown: return refuse(.noSubscription, stream, connection)
        }
        var request = WebPushRequest()
        for field in message.fields { request.add(field.name, field.value[...]) }
        let arrival = WebPushArrival(
            method: message.method[...],
            request: request,
            body: message.body,
            isCutOff: message.isCutOff
        )
        push(arrival, text, stream, connection)
    }

    private func refuse(
        _ reason: WebPushReason,
        _ stream: Int32,
        _ connection: ProviderConnection
    ) {
        refused(reason)
        respond(connection, stream, WebPushAnswer(reason))
    }

    /// What came over HTTP/1.1 was no request.
    func refused(_ reason: WebPushReason) { node.use { $0.refused(reason) } }

    private func push(
        _ arrival: WebPushArrival,
        _ text: ArraySlice<UInt8>,
        _ stream: Int32,
        _ connection: ProviderConnection
    ) {
        do throws(WebPushReason) {
            defer { connection.hasLearned() }
            let (id, now) = (freshID(), now)
            let push = try node.use { (driver) throws(WebPushReason) in
                try driver.admit(
                    arrival,
                    to: text,
                    from: &connection.sender,
                    ConnectionProofs(connection),
                    origin: node.origin,
                    id: id,
                    at: now
                )
            }
            let ttl = push.granted(node.driver.gateway.limits)
            node.push(push, for: begin(stream, connection, .webPush(ttl: ttl)))
        } catch {
            respond(connection, stream, WebPushAnswer(error))
        }
    }

    // MARK: Answers

    /// What became of a push that was taken.
    func answer(
        _ connection: ProviderConnection,
        _ stream: Int32,
        _ answer: Answer,
        ttl: Int64
    ) {
        switch answer {
        case .accepted(let number):
            let id = PushUUID(number: number, gateway: node.identity)
            let location = "\(node.origin)/message/\(id)"
            respond(connection, stream, WebPushAnswer(location: location, ttl: ttl))
        case .refused(let reason, _):
            respond(connection, stream, WebPushAnswer(WebPushReason(reason)))
        }
    }

    private func respond(
        _ connection: ProviderConnection,
        _ stream: Int32,
        _ answer: WebPushAnswer
    ) {
        if let web = connection.web {
            guard web.isAnswering, web.number == stream else { return }
            web.respond(answer)
        } else {
            var headers = HeaderBlock()
            headers.append(":status", "\(answer.status)")
            for field in answer.fields { headers.append(field.name, field.value) }
            do throws(HTTP2Error) {
                try connection.http?.respond(to: stream, headers, body: answer.body)
            } catch {
                return connection.close()
            }
        }
        touch(connection)
    }
}
