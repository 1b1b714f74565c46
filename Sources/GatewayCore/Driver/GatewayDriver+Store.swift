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
        case .record(let device): takeRecord(answer, of: device, at: now, into: &actions)
        case .isKnown(let device): takeKnown(answer, device, at: now, into: &actions)
        case .push(let slot):
            let push: Push? = if case .push(let push) = answer { push } else { nil }
            for fetch in fetching.removeValue(forKey: slot) ?? [] {
                if fetch.mayGetStale, answer != .failed, push?.number != fetch.number {
                    send(fetch, from: slot, at: now, into: &actions)
                } else {
                    finish(fetch, push, at: now, into: &actions)
                }
            }
        // Asked by a recovery alone.
        case .channels, .hasApp: break
        case .log(let push): takeLog(answer, of: push, into: &actions)
        case .expired, .unseen, .unusedApps:
            takeSwept(answer, to: question, at: now, into: &actions)
        }
    }

    // MARK: Identities

    mutating func identify(
        _ operation: OperationID,
        _ key: [UInt8],
        into actions: inout [GatewayAction]
    ) {
        questions += 1
        identifying.append(key, operation, questions)
        actions.append(.ask(.device(key: key)))
    }

    private mutating func takeDevice(
        _ answer: StoreAnswer,
        of key: [UInt8],
        into actions: inout [GatewayAction]
    ) {
        guard let operation = identifying.take(key) else { return }
        defer { forgetDeviceChanges() }
        guard case .device(let found) = answer else {
            return actions.append(.identified(operation, nil))
        }
        if let device = found {
            // It may be being removed: known no more, and not yet to be made anew.
            let isGone = removing.contains(device)
            let who = isGone ? nil : identity(of: device, isNew: false)
            actions.append(.identified(operation, who))
        } else if !takeNew(key, operation, into: &actions) {
            actions.append(.unknown(operation, key: key))
        }
    }

    /// Of a device that comes from a backup, apps may be missing that it registered since. It is
    /// asked each time: nobody keeps in mind which came back, and what is registered already is
    /// only told again.
    func identity(of device: DeviceID, isNew: Bool) -> IdentifiedDevice {
        let isRestored = device.number < lastRestored
        return IdentifiedDevice(
            device: device,
            isNew: isNew,
            mustRegister: isNew || isRestored
        )
    }

    /// One that the store may not know yet.
    private mutating func takeNew(
        _ key: [UInt8],
        _ operation: OperationID,
        into actions: inout [GatewayAction]
    ) -> Bool {
        guard let device = unwrittenDevices[key] else { return false }
        if removing.contains(device) {
            // As above.
            actions.append(.identified(operation, nil))
        } else {
            deferred.append(.identified(operation, device))
        }
        return true
    }

    mutating func enrol(
        _ operation: OperationID,
        _ key: [UInt8],
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard !takeNew(key, operation, into: &actions) else { return }
        lastDevice += 1
        let device = DeviceID(lastDevice)
        unwrittenDevices[key] = device
        batch.changes.append(.device(device, key: key, since: now.wall))
        deferred.append(.identified(operation, device))
    }
}
