import GatewayCore
import Vocabulary

/// What providers and senders of Web Push send.
extension GatewayWorld {
    mutating func push(to index: Int) {
        guard let token = devices[index].tokens[apps[pick(3)]] else { return }
        let isSilent = random.below(3) == 0
        lastNumber += 1
        var request = PushRequest()
        let app = store.bundle(of: token.app)
        request.topic = Array(app.utf8)[...]
        request.pushType = Array((isSilent ? "background" : "alert").utf8)[...]
        var expiration: WallTime?
        let isOnce = random.below(5) == 0
        if isOnce {
            request.expiration = Array("0".utf8)[...]
        } else if random.below(5) == 0 {
            let second = now.wall.nanoseconds / 1_000_000_000 + Int64(random.below(600))
            expiration = WallTime(nanoseconds: second * 1_000_000_000)
            request.expiration = Array("\(second)".utf8)[...]
        }
        if random.below(8) == 0 {
            request.priority = Array("1".utf8)[...]
        } else if isSilent {
            request.priority = Array("5".utf8)[...]
        }
        if random.below(2) == 0 { request.collapseID = [UInt8(random.below(2))] }
        request.payload = Array(
            (isSilent
                ? "{\"aps\":{\"content-available\":1},\"n\":\(lastNumber)}"
                : "{\"aps\":{\"alert\":\"x\"},\"n\":\(lastNumber)}").utf8
        )
        if random.below(40) == 0 { return misspeak(request) }
        var sent = Sent(
            device: index,
            token: token,
            isOnce: isOnce,
            expiration: end(of: expiration, isOnce),
            collapse: Array(request.collapseID ?? [])
        )
        sent.isByCertificate = random.below(8) == 0
        send(request, sent)
    }

    mutating func webPush(to index: Int) {
        guard let token = devices[index].tokens[apps[pick(3)]] else { return }
        webPush(to: token, of: index, isEnded: false)
    }

    private mutating func webPush(to token: DeviceToken, of index: Int, isEnded: Bool) {
        guard isConnected(.webPush) else { return }
        defer { learn(.webPush) }
        lastNumber += 1
        let isOnce = random.below(5) == 0
        let seconds = isOnce ? 0 : 1 + Int64(random.below(random.below(2) == 0 ? 600 : 100_000))
        var fields = [("ttl", "\(seconds)")]
        if random.below(2) == 0 { fields.append(("topic", "topic\(random.below(2))")) }
        if random.below(4) == 0 { fields.append(("urgency", "very-low")) }
        var request = WebPushRequest()
        for (name, value) in fields { request.add(Array(name.utf8), Array(value.utf8)[...]) }
        count("web pushes")
        let body = Array("{\"n\":\(lastNumber)}".utf8)
        let arrival = WebPushArrival(
            method: Array("POST".utf8)[...],
            request: request,
            body: body,
            isCutOff: false
        )
        var sent = Sent(
            device: index,
            token: token,
            isOnce: isOnce,
            expiration: end(of: now.wall + .seconds(seconds), isOnce),
            collapse: fields.first { $0.0 == "topic" }.map { Array($0.1.utf8) } ?? [],
            isWebPush: true
        )
        sent.isToEnded = isEnded
        do throws(WebPushReason) {
            let admitted = try driver.admit(
                arrival,
                to: token.bytes[...],
                from: &senders[2].sender,
                OpenProofs(second: 0),
                origin: "",
                id: PushUUID(high: 0, low: lastNumber),
                at: told
            )
            feed(admitted, sent)
        } catch {
            figures.refused(error)
            if mayLeave(token.app), error == .serviceUnavailable { return }
            report(.refusedAtOnce, "\(lastNumber) was refused at once: \(error)")
        }
    }

    /// To a token of which its device or the operator was told that it is no more.
    mutating func pushToEnded(isWebPush: Bool) {
        guard !endedList.isEmpty else { return }
        let (device, token) = endedList[pick(endedList.count)]
        if isWebPush {
            count("web pushes to ended tokens")
            return webPush(to: token, of: device, isEnded: true)
        }
        // Nothing is known of tokens whose app is gone.
        guard store.bundles[token.app] != nil, !isLeaving(token.app) else { return }
        count("pushes to ended tokens")
        lastNumber += 1
        var request = PushRequest()
        request.topic = Array(store.bundle(of: token.app).utf8)[...]
        request.payload = Array("{\"aps\":{\"alert\":\"x\"},\"n\":\(lastNumber)}".utf8)
        var sent = Sent(device: device, token: token, isOnce: false, collapse: [])
        sent.expiration = end(of: nil, false)
        sent.isToEnded = true
        send(request, sent)
    }

