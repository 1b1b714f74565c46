package import Vocabulary

extension Gateway {
    /// What is wrong with the address of a push; nil when it can be taken. The device is known.
    package func refusal(of token: DeviceToken) -> Answer? {
        guard let row = devices.row(of: token.device),
            let index = devices.states[row].index(of: token.app)
        else { return .refused(.badDeviceToken) }
        let app = devices.states[row].apps[index]
        if app.registration.isActive, app.registration.generation == token.generation {
            return nil
        }
        guard let end = app.registration.end(of: token.generation) else {
            return .refused(.badDeviceToken)
        }
        return .refused(.unregistered, timestamp: end)
    }

    /// Counts a push against the rate of its token; false when there are too many.
    package mutating func admit(_ token: DeviceToken, at now: Moment) -> Bool {
        guard let row = devices.row(of: token.device),
            let index = devices.states[row].index(of: token.app)
        else { return false }
        return devices.states[row].apps[index].requests.take(at: now.boot, limits)
    }

    /// A push was checked and is to be delivered or kept; `call` waits for the answer.
    package mutating func take(
        _ push: Push,
        _ acceptance: Acceptance,
        for call: CallID?,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        effects.append(.log(push, .accepted, now.wall, acceptance))
        if push.isExpired(at: now.wall) {
            filling.expired += 1
            effects.append(.log(push, .expired, now.wall, nil))
            if let call { accept(call, push.number, afterCommit: true, into: &effects) }
            return
        }
        guard let row = devices.row(of: push.device), let link = devices.states[row].link
        else { return keep(push, because: .away, for: call, at: now, into: &effects) }
        if let reason = hold(push, row, at: now) {
            return keep(push, because: reason, for: call, at: now, into: &effects)
        }
        send(push, to: row, over: link, for: call, at: now, into: &effects)
        // What waits goes along with what wakes the device anyway.
        if !push.isSilent, push.priority != .passive {
            flush(push.device, only: nil, at: now, into: &effects)
        }
    }

    /// Why a push for a connected device is not sent now. Takes from the budgets if it is.
    private mutating func hold(_ push: Push, _ row: Int, at now: Moment) -> StoreReason? {
        guard let index = devices.states[row].index(of: push.app) else { return .away }
        if push.priority == .passive { return .passive }
        if push.isSilent, let reason = holdSilent(index, row, at: now) { return reason }
        return hasRoom(row) ? nil : .busy
    }

    private func hasRoom(_ row: Int) -> Bool {
        !devices.states[row].isCongested
            && devices.states[row].flights.count < limits.unacknowledged
    }

    private mutating func holdSilent(_ index: Int, _ row: Int, at now: Moment) -> StoreReason? {
        let condition = devices.states[row].condition
        if condition.isLowPower { return .lowPower }
        let isLow = condition.batteryPercent.map { $0 < limits.silentBattery } ?? false
        if isLow, !condition.isOnMains { return .lowBattery }
        let isCounted = !condition.isOnMains
        if isCounted, !devices.states[row].wakes.mayWake(at: now.boot, limits) {
            return .dailyBudget
        }
        guard devices.states[row].apps[index].silent.take(at: now.boot) else {
            return .overBudget
        }
        if isCounted { devices.states[row].wakes.wake(at: now.boot) }
        return nil
    }

    private mutating func send(
        _ push: Push,
        to row: Int,
        over link: LinkID,
        for call: CallID?,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        let id = takeSending()
        var flight = DeviceState.Flight(id: id, number: push.number, app: push.app)
        flight.collapse = push.collapse
        flight.since = now.boot
        switch push.expiration {
        case .once:
            effects.append(.log(push, .attempted, now.wall, nil))
        case .until:
            flight.push = push
            flight.call = call
            deadlines.append(
                Deadline(at: now.boot + limits.acknowledgement, device: push.device, sending: id)
            )
        }
        devices.states[row].flights.append(flight)
        effects.append(.send(link, Sending(id: id, push: push, isRider: false)))
        guard case .once = push.expiration else { return }
        let hasRemoved = supersede(at: row, by: push, at: now, into: &effects)
        if let call { accept(call, push.number, afterCommit: hasRemoved, into: &effects) }
    }

