import GatewayCore
import Vocabulary

/// What the gateway does in its world, and what must hold then.
extension GatewayWorld {
    mutating func perform(_ action: GatewayAction) {
        switch action {
        case .ask(let question):
            let isEarly = random.below(2) == 0
            store.questions.append((question, isEarly ? store.answer(question) : nil))
        case .write(let batch):
            if store.batch != nil { report(.twoBatches, "two batches are written at once") }
            store.batch = batch
        case .storeChanged: count("store changes")
        case .unknown(let operation, let key): enrol(operation, key)
        case .identified(let operation, let who): identified(operation, who)
        case .send(let link, let sending): sent(sending, over: link)
        case .registered(let link, let bundle, let token): registered(link, bundle, token)
        case .unregistered(let link, let bundle):
            guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
            if let token = devices[index].tokens.removeValue(forKey: bundle) {
                end(token, of: index)
            }
        case .end(let link, let why):
            if why == .unavailable { wakes = [:] }
            for index in devices.indices where devices[index].link == link {
                devices[index].forgetLink()
            }
            leave(link, .closed)
        case .answer(let call, let answer): answered(call, answer)
        case .done(let operation, let problem):
            guard let done = operations.removeValue(forKey: operation) else {
                return report(.doneTwice, "\(operation) was done twice")
            }
            if let problem { failed(done, problem) } else { isDone(done) }
        case .follows(let link, let channel, let problem): follows(link, channel, problem)
        case .broadcast(let link, let broadcast):
            figures.broadcastsSent += 1
            hears(broadcast, over: link)
        case .tell(let call, let answer): told(call, answer)
        case .forgetLog(let oldest): forgetLog(before: oldest)
        case .subscribed(let link, let bundle, let token, _):
            count("subscriptions")
            registered(link, bundle, token)
        case .refused(_, let bundle, .unknown):
            if isAllowedSure, allowed.map({ $0.contains(bundle) }) ?? true {
                report(.refusedApp, "\(bundle) may be registered, and was refused")
            }
        case .refused: break
        }
    }

    private mutating func identified(_ operation: OperationID, _ who: IdentifiedDevice?) {
        guard let index = devices.firstIndex(where: { $0.identifying.contains(operation) })
        else { return }
        devices[index].identifying.removeAll { $0 == operation }
        guard let link = welcome(operation, who), let device = who?.device else { return }
        // It was taken for gone, or removed, and is a new one. A late answer may mean the old one.
        for (app, token) in devices[index].tokens.sorted(by: { $0.key < $1.key })
        where token.device < device {
            devices[index].tokens[app] = nil
            end(token, of: index)
        }
        let old = devices[index].link
        devices[index].forgetLink()
        devices[index].link = link
        // It may come over a second connection before the first one is known to be cut.
        if let old, random.below(2) == 0 {
            leave(old, .closed)
            feed(.link(old, .disconnected))
        }
        let condition = anyCondition()
        unreadable.remove(device)
        if store.questions.isEmpty { devices[index].condition = condition }
        contact(index)
        feed(.connected(device, link, condition))
        for app in apps where devices[index].tokens[app] == nil && devices[index].link == link {
            feed(.link(link, .register(app, renewing: false)))
        }
    }

    private mutating func registered(_ link: LinkID, _ bundle: String, _ token: DeviceToken) {
        guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
        count("registrations")
        if isAllowedSure, let allowed, !allowed.contains(bundle) {
            report(.allowedApp, "\(bundle) may not be registered, and was")
        }
        if let old = devices[index].tokens[bundle], old != token { end(old, of: index) }
        if ended.contains(token) { report(.tokenBack, "\(token) is in force again") }
        devices[index].tokens[bundle] = token
    }

    /// The device was told that this one is no more.
    mutating func end(_ token: DeviceToken, of index: Int) {
        if ended.insert(token).inserted { endedList.append((index, token)) }
    }

    // MARK: Sending

    private mutating func sent(_ sending: Sending, over link: LinkID) {
        let push = sending.push
        if sentPushes[sending.id] != nil { report(.sentTwice, "\(sending.id) goes out twice") }
        if !sending.isRider { figures.sent[sending.id] = now.boot }
        if push.isExpired(at: now.wall) { report(.sentExpired, "\(push.number) was sent expired") }
        // What a device may still get is forgotten with it.
        if push.isSilent, !sending.isRider, limits.devicesInMemory > devices.count {
            wake(SlotKey(push.device, push.app))
        }
        if let origin = origin(of: push), ended.contains(origin.token) {
            report(.sentToEnded, "\(push.number) was sent though its token is no more")
        }
        // It was tried once, even if the link is gone.
        if push.expiration == .once, let origin = origin(of: push) {
            replace(by: push, at: origin.device)
        }
        // A link that ended takes nothing.
        guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
        if push.isSilent, !sending.isRider, let reason = reasonToWait(devices[index].condition) {
            report(.silentCondition, "\(push.number) was sent to a device with \(reason)")
        }
        devices[index].sendings.append(sending)
        devices[index].sent.insert(push.number)
        // What waits goes along with it.
        if !sending.isRider, !push.isSilent, push.priority != .passive { contact(index) }
        if !push.collapseID.isEmpty {
            let kind = Self.kind(push)
            if let last = devices[index].order[kind], last > push.number {
                report(.sentBehind, "\(push.number) was sent behind \(last), which replaces it")
            }
            devices[index].order[kind] = push.number
            let newest = devices[index].sentKinds[kind] ?? push.number
            devices[index].sentKinds[kind] = max(newest, push.number)
        }
        devices[index].sentCount += 1
        sentPushes[sending.id] = push
        if let shown = devices[index].shown[Self.kind(push)], shown > push.number {
            report(.tookPlace, "\(push.number) was sent to take the place of \(shown)")
        }
    }