    /// Until when it may be kept.
    private func end(of expiration: WallTime?, _ isOnce: Bool) -> WallTime? {
        let longest = now.wall + limits.storage
        return isOnce ? nil : expiration.map { min($0, longest) } ?? longest
    }

    private mutating func feed(_ admitted: AdmittedPush, _ sent: Sent) {
        let call = CallID(serial())
        var sent = sent
        (sent.at, sent.wall, sent.troubles) = (now.boot, now.wall, troubles)
        calls[call] = sent
        byCall[call] = sent
        pushes[lastNumber] = call
        feed(.push(admitted, call))
    }

    private mutating func send(_ request: PushRequest, _ sent: Sent) {
        guard isConnected(sent.isByCertificate ? .certificate : .key) else { return }
        count("pushes")
        let isRevoked = sent.isByCertificate && revoked.contains(fingerprint)
        do throws(Reason) {
            let admitted = try admit(
                request,
                to: sent.token,
                from: sent.isByCertificate ? .certificate : .key
            )
            if isRevoked { report(.revokedTaken, "\(lastNumber) by \(fingerprint)") }
            feed(admitted, sent)
        } catch {
            figures.refused(error, key: sent.isOfKey)
            if isRevoked, error == .badCertificate { return renewCertificate() }
            // Of an app that is on the disk, nothing else may be said.
            if store.bundles[sent.token.app] == nil { return }
            if mayLeave(sent.token.app), error == .serviceUnavailable { return }
            report(.refusedAtOnce, "\(lastNumber) was refused at once: \(error)")
        }
    }

    private mutating func admit(
        _ request: PushRequest,
        to token: DeviceToken?,
        from place: SenderPlace = .key,
        isSigned: Bool = true,
        apps: TeamApps = TeamApps()
    ) throws(Reason) -> AdmittedPush {
        var arrival = PushArrival()
        arrival.method = Array("POST".utf8)[...]
        arrival.authorization = isSigned && place == .key ? Array("t".utf8)[...] : nil
        arrival.token = token?.bytes[...] ?? []
        arrival.push = request
        bug.request?(&arrival)
        defer { learn(place) }
        let second = told.wall.nanoseconds / 1_000_000_000
        return try driver.admit(
            arrival,
            from: &senders[place.rawValue].sender,
            OpenProofs(second: second, quota: bug.quota ?? quota, apps: apps),
            .production,
            id: PushUUID(high: 0, low: lastNumber),
            at: told
        )
    }

    /// A request with a fault of the provider's.
    private mutating func misspeak(_ request: PushRequest) {
        guard isConnected(.key) else { return }
        count("misspoken")
        var request = request
        let fault = random.below(4)
        if fault == 0 { request.priority = Array("7".utf8)[...] }
        let reasons: [Reason] = [
            .badPriority, .missingProviderToken, .missingDeviceToken, .invalidProviderToken,
        ]
        let wanted = reasons[Int(fault)]
        // The operator has given the app to another team, or to none while there are two.
        let app = String(decoding: request.topic ?? [], as: UTF8.self)
        let owners = random.below(2) == 0 ? [(app: app, team: "U")] : []
        let apps = fault == 3 ? TeamApps(owners, teams: ["T", "U"]) : TeamApps()
        do throws(Reason) {
            _ = try admit(request, to: nil, isSigned: fault != 1, apps: apps)
            report(.faultTaken, "a request without a token was taken")
        } catch {
            // Nobody else's fault is looked at before the sender's.
            if error != wanted { report(.wrongReason, "\(error), not \(wanted)") }
            figures.refused(error, key: fault >= 2)
        }
    }
}

/// Whoever says something is believed: the core's decisions do not rest on how that is proved.
struct OpenProofs: Proofs {
    let second: Int64
    var generation: Int { 0 }
    var quota: KeyQuota?
    var apps = TeamApps()

    func known(_ field: ArraySlice<UInt8>) -> SignedProvider? { nil }
    func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? {
        var key = ProviderKey(id: "K", team: "T")
        (key.quota, key.apps) = (quota, apps)
        return SignedProvider(text: field, issuedAt: second, key: key)
    }
    func device(_ text: ArraySlice<UInt8>) -> DeviceToken? { DeviceToken(bytes: text) }
    func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? {
        WebPushAddress(bytes: Array(text))
    }
    func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? { nil }
}
