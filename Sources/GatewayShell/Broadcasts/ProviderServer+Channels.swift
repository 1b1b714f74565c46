import GatewayCore
import HTTP2
import TLS
import Vocabulary

/// A request about channels: what it asks, and where its answer goes.
private struct ChannelCall {
    let message: HTTP2Message
    let fields: RequestFields
    let request: ChannelRequest
    /// `apns-request-id`
    let echo: [UInt8]
    unowned let connection: ProviderConnection

    func has(method: String) -> Bool { fields.method.elementsEqual(method.utf8) }
}

/// Broadcast channels: made, listed and removed by providers, and sent to.
extension ProviderServer {
    func receivedChannel(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ request: ChannelRequest,
        _ connection: ProviderConnection
    ) {
        let call = ChannelCall(
            message: message,
            fields: fields,
            request: request,
            echo: fields.requestID.map(Array.init) ?? freshID().utf8,
            connection: connection
        )
        do throws(Reason) {
            if fields.hasDuplicate { throw .duplicateHeaders }
            switch request.kind {
            case .send: try broadcast(call)
            case .list: try list(call)
            case .manage: try manage(call)
            }
        } catch {
            refuse(call, error)
        }
    }

    // MARK: Management

    private func manage(_ call: ChannelCall) throws(Reason) {
        let given = call.request.channel ?? call.fields.channelID
        if call.has(method: "POST") {
            _ = try authorize(call.fields, call.request.bundle, call.connection)
            try create(call)
        } else if call.has(method: "GET"), given == nil {
            try list(call)
        } else if call.has(method: "GET") {
            let channel = try known(given, call)
            let policy: Int64 = channel.keepsNewest ? 1 : 0
            let report = Value.map([
                "message-storage-policy": .integer(policy), "push-type": "LiveActivity",
            ])
            respond(call, 200, [], report)
        } else if call.has(method: "DELETE") {
            let channel = try known(given, call)
            node.remove(channel.id, completion(of: call, 204))
        } else {
            throw .methodNotAllowed
        }
    }

    private func create(_ call: ChannelCall) throws(Reason) {
        let keepsNewest = try ChannelRequest.keepsNewest(call.message.body)
        guard let bytes = try? Cryptography.randomBytes(ChannelID.byteCount),
            let id = ChannelID(bytes: bytes)
        else { throw .internalServerError }
        node.create(
            id,
            of: call.request.bundle,
            keepsNewest: keepsNewest,
            completion(of: call, 201, [("apns-channel-id", id.text)])
        )
    }

    /// Answers when the change is kept, or cannot be.
    private func completion(
        of call: ChannelCall,
        _ status: Int,
        _ more: [(name: String, value: String)] = []
    ) -> (OperationProblem?) -> Void {
        { [weak self, weak connection = call.connection] problem in
            guard let self, connection != nil else { return }
            switch problem {
            case nil: break
            case .refused(let reason): return refuse(call, reason)
            case .unknown, .notKept: return refuse(call, .serviceUnavailable)
            }
            respond(call, status, more, nil)
        }
    }

    private func list(_ call: ChannelCall) throws(Reason) {
        guard call.has(method: "GET") else { throw .methodNotAllowed }
        _ = try authorize(call.fields, call.request.bundle, call.connection)
        let app = node.driver.apps.number(of: call.request.bundle)
        let channels = app.map { node.driver.gateway.channels(of: $0) } ?? []
        let report = Value.map(["channels": .list(channels.map { .string($0.text) })])
        respond(call, 200, [], report)
    }

    /// The channel that is asked about, if the app is its.
    private func known(
        _ text: ArraySlice<UInt8>?,
        _ call: ChannelCall
    ) throws(Reason) -> Channel {
        defer { if call.connection.sender.isProven { call.connection.trust() } }
        let request = BroadcastArrival(
            call.fields.arrival,
            bundle: call.request.bundle,
            channel: text
        )
        return try node.driver.channel(
            request,
            from: &call.connection.sender,
            ConnectionProofs(call.connection),
            settings.environment,
            now
        ).channel
    }

    // MARK: Sending

    private func broadcast(_ call: ChannelCall) throws(Reason) {
        defer { if call.connection.sender.isProven { call.connection.trust() } }
        let request = BroadcastArrival(
            call.fields.arrival,
            bundle: call.request.bundle,
            channel: call.fields.channelID
        )
        let (broadcast, provider) = try node.admit(
            request,
            from: &call.connection.sender,
            ConnectionProofs(call.connection),
            settings.environment
        )
        let id = begin(call.message.stream, call.connection, .broadcast(echo: call.echo))
        node.feed(.broadcast(broadcast, provider: provider, id))
    }

    // MARK: Answers

    private func refuse(_ call: ChannelCall, _ reason: Reason) {
        count(.refused(reason))
        let kind = Call.Kind.broadcast(echo: call.echo)
        respond(call.connection, call.message.stream, kind, .refused(reason))
    }

    private func respond(
        _ call: ChannelCall,
        _ status: Int,
        _ more: [(name: String, value: String)],
        _ report: Value?
    ) {
        var headers = HeaderBlock()
        headers.append(":status", "\(status)")
        headers.append(unique: "apns-request-id") { $0 += call.echo }
        for field in more { headers.append(field.name, field.value) }
        if report != nil { headers.append("content-type", "application/json") }
        let body = report.map { Array($0.json().utf8) } ?? []
        do throws(HTTP2Error) {
            try call.connection.http?.respond(to: call.message.stream, headers, body: body)
        } catch {
            return call.connection.close()
        }
        touch(call.connection)
    }
}
