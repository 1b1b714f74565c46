import GatewayCore
import HTTP2
import Vocabulary

/// Web Push (RFC 8030, RFC 8292), over HTTP/2 and over HTTP/1.1. A request is looked at in this
/// order: path, method, fields, who sends, whether the subscription is in force, the body.
extension ProviderServer {
    /// The end of a path that is a subscription's.
    func subscription(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        path.after(Self.pushPath)
    }

    private static let pushPath = Array(GatewayNode.pushPath.utf8)

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
        push(
            request,
            Content(method: fields.method, body: message.body, isCutOff: message.isCutOff),
            text,
            message.stream,
            connection
        )
    }

    func received(_ message: HTTP1Reader.Request, on connection: ProviderConnection) {
        let stream = connection.web?.number ?? 0
        guard let text = subscription(message.path[...]) else {
            return refuse(.noSubscription, stream, connection)
        }
        var request = WebPushRequest()
        for field in message.fields { request.add(field.name, field.value[...]) }
        push(
            request,
            Content(method: message.method[...], body: message.body, isCutOff: message.isCutOff),
            text,
            stream,
            connection
        )
    }

    /// The rest of a request, however it came.
    private struct Content {
        var method: ArraySlice<UInt8>
        var body: [UInt8]
        var isCutOff: Bool
    }

    private func push(
        _ request: WebPushRequest,
        _ content: Content,
        _ text: ArraySlice<UInt8>,
        _ stream: Int32,
        _ connection: ProviderConnection
    ) {
        do throws(WebPushReason) {
            try take(request, content, text, stream, connection)
        } catch {
            refuse(error, stream, connection)
        }
    }

    private func take(
        _ request: WebPushRequest,
        _ content: Content,
        _ text: ArraySlice<UInt8>,
        _ stream: Int32,
        _ connection: ProviderConnection
    ) throws(WebPushReason) {
        guard let address = node.seal.address(text) else { throw .noSubscription }
        guard content.method.elementsEqual("POST".utf8) else { throw .methodNotAllowed }
        let said = try request.fields()
        let sender = try authorize(request, address, connection)
        // An address that is bound to nobody's key shows nothing: any device can make one.
        if address.sender != nil { connection.trust(isProvider: false) }
        guard node.load(address.token.device) else { throw .serviceUnavailable }
        guard node.gateway.refusal(of: address.token) == nil else { throw .gone }
        guard !content.isCutOff, content.body.count <= WebPushRequest.bodyLimit else {
            throw .payloadTooLarge
        }
        guard node.admit(address.token, at: now) else { throw .tooManyRequests }
        let push = Push(
            number: node.takeNumber(at: now),
            device: address.token.device,
            app: address.token.app,
            type: .webpush,
            priority: said.priority,
            expiration: said.expiration(at: now.wall, node.gateway.limits),
            collapseID: said.collapseID,
            // What is encrypted may show something: only its sender knows.
            isSilent: false,
            payload: WebPushRequest.payload(said.encoding, content.body)
        )
        let call = begin(stream, connection, .webPush(ttl: said.granted(node.gateway.limits)))
        node.take(push, Acceptance(apnsID: freshID(), provider: sender), for: call)
    }

    /// Who sends, for the log.
    private func authorize(
        _ request: WebPushRequest,
        _ address: WebPushAddress,
        _ connection: ProviderConnection
    ) throws(WebPushReason) -> String {
        guard let field = request.authorization else {
            if address.sender != nil { throw .missingVapid }
            return "anyone"
        }
        guard !connection.isWrong(field) else { throw .badVapid }
        guard let token = vapid.verify(field) else {
            connection.foundWrong(field)
            throw .badVapid
        }
        if let reason = token.refusal(origin: node.origin, sender: address.sender, at: now.wall) {
            throw reason
        }
        return "vapid " + Base64.urlText(WebPushAddress.compressed(token.key))
    }

    // MARK: Answers

    func refuse(_ reason: WebPushReason, _ stream: Int32, _ connection: ProviderConnection) {
        counters.refusedWebPushes[reason, default: 0] += 1
        respond(connection, stream, WebPushAnswer(reason))
    }

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
        case .refused(.unregistered, _): refuse(.gone, stream, connection)
        case .refused: refuse(.serviceUnavailable, stream, connection)
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
