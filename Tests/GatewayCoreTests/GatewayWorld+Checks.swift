import GatewayCore
import Vocabulary

/// What must hold of all that providers were answered, and of what is kept.
extension GatewayWorld {
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
            report(.lost, "\(number) was answered 200 and is lost")
        }
        counts["answered"] = accepted.count
        checkChannels()
        if !calls.isEmpty { report(.providersWait, "\(calls.count) providers wait for ever") }
        if !lookups.isEmpty { report(.logWaits, "\(lookups.count) wait for ever") }
        if !operations.isEmpty { report(.operatorWaits, "an operator waits for ever") }
        problems += figureProblems()
    }

    /// A newer one was in the slot; of Web Push one with its topic, or as many as there are places.
    /// They were stored, whatever became of them since; or were not to be, with its topic.
    private func hasGivenWay(_ number: PushNumber, _ sent: Sent, _ slot: SlotKey) -> Bool {
        guard sent.isWebPush else { return store.newest[slot].map { $0 > number } ?? false }
        let newer = (store.webPushes[slot] ?? [:]).filter { $0.key > number }
        if newer.count >= limits.webPushKept { return true }
        guard !sent.collapse.isEmpty else { return false }
        // What is not to be kept replaces also if its sender is told that the store failed.
        return newer.values.contains(sent.collapse)
            || byCall.values.contains {
                $0.isOnce && $0.isWebPush && $0.at >= sent.at && $0.token == sent.token
                    && $0.collapse == sent.collapse
            }
    }

    /// Its app is still registered as it was when the push was sent.
    func isInForce(_ push: Push) -> Bool {
        origin(of: push).map { !ended.contains($0.token) && !isOver($0.token) } == true
    }

    /// The store says that it is no more in force.
    func isOver(_ token: DeviceToken) -> Bool {
        let registration = store.registrations[SlotKey(token.device, token.app)]
        return registration?.isActive != true || registration?.generation != token.generation
    }

    /// Nothing waits in a slot for a device that is there, has room, and may be woken.
    mutating func checkWaiting() {
        guard driver.isSettled, store.questions.isEmpty, store.batch == nil else { return }
        checkLinks()
        for (index, device) in devices.enumerated() {
            if device.link != nil, store.keys[device.key] == nil {
                report(.unknownConnected, "\(index) is connected, and not known")
            }
            guard device.link != nil, !device.isCongested,
                device.sentCount - device.acknowledgedCount < limits.unacknowledged,
                let id = store.keys[device.key], !unreadable.contains(id)
            else { continue }
            count("looks")
            if random.below(20) == 0 { problems += figureProblems() }
            for (_, stored) in store.bundles.keys.sorted().flatMap({ store.kept(id, $0) }) {
                guard !device.sent.contains(stored.push.number),
                    stored.until > now.wall, !isSuperseded(stored.push, at: device)
                else { continue }
                let number = stored.push.number
                if mustGo(number) { report(.waits, "\(number) waits, though \(index) is there") }
                if device.due.contains(number) {
                    report(.waitsAfterContact, "\(number) waits, though \(index) was heard of")
                }
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

    // MARK: Tokens that are no more

    /// A provider is told of it for good, and of the time, so that it can tell whether the app has
    /// registered since.
    mutating func checkGone(_ sent: Sent, since end: WallTime?) {
        let token = sent.token
        // Also one whose end the device is about to be told, or was and has forgotten.
        guard isOver(token) else { return report(.goneTooSoon, "\(token) is in force, and 410") }
        let first = gone[token]
        guard let end, end <= now.wall, end >= inForce[token] ?? end,
            first == nil || end == first || isOld(token)
        else {
            let times = "\(String(describing: end)), \(String(describing: first))"
            return report(.goneTime, "\(token) is no more since \(times)")
        }
        gone[token] = first ?? end
    }

    /// Of those before the last few only the latest time is known.
    private func isOld(_ token: DeviceToken) -> Bool {
        let registration = store.registrations[SlotKey(token.device, token.app)]
        return registration.map {
            Int($0.generation) - Int(token.generation) >= Registration.endedLimit
        } ?? false
    }
}