    /// By the number that its provider wrote into it.
    func origin(of push: Push) -> Sent? {
        let digits = push.payload.reversed().dropFirst().prefix { $0 >= 48 && $0 <= 57 }
        let number = digits.reversed().reduce(UInt64(0)) { $0 * 10 + UInt64($1 - 48) }
        return pushes[number].flatMap { byCall[$0] }
    }

    /// The device has it, or it was tried once: what it collapses with may go.
    mutating func replace(by push: Push, at index: Int) {
        guard !push.collapseID.isEmpty else { return }
        let last = devices[index].replaced[Self.kind(push)] ?? push.number
        devices[index].replaced[Self.kind(push)] = max(last, push.number)
    }

    static func kind(_ push: Push) -> String {
        kind(push.slot, push.collapseID, isWebPush: push.type == .webpush)
    }

    static func kind(
        _ slot: SlotKey,
        _ collapse: [UInt8],
        isWebPush: Bool
    ) -> String {
        let side = isWebPush ? "w" : "a"
        return collapse.isEmpty
            ? "" : "\(side) \(slot.device) \(slot.app.number) \(collapse)"
    }

    /// No window holds more than the bucket allows.
    private mutating func wake(_ key: SlotKey) {
        count("wakes")
        var times = wakes[key] ?? []
        times.append(now.boot)
        for (place, first) in times.enumerated() {
            let passed = (now.boot - first).nanoseconds / limits.silentRefill.nanoseconds
            if times.count - place > limits.silentBurst + Int(passed) {
                report(.silentBudget, "too many silent pushes for \(key)")
                break
            }
        }
        wakes[key] = times
    }

    private mutating func answered(_ call: CallID, _ answer: Answer) {
        if let broadcast = broadcastCalls.removeValue(forKey: call) {
            if case .refused(let reason, _) = answer { figures.refused(reason, key: false) }
            return answered(broadcast, answer)
        }
        guard let sent = calls.removeValue(forKey: call) else {
            return report(.answeredTwice, "\(call) was answered twice")
        }
        if case .refused(let reason, _) = answer {
            if sent.isWebPush {
                figures.refused(WebPushReason(reason))
            } else {
                figures.refused(reason, key: sent.isOfKey)
            }
        }
        switch answer {
        case .accepted(let number):
            figures.accepted += 1
            let time = now.boot - sent.at
            driver.accepted(after: bug.span?(time) ?? time)
            figures.acceptanceTimes.append(time)
            if sent.isOfKey {
                figures.acceptedPushes += 1
                useQuota(since: sent.at)
            }
            if !numbers.insert(number).inserted { report(.numberTwice, "\(number) again") }
            accepted.append((sent, number))
            if sent.isToEnded { report(.endedTaken, "\(number) was taken for \(sent.token)") }
            inForce[sent.token] = max(inForce[sent.token] ?? sent.wall, sent.wall)
        case .refused(.unregistered, let end):
            count("gone")
            checkGone(sent, since: end)
        case .refused(.serviceUnavailable, _):
            count("unavailable")
            if sent.troubles == troubles, !isLeaving(sent.token.app), !isOver(sent.token) {
                report(.needlesslyUnavailable, "503 from a store that did not fail since")
            }
            if sent.isOfKey { lostUses += 1 }
        case .refused(.tooManyRequests, _) where quota != nil && sent.isOfKey:
            count("over quota")
            let waiting = calls.values.count { $0.isOfKey }
            if quotaUses.count + lostUses + waiting < quota?.count ?? 0 {
                report(.quotaUnspent, "refused by a quota that is not spent")
            }
        case .refused(let reason, _) where sent.isToEnded:
            // Of an app that is gone nothing is known; senders of Web Push are told the same.
            if sent.isWebPush, WebPushReason(reason) == .gone { break }
            guard !isLeaving(sent.token.app), driver.apps.bundle(of: sent.token.app) != nil
            else { break }
            report(.endedNotGone, "\(reason) for a token that is no more")
        case .refused(let reason, _):
            // Its device or app is going, and the store does not know yet.
            let isForGood = reason == .badDeviceToken || reason == .deviceTokenNotForTopic
            guard driver.isSettled || isForGood, !ended.contains(sent.token), !isOver(sent.token)
            else { break }
            report(.refusedLater, "refused for \(reason)")
        }
    }

    /// Of the pushes that were both sent and answered in a time, there are no more than the quota
    /// allows.
    mutating func useQuota(since sent: BootTime) {
        guard let quota else { return }
        quotaUses.append(sent)
        quotaUses.sort()
        let refill = quota.time.nanoseconds / Int64(quota.count)
        for (place, first) in quotaUses.enumerated() {
            let passed = (now.boot - first).nanoseconds / refill
            if quotaUses.count - place > quota.count + Int(passed) + 1 {
                report(.quotaExceeded, "more pushes than the quota of their key")
                break
            }
        }
    }
}
