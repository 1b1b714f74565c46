package import Vocabulary

/// A request for a push as a provider sent it.
package struct PushArrival: Sendable {
    package var method: ArraySlice<UInt8> = []
    /// A field that may come once came twice.
    package var hasDuplicate = false
    package var authorization: ArraySlice<UInt8>?
    /// The end of its path.
    package var token: ArraySlice<UInt8> = []
    package var push = PushRequest()

    package init() {}

    func has(method: StaticString) -> Bool {
        guard self.method.count == method.utf8CodeUnitCount else { return false }
        return method.withUTF8Buffer { unsafe self.method.elementsEqual($0) }
    }
}

/// A token of a provider, signed by one of the keys.
package struct SignedProvider: Sendable {
    /// As it came, without what stands in front of it.
    package let text: ArraySlice<UInt8>
    package let issuedAt: Int64
    package let key: ProviderKey

    package init(text: ArraySlice<UInt8>, issuedAt: Int64, key: ProviderKey) {
        (self.text, self.issuedAt, self.key) = (text, issuedAt, key)
    }
}

/// What only cryptography tells about the requests of one connection.
package protocol Proofs {
    /// Which keys there are: what was found of a token holds as long as this is the same.
    var generation: Int { get }
    /// The token of a field that was found right before, which costs nothing.
    func known(_ field: ArraySlice<UInt8>) -> SignedProvider?
    /// The token in an `authorization` field; nil if none of the keys signed it.
    func provider(_ field: ArraySlice<UInt8>) -> SignedProvider?
    /// The device token in a path; nil if we did not seal it.
    func device(_ text: ArraySlice<UInt8>) -> DeviceToken?
    /// The address of Web Push in a path; nil if we did not seal it.
    func address(_ text: ArraySlice<UInt8>) -> WebPushAddress?
    /// What the field of a sender of Web Push says; nil if its own key did not sign it.
    func vapid(_ field: ArraySlice<UInt8>) -> VapidToken?
}

/// What one connection of a sender has shown of itself.
package struct PushSender: Sendable {
    var session = ProviderSession()
    package private(set) var certificate: ProviderCertificate?
    /// It showed a certificate that cannot be used.
    private var hasBadCertificate = false
    /// Who its last request showed itself to be from; nil: nobody who may send.
    package private(set) var authorized: Authorized?
    /// It has shown who sends: it is served before those that have not, and may be silent for
    /// longer.
    package private(set) var isTrusted = false
    /// Of the key that signed the token of the last request, whether it was taken or not.
    private(set) var keyID: String?
    /// Where the requests of a key are counted.
    private var counted: (keyID: String, place: SenderCounters.KeyPlace)?
    private var wrong = WrongTokens()

    package enum Authorized: Equatable, Sendable {
        /// Known to the operator, by a key or a certificate: it need not make room for others.
        case provider
        /// Whoever has an address for Web Push from its device, and the key that it is for.
        case webPush
    }

    package init() {}

    /// It showed so many wrong tokens that it must come again, over another connection.
    package var mustGo: Bool { wrong.areTooMany }

    /// To be called first for each request.
    mutating func begin() { (authorized, keyID) = (nil, nil) }

    /// Its last request is from somebody who may send.
    mutating func authorize(as who: Authorized) { (authorized, isTrusted) = (who, true) }

    /// Where its last request is counted, if one of the keys signed it.
    mutating func place(in counters: inout SenderCounters) -> SenderCounters.KeyPlace? {
        guard let keyID else { return nil }
        if let counted, counted.keyID == keyID { return counted.place }
        let place = counters.place(of: keyID)
        counted = (keyID, place)
        return place
    }

    private mutating func signed(
        _ field: ArraySlice<UInt8>,
        _ proofs: some Proofs
    ) -> SignedProvider? {
        proofs.known(field) ?? check(field, proofs) { proofs.provider($0) }
    }

    /// What the field of a sender of Web Push says, if its own key signed it.
    mutating func vapid(_ field: ArraySlice<UInt8>, _ proofs: some Proofs) -> VapidToken? {
        check(field, proofs) { proofs.vapid($0) }
    }

    private mutating func check<Token>(
        _ field: ArraySlice<UInt8>,
        _ proofs: some Proofs,
        _ verify: (ArraySlice<UInt8>) -> Token?
    ) -> Token? {
        guard !wrong.contains(field, proofs.generation) else { return nil }
        if let token = verify(field) { return token }
        wrong.add(field, proofs.generation)
        return nil
    }

    /// It showed a certificate while TLS was set up; nil: one that cannot be used.
    package mutating func show(_ certificate: ProviderCertificate?, revoked: Set<String>) {
        (self.certificate, hasBadCertificate) = (certificate, certificate == nil)
        if certificate != nil, !revoke(revoked) { authorize(as: .provider) }
    }

    /// Stops accepting its certificate if it is one of these: its requests are then refused with
    /// `BadCertificate`, and it is a stranger again. Whether it is one.
    package mutating func revoke(_ fingerprints: Set<String>) -> Bool {
        guard let certificate, fingerprints.contains(certificate.fingerprint) else { return false }
        (self.certificate, hasBadCertificate) = (nil, true)
        (authorized, isTrusted) = (nil, false)
        return true
    }

    /// Who sends, and whether pushes of this type to this app, if one is named.
    mutating func authorize(
        _ field: ArraySlice<UInt8>?,
        _ bundle: String?,
        type: PushType? = nil,
        _ proofs: some Proofs,
        _ environment: PushEnvironment,
        _ limits: GatewayLimits,
        at now: Moment
    ) throws(Reason) -> AuthorizedSender {
        if let certificate {
            let refusal = ProviderSession.refusal(
                of: certificate,
                bundle: bundle,
                type: type,
                environment: environment
            )
            if let refusal { throw refusal }
            authorize(as: .provider)
            return AuthorizedSender(name: certificate.fingerprint, quota: nil)
        }
        guard let field else {
            throw hasBadCertificate ? .badCertificate : .missingProviderToken
        }
        guard let token = signed(field, proofs) else { throw .invalidProviderToken }
        keyID = token.key.id
        // By certificate only.
        if type == .mdm { throw .topicDisallowed }
        let refusal = session.use(
            token.text,
            issuedAt: token.issuedAt,
            key: token.key,
            bundle: bundle,
            environment: environment,
            limits,
            at: now
        )
        if let refusal { throw refusal }
        authorize(as: .provider)
        return AuthorizedSender(name: token.key.id, quota: token.key.quota)
    }
}

