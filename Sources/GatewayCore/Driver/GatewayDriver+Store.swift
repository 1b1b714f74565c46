import Vocabulary

/// What the store answers.
extension GatewayDriver {
    mutating func take(
        _ answer: StoreAnswer,
        to question: StoreQuestion,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        if answer == .failed { failures += 1 }
        switch question {
        case .device(let key): takeDevice(answer, of: key, into: &actions)
        case .record(let device):
            if !recover(device, answer, at: now, into: &actions) {
                takeRecord(answer, of: device, at: now, into: &actions)
            }
        case .isKnown(let device): takeKnown(answer, device, at: now, into: &actions)
        case .push(let slot):
            let push: Push? = if case .push(let push) = answer { push } else { nil }
            for fetch in fetching.removeValue(forKey: slot) ?? [] {
                if fetch.isLate, answer != .failed, push?.number != fetch.number {
                    send(fetch, from: slot, at: now, into: &actions)
                } else {
                    finish(fetch, push, at: now, into: &actions)
                }
            }
        case .channels: recoverChannels(answer, at: now, into: &actions)
        case .expired, .unseen, .unusedApps:
            takeSwept(answer, to: question, at: now, into: &actions)
        }
    }

    // MARK: Devices

    private mutating func takeRecord(
        _ answer: StoreAnswer,
        of device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        let events = parked.removeValue(forKey: device) ?? []
        for event in events {
            if case .connected(_, let link, _) = event { parkedLinks[link] = nil }
        }
        guard case .record(let record) = answer else {
            for event in events { giveUp(event, into: &actions) }
            return
        }
        gateway.load(device, known(record))
        if recovery != nil {
            // They came before all that waits for its end.
            recovery?.held.insert(contentsOf: events, at: 0)
            return
        }
        for event in events { handle(event, at: now, into: &actions) }
    }

    /// Without apps that were removed and may still be in the store.
    func known(_ record: StoredDevice) -> StoredDevice {
        var record = record
        record.registrations.removeAll { apps.bundle(of: $0.app) == nil }
        record.stored.removeAll { apps.bundle(of: $0.app) == nil }
        return record
    }

    /// The device that the event is about could not be read.
    private mutating func giveUp(_ event: GatewayEvent, into actions: inout [GatewayAction]) {
        switch event {
        case .push(_, let call): actions.append(.answer(call, .refused(.serviceUnavailable)))
        case .connected(_, let link, _): actions.append(.end(link, .unavailable))
        case .removeKnownDevice(let device, let operation):
            removing.remove(device)
            actions.append(.done(operation, .notKept))
        // What its link brought since it came; what a sweep found is found again.
        case .link, .expire, .expireDevice: break
        case .identify, .enrol, .broadcast, .createChannel, .removeChannel, .removeDevice,
            .removeApp, .sweep, .probe, .answered, .written, .passed, .turnEnded, .ending:
            break
        }
    }

    mutating func identify(
        _ operation: OperationID,
        _ key: [UInt8],
        into actions: inout [GatewayAction]
    ) {
        identifying.append(Identification(operation: operation, key: key))
        actions.append(.ask(.device(key: key)))
    }

    private mutating func takeDevice(
        _ answer: StoreAnswer,
        of key: [UInt8],
        into actions: inout [GatewayAction]
    ) {
        guard let index = identifying.firstIndex(where: { $0.key == key }) else { return }
        let operation = identifying.remove(at: index).operation
        guard case .device(let found) = answer else {
            return actions.append(.identified(operation, nil, isNew: false))
        }
        if let device = found {
            // It may be being removed: known no more, and not yet to be made anew.
            let isGone = removing.contains(device)
            actions.append(.identified(operation, isGone ? nil : device, isNew: false))
        } else if let device = newDevice(key) {
            deferred.append(.identified(operation, device))
        } else {
            actions.append(.unknown(operation, key: key))
        }
    }

    /// One that the store may not know yet.
    private func newDevice(_ key: [UInt8]) -> DeviceID? {
        unwrittenDevices[key].flatMap { removing.contains($0) ? nil : $0 }
    }

    mutating func enrol(_ operation: OperationID, _ key: [UInt8], at now: Moment) {
        if let device = newDevice(key) {
            deferred.append(.identified(operation, device))
            return
        }
        lastDevice += 1
        let device = DeviceID(lastDevice)
        unwrittenDevices[key] = device
        batch.changes.append(.device(device, key: key, since: now.wall))
        deferred.append(.identified(operation, device))
    }

    // MARK: Removal

    private mutating func takeKnown(
        _ answer: StoreAnswer,
        _ device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard let index = asking.firstIndex(where: { $0.device == device }) else { return }
        let operation = asking.remove(at: index).operation
        guard case .isKnown(let isKnown) = answer else {
            return actions.append(.done(operation, .notKept))
        }
        guard isKnown, !removing.contains(device) else {
            return actions.append(.done(operation, .unknown))
        }
        removing.insert(device)
        handle(.removeKnownDevice(device, operation), at: now, into: &actions)
    }

    /// Its tokens end, its link ends, and it is new when it comes back.
    mutating func remove(_ device: DeviceID, at now: Moment, into actions: inout [GatewayAction]) {
        removing.insert(device)
        tell(at: now, into: &actions) { $0.remove(device, at: $1, into: &$2) }
        batch.changes.append(.removeDevice(device))
    }
}