    /// The device has the newer of two pushes with the same collapse identifier, or the newer was
    /// not to be kept. The older one must not arrive later, from its slot or sent again. True: a
    /// stored push was removed.
    mutating func supersede(
        at row: Int,
        by newer: PushNumber,
        _ collapse: CollapseKey,
        of app: SlotKey,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) -> Bool {
        guard collapse != .none else { return false }
        for index in devices.states[row].flights.indices {
            let flight = devices.states[row].flights[index]
            guard flight.app == app.app, flight.number < newer,
                flight.collapse.collapses(with: collapse), let push = flight.push
            else { continue }
            devices.states[row].flights[index].push = nil
            devices.states[row].flights[index].call = nil
            filling.replaced += 1
            effects.append(.log(push, .replaced(by: newer), now.wall, nil))
            if let call = flight.call {
                accept(call, flight.number, afterCommit: true, into: &effects)
            }
        }
        guard let index = devices.states[row].index(of: app.app),
            let slotIndex = devices.states[row].apps[index].slots.firstIndex(where: {
                $0.number < newer && $0.collapse.collapses(with: collapse)
            })
        else { return false }
        let slot = devices.states[row].apps[index].slots.remove(at: slotIndex)
        devices.states[row].batch = batch
        filling.replaced += 1
        effects.append(.remove(SlotKey(app.device, app.app, place: slot.place), slot.number))
        effects.append(.logNumber(slot.number, .replaced(by: newer), now.wall))
        return true
    }

    private mutating func supersede(
        at row: Int,
        by push: Push,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) -> Bool {
        let app = SlotKey(push.device, push.app)
        return supersede(at: row, by: push.number, push.collapse, of: app, at: now, into: &effects)
    }

    /// Answers 200, and counts the push when the provider gets that answer.
    mutating func accept(
        _ call: CallID,
        _ number: PushNumber,
        afterCommit: Bool = false,
        into effects: inout [GatewayEffect]
    ) {
        if afterCommit { filling.accepted += 1 } else { counters.accepted += 1 }
        effects.append(.answer(call, .accepted(number), afterCommit: afterCommit))
    }

    /// Stores a push that cannot be delivered now.
    mutating func keep(
        _ push: Push,
        because reason: StoreReason,
        for call: CallID?,
        at now: Moment,
        isSent: Bool = false,
        into effects: inout [GatewayEffect]
    ) {
        // It goes when there is room.
        if reason == .busy, let row = devices.row(of: push.device) {
            devices.states[row].wantsFlush = true
        }
        defer {
            if let call { accept(call, push.number, afterCommit: true, into: &effects) }
        }
        guard case .until(let asked) = push.expiration else {
            filling.dropped += 1
            if reason.isThrottling { filling.throttled += 1 }
            effects.append(.log(push, .dropped(.notStorable(reason)), now.wall, nil))
            // RFC 8030, 5.4: a message replaces the one with its topic, even if it is not kept. It
            // has done so also if its sender is told that the store failed.
            if push.type == .webpush, let row = devices.row(of: push.device) {
                _ = supersede(at: row, by: push, at: now, into: &effects)
            }
            return
        }
        guard let row = devices.row(of: push.device),
            let index = devices.states[row].index(of: push.app),
            devices.states[row].apps[index].registration.isActive
        else {
            filling.dropped += 1
            effects.append(.log(push, .dropped(.unregistered), now.wall, nil))
            return
        }
        let expiration = min(asked, now.wall + limits.storage)
        guard expiration > now.wall else {
            filling.expired += 1
            effects.append(.log(push, .expired, now.wall, nil))
            return
        }
        touch(push.device)
        // What gives way goes last: a store may write the first changes of a batch that fails.
        var gone: [GatewayEffect] = []
        defer { effects += gone }
        guard let place = makePlace(for: push, row, index, at: now, into: &effects, gone: &gone)
        else { return }
        filling.stored += 1
        if reason.isThrottling { filling.throttled += 1 }
        devices.states[row].apps[index].add(
            DeviceState.Slot(
                place: place,
                number: push.number,
                expiration: expiration,
                collapse: push.collapse,
                isSent: isSent
            )
        )
        let key = SlotKey(push.device, push.app, place: place)
        effects.append(.store(push, in: key, until: expiration))
        effects.append(.log(push, .stored(reason), now.wall, nil))
    }

