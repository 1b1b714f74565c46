package import Vocabulary

extension Gateway {
    /// A device proved who it is over a new link. The device is known; an older link of it ends.
    package mutating func connected(
        _ device: DeviceID,
        _ link: LinkID,
        _ condition: DeviceCondition,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        // It was removed after it had been told who it is.
        guard devices[device]?.isGone != true else { return effects.append(.end(link, .removed)) }
        if let old = devices[device]?.link {
            effects.append(.end(old, .superseded))
            disconnected(old, at: now, into: &effects)
        }
        self.link(link, to: device)
        devices[device]?.link = link
        devices[device]?.isCongested = false
        apply(condition, to: device, at: now)
        saw(device, at: now, into: &effects)
        flush(device, only: nil, at: now, into: &effects)
    }

    /// The link is gone: what was not acknowledged is stored.
    package mutating func disconnected(
        _ link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        channels.ended(link)
        guard let device = unlink(link), devices[device]?.link == link else {
            return
        }
        devices[device]?.link = nil
        let flights = devices[device]?.flights ?? []
        devices[device]?.flights = []
        for index in (devices[device]?.apps ?? []).indices {
            let slots = devices[device]?.apps[index].slots.indices ?? 0..<0
            for slotIndex in slots {
                devices[device]?.apps[index].slots[slotIndex].isSent = false
            }
        }
        for flight in flights {
            guard let push = flight.push else { continue }
            keep(push, because: .away, for: flight.call, at: now, into: &effects)
        }
        list(device)
    }

    /// The device has it, and has seen to it that it is not lost. Late ones, doubled ones and those
    /// of an earlier link only show that it reads.
    package mutating func acknowledged(
        _ sending: SendingID,
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let (device, row, flight) = takeFlight(sending, of: link) else {
            return freed(link, at: now, into: &effects)
        }
        counters.delivered += 1
        if let since = flight.since { deliveryTimes.record(now.boot - since) }
        if let push = flight.push {
            effects.append(.log(push, .delivered, now.wall, nil))
        } else {
            effects.append(.logNumber(flight.number, .delivered, now.wall))
        }
        empty(device, row, flight, into: &effects)
        let hasRemoved = supersede(
            at: row,
            by: flight.number,
            flight.collapse,
            of: SlotKey(device, flight.app),
            at: now,
            into: &effects
        )
        if let call = flight.call {
            accept(call, flight.number, afterCommit: hasRemoved, into: &effects)
        }
        flushIfWanted(device, at: now, into: &effects)
    }

    /// The driver could not read the push of a slot: it is not on its way, and is tried again with
    /// the next reason to send what is kept.
    package mutating func notSent(_ sending: SendingID, over link: LinkID) {
        guard let (_, row, flight) = takeFlight(sending, of: link),
            let index = devices.states[row].index(of: flight.app),
            let slotIndex = devices.states[row].apps[index].index(of: flight.number)
        else { return }
        devices.states[row].apps[index].slots[slotIndex].isSent = false
    }

    /// There is room on the link again.
    mutating func freed(_ link: LinkID, at now: Moment, into effects: inout [GatewayEffect]) {
        if let device = self.device(of: link) {
            flushIfWanted(device, at: now, into: &effects)
        }
    }

    /// Whether a stored push may still be sent: it is in a slot, the link exists, and no newer
    /// push with its collapse identifier is in flight.
    func isKept(_ sending: SendingID, over link: LinkID) -> Bool {
        guard let device = self.device(of: link), let row = devices.row(of: device),
            let flight = devices.states[row].flights.first(where: { $0.id == sending }),
            let index = devices.states[row].index(of: flight.app),
            let slotIndex = devices.states[row].apps[index].index(of: flight.number)
        else { return false }
        return !isSuperseded(devices.states[row].apps[index].slots[slotIndex], of: flight.app, row)
    }

    /// The device has no such app any more: the registration ends, and whoever waits is told so.
    package mutating func refused(
        _ sending: SendingID,
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let (device, row, flight) = takeFlight(sending, of: link) else { return }
        filling.dropped += 1
        effects.append(.logNumber(flight.number, .dropped(.refused), now.wall))
        if let call = flight.call {
            let gone = Answer.refused(.unregistered, timestamp: now.wall)
            effects.append(.answer(call, gone, afterCommit: true))
        }
        var emptied: [GatewayEffect] = []
        empty(device, row, flight, into: &emptied)
        end(flight.app, of: device, at: now, into: &effects)
        effects += emptied
        flushIfWanted(device, at: now, into: &effects)
    }

