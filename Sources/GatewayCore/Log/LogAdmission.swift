package import Vocabulary

/// A provider's question what became of a push: `GET /3/log/UNIQUE-ID`.
package struct LogArrival: Sendable {
    package let method: ArraySlice<UInt8>
    package let authorization: ArraySlice<UInt8>?
    /// The end of its path.
    package let id: ArraySlice<UInt8>

    package init(
        method: ArraySlice<UInt8>,
        authorization: ArraySlice<UInt8>?,
        id: ArraySlice<UInt8>
    ) {
        (self.method, self.authorization, self.id) = (method, authorization, id)
    }
}

/// A question that may be asked: `GatewayEvent.lookUp`.
package struct LogQuestion: Equatable, Sendable {
    package let push: PushNumber
    let provider: String
}

/// In which order the question is looked at: method, who asks, whether the push is one of this
/// gateway, then what its log has. Who may not ask does not learn what there is.
extension GatewayDriver {
    package mutating func admit(
        _ request: LogArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ environment: PushEnvironment,
        gateway identity: UInt64,
        at now: Moment
    ) throws(Reason) -> LogQuestion {
        sender.begin()
        do throws(Reason) {
            guard request.method.elementsEqual("GET".utf8) else { throw .methodNotAllowed }
            let provider = try sender.authorize(
                request.authorization,
                nil,
                proofs,
                environment,
                gateway.limits,
                at: now
            )
            guard let push = PushUUID(request.id)?.number(gateway: identity) else {
                throw .badMessageID
            }
            return LogQuestion(push: push, provider: provider.name)
        } catch {
            senders.refused(error)
            throw error
        }
    }
}