    /// The place in which a push is stored; what was there gives way. APNs: the one push of the
    /// app. Web Push: the message with the same topic, or the oldest when all places are taken.
    /// Nil: what is there is newer.
    private mutating func makePlace(
        for push: Push,
        _ row: Int,
        _ index: Int,
        at now: Moment,
        into effects: inout [GatewayEffect],
        gone: inout [GatewayEffect]
    ) -> UInt8? {
        let isWebPush = push.type == .webpush
        let collapse = push.collapse
        if let slotIndex = devices.states[row].apps[index].slots.firstIndex(where: {
            isWebPush ? $0.collapse.collapses(with: collapse) : $0.place == 0
        }) {
            let old = devices.states[row].apps[index].slots[slotIndex]
            filling.replaced += 1
            guard old.number < push.number else {
                effects.append(.log(push, .replaced(by: old.number), now.wall, nil))
                return nil
            }
            devices.states[row].apps[index].slots.remove(at: slotIndex)
            effects.append(.logNumber(old.number, .replaced(by: push.number), now.wall))
            return old.place
        }
        guard isWebPush else { return 0 }
        while true {
            let slots = devices.states[row].apps[index].slots
            let count = slots.count { $0.place != 0 }
            guard count >= limits.webPushKept,
                let slotIndex = slots.firstIndex(where: { $0.place != 0 })
            else {
                return (1...UInt8.max).first { place in !slots.contains { $0.place == place } }
            }
            let oldest = slots[slotIndex]
            filling.dropped += 1
            guard oldest.number < push.number else {
                effects.append(.log(push, .dropped(.tooMany), now.wall, nil))
                return nil
            }
            devices.states[row].apps[index].slots.remove(at: slotIndex)
            let key = SlotKey(push.device, push.app, place: oldest.place)
            gone.append(.remove(key, oldest.number))
            effects.append(.logNumber(oldest.number, .dropped(.tooMany), now.wall))
        }
    }

    /// Sends what is kept for a device, of one app or of all, as far as it is not on its way.
    mutating func flush(
        _ device: DeviceID,
        only app: AppNumber?,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let row = devices.row(of: device), let link = devices.states[row].link
        else { return }
        if app == nil { devices.states[row].wantsFlush = false }
        for index in devices.states[row].apps.indices {
            if let app, devices.states[row].apps[index].registration.app != app { continue }
            // Those that have expired leave the list.
            for slot in devices.states[row].apps[index].slots where !slot.isSent {
                guard flush(slot, of: index, row, device, link, at: now, into: &effects) else {
                    devices.states[row].wantsFlush = true
                    return
                }
            }
        }
    }

    /// The same for one of an app's; false: there is no room on the link.
    private mutating func flush(
        _ slot: DeviceState.Slot,
        of index: Int,
        _ row: Int,
        _ device: DeviceID,
        _ link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) -> Bool {
        let app = devices.states[row].apps[index].registration.app
        let key = SlotKey(device, app, place: slot.place)
        if slot.expiration <= now.wall {
            expire(key, slot.number, at: now, into: &effects)
            return true
        }
        // A newer one of its kind is on its way.
        if isSuperseded(slot, of: app, row) { return true }
        guard hasRoom(row) else { return false }
        let id = takeSending()
        if let slotIndex = devices.states[row].apps[index].index(of: slot.number) {
            devices.states[row].apps[index].slots[slotIndex].isSent = true
        }
        devices.states[row].flights.append(
            DeviceState.Flight(id: id, number: slot.number, app: app, collapse: slot.collapse)
        )
        effects.append(.sendStored(link, id, key, slot.number, isRider: true))
        return true
    }

    /// Sends what waits for room on the link.
    mutating func flushIfWanted(
        _ device: DeviceID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let row = devices.row(of: device), devices.states[row].wantsFlush else {
            return
        }
        flush(device, only: nil, at: now, into: &effects)
    }

    func isSuperseded(
        _ slot: DeviceState.Slot,
        of app: AppNumber,
        _ row: Int
    ) -> Bool {
        guard slot.collapse != .none else { return false }
        return devices.states[row].flights.contains {
            $0.app == app && $0.number > slot.number && $0.collapse.collapses(with: slot.collapse)
        }
    }

    /// A push of a known device has expired in its slot, as the store says. The store may not know
    /// yet that it was replaced or removed; then nothing happens.
    package mutating func expire(
        _ key: SlotKey,
        _ number: PushNumber,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let row = devices.row(of: key.device),
            let index = devices.states[row].index(of: key.app),
            let slotIndex = devices.states[row].apps[index].index(of: number)
        else { return }
        devices.states[row].apps[index].slots.remove(at: slotIndex)
        devices.states[row].batch = batch
        filling.expired += 1
        effects.append(.remove(key, number))
        effects.append(.logNumber(number, .expired, now.wall))
    }
}