/// Somebody who may send.
package struct AuthorizedSender: Sendable {
    /// For the log.
    package let name: String
    let quota: KeyQuota?
}

/// A push whose sender may send it, to an address that we made. Whether it is taken depends on the
/// device. Never changes, hence shared freely.
package final class AdmittedPush: Sendable {
    package let token: DeviceToken
    /// `apns-id`
    package let id: PushUUID
    package let provider: AuthorizedSender
    let content: Content
    /// As it came.
    let payload: [UInt8]
    /// It was longer than is ever taken.
    let isCutOff: Bool
    /// Where its answer is counted.
    let key: SenderCounters.KeyPlace?

    enum Content: Sendable {
        case push(PushRequest.Fields)
        case webPush(WebPushRequest.Fields)
    }

    init(
        _ token: DeviceToken,
        _ id: PushUUID,
        _ provider: AuthorizedSender,
        _ content: Content,
        _ payload: [UInt8],
        isCutOff: Bool,
        key: SenderCounters.KeyPlace? = nil
    ) {
        self.key = key
        (self.token, self.id, self.provider) = (token, id, provider)
        (self.content, self.payload, self.isCutOff) = (content, payload, isCutOff)
    }

    var isWebPush: Bool { if case .webPush = content { true } else { false } }

    /// For how many seconds a Web Push is kept at most.
    package func granted(_ limits: GatewayLimits) -> Int64 {
        if case .webPush(let said) = content { said.granted(limits) } else { 0 }
    }

    /// From somebody who may send it.
    package convenience init(
        _ request: PushRequest,
        to token: DeviceToken,
        id: PushUUID,
        provider: String
    ) throws(Reason) {
        let content = Content.push(try request.fields())
        let sender = AuthorizedSender(name: provider, quota: nil)
        self.init(token, id, sender, content, request.payload, isCutOff: request.isCutOff)
    }
}

/// In which order a push is looked at: method, fields, who sends, to whom, then what its device
/// says to it, the payload, the rate. So a token tells nothing to those who may not send to it.
extension GatewayDriver {
    /// `id`: for a sender that gives none. Whoever is refused need only be told.
    package mutating func admit(
        _ arrival: PushArrival,
        from sender: inout PushSender,
        _ proofs: some Proofs,
        _ environment: PushEnvironment,
        id: PushUUID,
        at now: Moment
    ) throws(Reason) -> AdmittedPush {
        sender.begin()
        do throws(Reason) {
            let said = try Self.fields(of: arrival, sender)
            let provider = try sender.authorize(
                arrival.authorization,
                said.bundle,
                type: said.type,
                proofs,
                environment,
                gateway.limits,
                at: now
            )
            return AdmittedPush(
                try token(of: arrival, said.bundle, proofs),
                said.id ?? id,
                provider,
                .push(said),
                arrival.push.payload,
                isCutOff: arrival.push.isCutOff,
                key: sender.place(in: &senders)
            )
        } catch {
            senders.refusedPush(error, key: sender.place(in: &senders))
            throw error
        }
    }

