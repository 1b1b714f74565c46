import GatewayCore
import HTTP2
import Vocabulary

/// What a request asks for, and the order in which it is looked at: path and method, the fields,
/// who sends, to whom, the payload. So a token tells nothing to those who may not send to it.
extension ProviderServer {
    func received(_ message: HTTP2Message, on connection: ProviderConnection) {
        let fields = RequestFields(message.headers)
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
            refuse(message, connection, error)
        }
    }

    private func take(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ text: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) throws(Reason) {
        guard fields.method.elementsEqual("POST".utf8) else { throw .methodNotAllowed }
        if fields.hasDuplicate { throw .duplicateHeaders }
        var request = fields.push
        request.payload = message.body
        request.isCutOff = message.isCutOff
        var said = try request.fields()
        if let certificate = connection.certificate { try said.assumeTopic(of: certificate) }
        let provider = try authorize(fields, said.bundle, connection, type: said.type)
        guard let bundle = said.bundle else { throw .missingTopic }
        guard !text.isEmpty else { throw .missingDeviceToken }
        guard let token = node.seal.token(text) else { throw .badDeviceToken }
        // Nothing more is told of a token that is for another app.
        guard let app = node.apps.number(of: bundle), token.app == app else {
            throw .deviceTokenNotForTopic
        }
        guard node.load(token.device) else { throw .serviceUnavailable }
        if let refusal = node.look({ $0.refusal(of: token) }) {
            count(refusal)
            let kind = Call.Kind.push(freshID(), written: fields.push.id.map(Array.init))
            return respond(connection, message.stream, kind, refusal)
        }
        let nature = try request.nature(of: said)
        guard node.admit(token, at: now) else { throw .tooManyRequests }
        let id = said.id ?? freshID()
        let number = node.takeNumber(at: now)
        let expiration = said.expiration ?? .until(now.wall + node.gateway.limits.storage)
        let push = Push(
            number: number,
            device: token.device,
            app: app,
            type: nature.type,
            priority: nature.priority,
            expiration: expiration,
            collapseID: said.collapseID,
            isSilent: nature.isSilent,
            payload: message.body
        )
        let acceptance = Acceptance(
            apnsID: id,
            provider: provider,
            isAssumedBackground: nature.isAssumedBackground
        )
        let call = begin(
            message.stream,
            connection,
            .push(id, written: fields.push.id.map(Array.init))
        )
        node.take(push, acceptance, for: call)
    }

    /// Who sends, and whether pushes of this type to this app, if one is named; the provider's name
    /// for the log.
    func authorize(
        _ fields: RequestFields,
        _ bundle: String?,
        _ connection: ProviderConnection,
        type: PushType? = nil
    ) throws(Reason) -> String {
        if let certificate = connection.certificate {
            if let reason = ProviderSession.refusal(
                of: certificate,
                bundle: bundle,
                type: type,
                environment: settings.environment
            ) {
                throw reason
            }
            return certificate.fingerprint
        }
        guard let field = fields.authorization else {
            throw connection.hasBadCertificate ? .badCertificate : .missingProviderToken
        }
        guard let token = token(field, connection) else { throw .invalidProviderToken }
        // By certificate only.
        if type == .mdm { throw .topicDisallowed }
        if let reason = connection.session.use(
            token.text[...],
            issuedAt: token.issuedAt,
            key: token.key,
            bundle: bundle,
            environment: settings.environment,
            node.gateway.limits,
            at: now
        ) {
            throw reason
        }
        connection.trust()
        return token.key.id
    }

    /// The token in an `authorization` field; nil if none of the keys signed it.
    private func token(
        _ field: ArraySlice<UInt8>,
        _ connection: ProviderConnection
    ) -> KnownToken? {
        // Nearly always the same as before.
        if let last = connection.lastToken, last.generation == authority.generation,
            last.field[...].isSame(as: field)
        {
            return last
        }
        guard !connection.isWrong(field) else { return nil }
        guard let said = ProviderToken.bearer(field), let verified = authority.verify(said),
            let key = authority.key(verified.keyID)
        else {
            connection.foundWrong(field)
            return nil
        }
        let token = KnownToken(
            field: Array(field),
            text: Array(said),
            issuedAt: verified.issuedAt,
            key: key,
            generation: authority.generation
        )
        connection.lastToken = token
        return token
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
            let provider = try authorize(fields, nil, connection)
            guard let number = PushUUID(text)?.number(gateway: node.identity) else {
                throw .badMessageID
            }
            let row: LogRow?
            do throws(StorageError) {
                row = try node.log(of: number)
            } catch {
                throw .serviceUnavailable
            }
            guard let row, let bundle = node.apps.bundle(of: row.head.app) else {
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
