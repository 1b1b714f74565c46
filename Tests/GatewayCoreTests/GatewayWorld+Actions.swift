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
            if store.batch != nil { problems.append("two batches are written at once") }
            store.batch = batch
        case .storeChanged: count("store changes")
        case .unknown(let operation, let key): feed(.enrol(operation, key: key))
        case .identified(let operation, let device, _): identified(operation, device)
        case .send(let link, let sending): sent(sending, over: link)
        case .registered(let link, let bundle, let token): registered(link, bundle, token)
        case .unregistered(let link, let bundle):
            guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
            if let token = devices[index].tokens.removeValue(forKey: bundle) { end(token) }
        case .end(let link, let why):
            if why == .unavailable { wakes = [:] }
            for index in devices.indices where devices[index].link == link {
                devices[index].forgetLink()
            }
        case .answer(let call, let answer): answered(call, answer)
        case .done(let operation, let problem):
            guard let done = operations.removeValue(forKey: operation) else {
                return problems.append("\(operation) was done twice")
            }
            if problem == nil { isDone(done) } else { failed(done) }
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
                problems.append("\(bundle) may be registered, and was refused")
            }
        case .refused: break
        }
    }

    private mutating func identified(_ operation: OperationID, _ device: DeviceID?) {
        guard let index = devices.firstIndex(where: { $0.identifying.contains(operation) })
        else { return }
        devices[index].identifying.removeAll { $0 == operation }
        guard let device else { return }
        // It was taken for gone, or removed, and is a new one. A late answer may mean the old one.
        for (app, token) in devices[index].tokens.sorted(by: { $0.key < $1.key })
        where token.device < device {
            devices[index].tokens[app] = nil
            end(token)
        }
        let link = LinkID(serial())
        let old = devices[index].link
        devices[index].forgetLink()
        devices[index].link = link
        // It may come over a second connection before the first one is known to be cut.
        if let old, random.below(2) == 0 { feed(.link(old, .disconnected)) }
        let condition = anyCondition()
        unreadable.remove(device)
        if store.questions.isEmpty { devices[index].condition = condition }
        feed(.connected(device, link, condition))
        for app in apps where devices[index].tokens[app] == nil && devices[index].link == link {
            feed(.link(link, .register(app, renewing: false)))
        }
    }

    private mutating func registered(_ link: LinkID, _ bundle: String, _ token: DeviceToken) {
        guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
        count("registrations")
        if isAllowedSure, let allowed, !allowed.contains(bundle) {
            problems.append("\(bundle) may not be registered, and was")
        }
        if let old = devices[index].tokens[bundle], old != token { end(old) }
        if ended.contains(token) { problems.append("\(token) is in force again") }
        devices[index].tokens[bundle] = token
    }

    /// The device was told that this one is no more.
    mutating func end(_ token: DeviceToken) { ended.insert(token) }

    // MARK: Sending

    private mutating func sent(_ sending: Sending, over link: LinkID) {
        let push = sending.push
        if sentPushes[sending.id] != nil { problems.append("\(sending.id) goes out twice") }
        if !sending.isRider { figures.sent[sending.id] = now.boot }
        if push.isExpired(at: now.wall) { problems.append("\(push.number) was sent expired") }
        // What a device may still get is forgotten with it.
        if push.isSilent, !sending.isRider, limits.devicesInMemory > devices.count {
            wake(SlotKey(push.device, push.app))
        }
        if let origin = origin(of: push), ended.contains(origin.token) {
            problems.append("\(push.number) was sent though its token is no more")
        }
        // It was tried once, even if the link is gone.
        if push.expiration == .once, let origin = origin(of: push) {
            replace(by: push, at: origin.device)
        }
        // A link that ended takes nothing.
        guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
        if push.isSilent, !sending.isRider, let reason = reasonToWait(devices[index].condition) {
            problems.append("\(push.number), which is silent, was sent to a device with \(reason)")
        }
        devices[index].sendings.append(sending)
        devices[index].sent.insert(push.number)
        if !push.collapseID.isEmpty {
            let kind = Self.kind(push)
            if let last = devices[index].order[kind], last > push.number {
                problems.append("\(push.number) was sent behind \(last), which replaces it")
            }
            devices[index].order[kind] = push.number
            let newest = devices[index].sentKinds[kind] ?? push.number
            devices[index].sentKinds[kind] = max(newest, push.number)
        }
        devices[index].sentCount += 1
        sentPushes[sending.id] = push
        if let shown = devices[index].shown[Self.kind(push)], shown > push.number {
            problems.append("\(push.number) was sent to take the place of \(shown)")
        }
    }

    /// By the number that its provider wrote into it.
    private func origin(of push: Push) -> Sent? {
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

    private static func kind(
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
                problems.append("too many silent pushes for \(key)")
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
            return problems.append("\(call) was answered twice")
        }
        if case .refused(let reason, _) = answer {
            if sent.isWebPush {
                figures.refused(WebPushReason(reason))
            } else {
                figures.refused(reason, key: true)
            }
        }
        switch answer {
        case .accepted(let number):
            figures.accepted += 1
            driver.accepted(after: now.boot - sent.at)
            figures.acceptanceTimes.append((now.boot - sent.at).seconds)
            if !sent.isWebPush {
                figures.acceptedPushes += 1
                useQuota(since: sent.at)
            }
            if !numbers.insert(number).inserted { problems.append("\(number) was given twice") }
            accepted.append((sent, number))
        case .refused(.unregistered, _):
            count("gone")
        // Also one whose end the device is about to be told, or was and has forgotten.
        case .refused(.serviceUnavailable, _):
            count("unavailable")
            if !sent.isWebPush { lostUses += 1 }
        case .refused(.tooManyRequests, _) where quota != nil && !sent.isWebPush:
            count("over quota")
            let waiting = calls.values.count { !$0.isWebPush }
            if quotaUses.count + lostUses + waiting < quota?.count ?? 0 {
                problems.append("refused by a quota that is not spent")
            }
        case .refused(let reason, _):
            // Its device or app is going, and the store does not know yet.
            guard driver.isSettled, !ended.contains(sent.token), !isOver(sent.token) else { break }
            problems.append("refused for \(reason)")
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
                problems.append("more pushes than the quota of their key")
                break
            }
        }
    }

    // MARK: What must hold

    /// Each push that was answered 200 is with the device, in its slot, or gave way for a reason.
    mutating func check() {
        for (sent, number) in accepted {
            let device = devices[sent.device]
            if device.received.contains(number) || sent.isOnce { continue }
            let slot = SlotKey(sent.token.device, sent.token.app)
            let kept = store.kept(slot.device, slot.app)
            if kept.contains(where: { $0.stored.push.number == number }) { continue }
            if ended.contains(sent.token) || isOver(sent.token) { continue }
            if let expiration = sent.expiration, expiration <= now.wall { continue }
            if hasGivenWay(number, sent, slot) { continue }
            let kind = Self.kind(slot, sent.collapse, isWebPush: sent.isWebPush)
            if let last = device.replaced[kind], !kind.isEmpty, last > number { continue }
            problems.append("\(number) was answered 200 and is lost")
        }
        counts["answered"] = accepted.count
        checkChannels()
        if !calls.isEmpty { problems.append("\(calls.count) providers wait for ever") }
        if !lookups.isEmpty { problems.append("somebody waits for the log for ever") }
        if !operations.isEmpty { problems.append("an operator waits for ever") }
        problems += figureProblems()
    }

    /// A newer one was in the slot; of Web Push one with its topic, or as many as there are places.
    /// They were stored, whatever became of them since.
    private func hasGivenWay(_ number: PushNumber, _ sent: Sent, _ slot: SlotKey) -> Bool {
        guard sent.isWebPush else { return store.newest[slot].map { $0 > number } ?? false }
        let newer = (store.webPushes[slot] ?? [:]).filter { $0.key > number }
        return newer.count >= limits.webPushKept
            || !sent.collapse.isEmpty && newer.values.contains(sent.collapse)
    }

    /// Its app is still registered as it was when the push was sent.
    func isInForce(_ push: Push) -> Bool {
        origin(of: push).map { !ended.contains($0.token) && !isOver($0.token) } == true
    }

    /// The store says that it is no more in force.
    private func isOver(_ token: DeviceToken) -> Bool {
        let registration = store.registrations[SlotKey(token.device, token.app)]
        return registration?.isActive != true || registration?.generation != token.generation
    }

    /// Nothing waits in a slot for a device that is there, has room, and may be woken.
    mutating func checkWaiting() {
        guard driver.isSettled, store.questions.isEmpty, store.batch == nil else { return }
        for (index, device) in devices.enumerated() {
            if device.link != nil, store.keys[device.key] == nil {
                problems.append("\(index) is connected, and not known")
            }
            guard device.link != nil, !device.isCongested,
                device.sentCount - device.acknowledgedCount < limits.unacknowledged,
                let id = store.keys[device.key], !unreadable.contains(id)
            else { continue }
            count("looks")
            if random.below(20) == 0 { problems += figureProblems() }
            for (_, stored) in store.bundles.keys.sorted().flatMap({ store.kept(id, $0) }) {
                guard !device.sent.contains(stored.push.number),
                    mustGo(stored.push.number), stored.until > now.wall,
                    !isSuperseded(stored.push, at: device)
                else { continue }
                problems.append("\(stored.push.number) waits, though \(index) could have it")
            }
        }
    }

    /// It waits for nothing but a device that is there and has room.
    private func mustGo(_ push: PushNumber) -> Bool {
        switch store.reasons[push] {
        case .busy, .away: true
        // What is held back by a rule goes along with something else.
        case .overBudget, .dailyBudget, .lowBattery, .lowPower, .passive, .unacknowledged, nil:
            false
        }
    }

    /// A newer one of its kind went over this link.
    private func isSuperseded(_ push: Push, at device: Device) -> Bool {
        device.sentKinds[Self.kind(push)].map { $0 > push.number } ?? false
    }
}
