import GatewayCore
import HTTP2
import TLS
import Vocabulary

/// A request about channels: where its answer goes.
private struct ChannelCall {
    let stream: Int32
    /// `apns-request-id`
    let echo: [UInt8]
    unowned let connection: ProviderConnection
}

/// Broadcast channels: made, listed and removed by providers, and sent to. The core decides what a
/// request is for, and whether it may be made.
extension ProviderServer {
    func receivedChannel(
        _ message: HTTP2Message,
        _ fields: RequestFields,
        _ path: ChannelPath,
        _ connection: ProviderConnection
    ) {
        let call = ChannelCall(
            stream: message.stream,
            echo: fields.requestID.map(Array.init) ?? freshID().utf8,
            connection: connection
        )
        do throws(Reason) {
            defer { connection.hasLearned() }
            let verdict = try node.use { (driver) throws(Reason) in
                try driver.admit(
                    ChannelArrival(path, fields.arrival, field: fields.channelID),
                    from: &connection.sender,
                    ConnectionProofs(connection),
                    environment,
                    at: now
                )
            }
            perform(verdict, call)
        } catch {
            answer(call, error)
        }
    }

    private func perform(_ verdict: ChannelVerdict, _ call: ChannelCall) {
        switch verdict {
        case .send(let broadcast, let provider):
            let id = begin(call.stream, call.connection, .broadcast(echo: call.echo))
            node.feed(.broadcast(broadcast, provider: provider, id))
        case .create(let bundle, let keepsNewest):
            guard let bytes = try? Cryptography.randomBytes(ChannelID.byteCount),
                let id = ChannelID(bytes: bytes)
            else { return refuse(call, .serviceUnavailable) }
            let completion = completion(of: call, 201, [("apns-channel-id", id.text)])
            node.create(id, of: bundle, keepsNewest: keepsNewest, completion)
        case .remove(let id): node.remove(id, completion(of: call, 204))
        case .describe(let channel):
            let report = Value.map([
                "message-storage-policy": .integer(channel.keepsNewest ? 1 : 0),
                "push-type": "LiveActivity",
            ])
            respond(call, 200, [], report)
        case .list(let channels):
            respond(call, 200, [], .map(["channels": .list(channels.map { .string($0.text) })]))
        }
    }

    /// Answers when the change is kept, or cannot be.
    private func completion(
        of call: ChannelCall,
        _ status: Int,
        _ more: [(name: String, value: String)] = []
    ) -> (OperationProblem?) -> Void {
        { [weak self, weak connection = call.connection] problem in
            guard let self, connection != nil else { return }
            // The core has counted it.
            if let problem { return answer(call, problem.reason) }
            respond(call, status, more, nil)
        }
    }

    // MARK: Answers

    /// For a reason that the core has not given.
    private func refuse(_ call: ChannelCall, _ reason: Reason) {
        node.use { $0.refused(reason) }
        answer(call, reason)
    }

    private func answer(_ call: ChannelCall, _ reason: Reason) {
        let kind = Call.Kind.broadcast(echo: call.echo)
        respond(call.connection, call.stream, kind, .refused(reason))
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
        submit(headers, body, to: call.stream, of: call.connection)
    }
}
