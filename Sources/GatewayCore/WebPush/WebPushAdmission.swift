package import Vocabulary

/// A request of Web Push as its sender sent it.
package struct WebPushArrival: Sendable {
    package var method: ArraySlice<UInt8>
    package var request: WebPushRequest
    package var body: [UInt8]
    /// The body was longer than is ever taken.
    package var isCutOff: Bool

    package init(
        method: ArraySlice<UInt8>,
        request: WebPushRequest,
        body: [UInt8],
        isCutOff: Bool
    ) {
        (self.method, self.request) = (method, request)
        (self.body, self.isCutOff) = (body, isCutOff)
    }
}

extension WebPushReason {
    /// What the device, or the payload, says to a push.
    package init(_ reason: Reason) {
        self =
            if reason == .unregistered || reason == .badDeviceToken {
                .gone
            } else if reason == .payloadTooLarge {
                .payloadTooLarge
            } else if reason == .tooManyRequests {
                .tooManyRequests
            } else {
                .serviceUnavailable
            }
    }
}

/// In which order a Web Push is looked at: path, method, fields, who sends, then what its device
/// says to it, the body, the rate.
extension GatewayDriver {
    /// `text`: the end of its path. `origin`: for whom tokens of senders must be made. `id`: for
    /// the log.
    package mutating func admit(
        _ arrival: WebPushArrival,
        to text: ArraySlice<UInt8>,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        origin: String,
        id: PushUUID,
        at now: Moment
    ) throws(WebPushReason) -> AdmittedPush {
        sender.begin()
        do throws(WebPushReason) {
            guard let address = proofs.address(text) else { throw .noSubscription }
            guard arrival.method.elementsEqual("POST".utf8) else { throw .methodNotAllowed }
            let said = try arrival.request.fields()
            let provider = try Self.name(
                of: &sender,
                arrival.request,
                address,
                proofs,
                origin,
                at: now
            )
            // Only who has the address from its device can say it.
            sender.authorize(as: .webPush)
            return AdmittedPush(
                address.token,
                id,
                AuthorizedSender(name: provider, quota: nil),
                .webPush(said),
                arrival.body,
                isCutOff: arrival.isCutOff
            )
        } catch {
            senders.refused(error)
            throw error
        }
    }

    /// Who sends, for the log.
    private static func name(
        of sender: inout PushSender,
        _ request: WebPushRequest,
        _ address: WebPushAddress,
        _ proofs: some Proofs,
        _ origin: String,
        at now: Moment
    ) throws(WebPushReason) -> String {
        guard let field = request.authorization else {
            if address.sender != nil { throw .missingVapid }
            return "anyone"
        }
        guard let token = sender.vapid(field, proofs) else { throw .badVapid }
        if let refusal = token.refusal(origin: origin, sender: address.sender, at: now.wall) {
            throw refusal
        }
        return "vapid " + Base64.urlText(WebPushAddress.compressed(token.key))
    }
}