    private static func fields(
        of arrival: PushArrival,
        _ sender: PushSender
    ) throws(Reason) -> PushRequest.Fields {
        guard arrival.has(method: "POST") else { throw .methodNotAllowed }
        if arrival.hasDuplicate { throw .duplicateHeaders }
        var said = try arrival.push.fields()
        if let certificate = sender.certificate { try said.assumeTopic(of: certificate) }
        return said
    }

    /// To whom it is, for somebody who may send to the app.
    private func token(
        of arrival: PushArrival,
        _ bundle: String?,
        _ proofs: some Proofs
    ) throws(Reason) -> DeviceToken {
        guard let bundle else { throw .missingTopic }
        guard !arrival.token.isEmpty else { throw .missingDeviceToken }
        guard let token = proofs.device(arrival.token) else { throw .badDeviceToken }
        // Nothing more is told of a token that is for another app.
        guard let app = apps.number(of: bundle), token.app == app else {
            throw leavingApps[token.app] == bundle ? .serviceUnavailable : .deviceTokenNotForTopic
        }
        return token
    }

    /// Somebody was refused for a reason of the shell's own: an unknown path, no memory.
    package mutating func refused(_ reason: Reason) { senders.refused(reason) }

    /// The same for a sender of Web Push.
    package mutating func refused(_ reason: WebPushReason) { senders.refused(reason) }

    /// A push was accepted, so long after its request had come.
    package mutating func accepted(after time: Interval) { senders.accepted(after: time) }

    /// The rest, once the device is in memory.
    mutating func take(
        _ admitted: AdmittedPush,
        for call: CallID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        if let refusal = gateway.refusal(of: admitted.token) {
            return answer(call, refusal, into: &actions)
        }
        do throws(Reason) {
            let (push, isAssumed) = try makePush(of: admitted, at: now)
            let acceptance = Acceptance(
                apnsID: admitted.id,
                provider: admitted.provider.name,
                isAssumedBackground: isAssumed
            )
            tell(at: now, into: &actions) {
                $0.take(push, acceptance, for: call, at: $1, into: &$2)
            }
        } catch {
            answer(call, .refused(error), into: &actions)
        }
    }

    /// The push, and whether it was taken for one that only wakes.
    private mutating func makePush(
        of admitted: AdmittedPush,
        at now: Moment
    ) throws(Reason) -> (Push, isAssumedBackground: Bool) {
        let token = admitted.token
        switch admitted.content {
        case .push(let said):
            let nature = try PushRequest.nature(
                of: said,
                admitted.payload,
                isCutOff: admitted.isCutOff
            )
            let push = Push(
                number: try takeNumber(for: admitted, at: now),
                device: token.device,
                app: token.app,
                type: nature.type,
                priority: nature.priority,
                expiration: said.expiration ?? .until(now.wall + gateway.limits.storage),
                collapseID: said.collapseID,
                isSilent: nature.isSilent,
                payload: admitted.payload
            )
            return (push, nature.isAssumedBackground)
        case .webPush(let said):
            guard !admitted.isCutOff, admitted.payload.count <= WebPushRequest.bodyLimit else {
                throw .payloadTooLarge
            }
            let push = Push(
                number: try takeNumber(for: admitted, at: now),
                device: token.device,
                app: token.app,
                type: .webpush,
                priority: said.priority,
                expiration: said.expiration(at: now.wall, gateway.limits),
                collapseID: said.collapseID,
                // What is encrypted may show something: only its sender knows.
                isSilent: false,
                payload: WebPushRequest.payload(said.encoding, admitted.payload)
            )
            return (push, false)
        }
    }

    /// Of the next push, if the rate of its token and the quota of its key allow one.
    private mutating func takeNumber(
        for admitted: AdmittedPush,
        at now: Moment
    ) throws(Reason) -> PushNumber {
        let sender = admitted.provider
        guard !quotas.isSpent(sender.quota, of: sender.name, at: now.boot),
            gateway.admit(admitted.token, at: now)
        else { throw .tooManyRequests }
        quotas.spend(sender.quota, of: sender.name, at: now.boot)
        return gateway.takeNumber(at: now)
    }
}