    private mutating func takeFlight(
        _ sending: SendingID,
        of link: LinkID
    ) -> (DeviceID, row: Int, DeviceState.Flight)? {
        guard let device = self.device(of: link), let row = devices.row(of: device),
            let index = devices.states[row].index(of: sending)
        else { return nil }
        return (device, row, devices.states[row].flights.remove(at: index))
    }

    /// Removes the push from its slot if it is still there.
    private mutating func empty(
        _ device: DeviceID,
        _ row: Int,
        _ flight: DeviceState.Flight,
        into effects: inout [GatewayEffect]
    ) {
        guard let index = devices.states[row].index(of: flight.app),
            let slotIndex = devices.states[row].apps[index].index(of: flight.number)
        else { return }
        let slot = devices.states[row].apps[index].slots.remove(at: slotIndex)
        devices.states[row].batch = batch
        let key = SlotKey(device, flight.app, place: slot.place)
        effects.append(.remove(key, flight.number))
    }

    /// A keep-alive came; its answer takes along what is kept.
    package mutating func keptAlive(
        _ link: LinkID,
        _ condition: DeviceCondition?,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link) else { return }
        if let condition { apply(condition, to: device, at: now) }
        saw(device, at: now, into: &effects)
        flush(device, only: nil, at: now, into: &effects)
        catchUp(link, at: now, into: &effects)
    }

    /// Its condition changed; on mains and a link that costs nothing it gets what is kept.
    package mutating func changed(
        _ link: LinkID,
        _ condition: DeviceCondition,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link) else { return }
        apply(condition, to: device, at: now)
        if condition.isOnMains, condition.isUnmetered {
            flush(device, only: nil, at: now, into: &effects)
        }
    }

    /// The user opened an app: it gets what is kept for it.
    package mutating func opened(
        _ app: AppNumber,
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link) else { return }
        flush(device, only: app, at: now, into: &effects)
    }

    /// Back-pressure: whether the link takes more. What comes while it does not is stored.
    package mutating func congested(
        _ link: LinkID,
        _ isCongested: Bool,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link) else { return }
        devices[device]?.isCongested = isCongested
        guard !isCongested else { return }
        flush(device, only: nil, at: now, into: &effects)
        catchUp(link, at: now, into: &effects)
    }

    private mutating func apply(
        _ condition: DeviceCondition,
        to device: DeviceID,
        at now: Moment
    ) {
        devices[device]?.condition = condition
        if let wakes = condition.silentWakes { devices[device]?.wakes.report(wakes, at: now.boot) }
    }

    /// What is left of an app's silent bucket by the device's own count.
    package mutating func reported(
        silentLeft: Int,
        of app: AppNumber,
        over link: LinkID,
        at now: Moment
    ) {
        guard let device = self.device(of: link), let index = devices[device]?.index(of: app) else {
            return
        }
        devices[device]?.apps[index].silent.report(silentLeft, at: now.boot)
    }

    // MARK: Time

    /// When `passed` wants to be called next; nil: not before another event.
    package var alarm: BootTime? { deadlines.first?.at }

    /// Time went on: what was not acknowledged in time is stored. It stays on its way; a late
    /// acknowledgement still removes it.
    package mutating func passed(_ now: Moment, into effects: inout [GatewayEffect]) {
        while let deadline = deadlines.first {
            guard let row = devices.row(of: deadline.device),
                let index = devices.states[row].index(of: deadline.sending),
                let push = devices.states[row].flights[index].push
            else {
                // Acknowledged: the next alarm is for one that is not.
                _ = deadlines.popFirst()
                continue
            }
            guard deadline.at <= now.boot else { return }
            _ = deadlines.popFirst()
            let call = devices.states[row].flights[index].call
            devices.states[row].flights[index].push = nil
            devices.states[row].flights[index].call = nil
            keep(
                push,
                because: .unacknowledged,
                for: call,
                at: now,
                isSent: true,
                into: &effects
            )
        }
    }
}
