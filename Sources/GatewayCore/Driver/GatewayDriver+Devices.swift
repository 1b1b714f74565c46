import Vocabulary

/// What happens to one device, whose state must be in memory.
enum DeviceEvent: Sendable {
    case connected(LinkID, DeviceCondition)
    case link(LinkID, LinkEvent)
    case push(AdmittedPush, CallID)
    case remove(OperationID)
    /// A sweep found that a push has expired in its slot.
    case expirePush(ExpiredSlot)
    /// A sweep found that the device is gone.
    case expire
}

/// Events of devices that are not in memory wait until their state was read.
extension GatewayDriver {
    mutating func meet(
        _ event: DeviceEvent,
        of device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        if parked[device] == nil {
            guard gateway.needs(device) else {
                return act(event, of: device, at: now, into: &actions)
            }
            actions.append(.ask(.record(device)))
        }
        parked[device, default: []].append(event)
        if case .connected(let link, _) = event { parkedLinks[link] = device }
    }

    private mutating func act(
        _ event: DeviceEvent,
        of device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        switch event {
        case .connected(let link, let condition):
            tell(at: now, into: &actions) {
                $0.connected(device, link, condition, at: $1, into: &$2)
            }
        case .link(let link, let event): act(event, of: link, at: now, into: &actions)
        case .push(let push, let call):
            // Who is told that a token is no more sends nothing to it again: that must be kept.
            if case .refused(.unregistered, let end)? = gateway.refusal(of: push.token),
                gateway.isUnwritten(device)
            {
                deferred.append(.answer(call, .refused(.unregistered, timestamp: end)))
            } else if leavingApps[push.token.app] != nil {
                answer(call, .refused(.serviceUnavailable), into: &actions)
            } else {
                take(push, for: call, at: now, into: &actions)
            }
        case .remove(let operation):
            remove(device, at: now, into: &actions)
            deferred.append(.done(operation))
        case .expirePush(let expired):
            tell(at: now, into: &actions) {
                $0.expire(expired.slot, expired.number, at: $1, into: &$2)
            }
        case .expire: expire(device, at: now, into: &actions)
        }
    }

    mutating func takeRecord(
        _ answer: StoreAnswer,
        of device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        let events = parked.removeValue(forKey: device) ?? []
        for event in events {
            if case .connected(let link, _) = event { parkedLinks[link] = nil }
        }
        guard case .record(let record) = answer else {
            for event in events { giveUp(event, of: device, into: &actions) }
            return
        }
        gateway.load(device, known(record))
        for event in events { meet(event, of: device, at: now, into: &actions) }
    }

    /// Without apps that were removed and may still be in the store.
    func known(_ record: StoredDevice) -> StoredDevice {
        var record = record
        record.registrations.removeAll { apps.bundle(of: $0.app) == nil }
        record.stored.removeAll { apps.bundle(of: $0.app) == nil }
        return record
    }

    /// The device could not be read.
    private mutating func giveUp(
        _ event: DeviceEvent,
        of device: DeviceID,
        into actions: inout [GatewayAction]
    ) {
        switch event {
        case .push(_, let call): answer(call, .refused(.serviceUnavailable), into: &actions)
        case .connected(let link, _): actions.append(.end(link, .unavailable))
        case .remove(let operation):
            removing.remove(device)
            actions.append(.done(operation, .notKept))
        // The link ends; what a sweep found is found again.
        case .link, .expirePush, .expire: break
        }
    }

    // MARK: Removal

    mutating func takeKnown(
        _ answer: StoreAnswer,
        _ device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard let operation = removals.take(device) else { return }
        defer { forgetDeviceChanges() }
        guard case .isKnown(let isKnown) = answer else {
            return actions.append(.done(operation, .notKept))
        }
        guard isKnown, !removing.contains(device) else {
            return actions.append(.done(operation, .unknown))
        }
        removing.insert(device)
        meet(.remove(operation), of: device, at: now, into: &actions)
    }

    /// Its tokens end, its link ends, and it is new when it comes back.
    private mutating func remove(
        _ device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        removing.insert(device)
        tell(at: now, into: &actions) { $0.remove(device, at: $1, into: &$2) }
        batch.changes.append(.removeDevice(device))
    }

    /// It was unseen for long; it may have come back while it was being read.
    private mutating func expire(
        _ device: DeviceID,
        at now: Moment,
        into actions: inout [GatewayAction]
    ) {
        guard !gateway.isConnected(device), !gateway.isGone(device), !removing.contains(device)
        else { return }
        remove(device, at: now, into: &actions)
        deferred.append(.expired)
    }
}
