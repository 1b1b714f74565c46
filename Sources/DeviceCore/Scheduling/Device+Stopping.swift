import Vocabulary

/// Runs that may not go on: their conditions stopped holding (C8), the user came back, paused
/// everything, or took the manifest away.
extension Device {
    /// A condition changed: expires early what needed it. Only the change counts, so that what
    /// was started in spite of a condition (user-initiated, simulated) is not stopped by it.
    mutating func stopWhatMayNotGoOn(after condition: Condition, _ transition: inout Transition) {
        guard let reason = lossReason(condition) else { return }
        for owner in owners {
            guard let (index, launchIndex) = find(owner.launch) else { continue }
            let launch = apps[index].launches[launchIndex]
            // What the user looks at goes on.
            guard let wake = launch.wake, launch.presence != .foreground else { continue }
            if launch.isCommand {
                if concerns(reason, wake.trigger, needs(of: launch.request, index)) {
                    stopCommand(launch.id, reason, &transition)
                }
                continue
            }
            for delivery in launch.deliveries
            where concerns(reason, delivery.trigger, needs(of: delivery.request, index)) {
                expireEarly(delivery, launch.id, reason, &transition)
            }
        }
    }

    private func lossReason(_ condition: Condition) -> StopReason? {
        switch condition {
        case .power: conditions.isAssured(.power) ? nil : .powerLost
        case .network: conditions.isAssured(.network) ? nil : .networkLost
        case .idle: conditions.deviceIdle ? nil : .deviceInUse
        case .lowPower: conditions.lowPower ? .lowPowerMode : nil
        case .thermal: conditions.thermal >= 2 ? .thermal : nil
        case .memory: conditions.memory >= 2 ? .memoryPressure : nil
        case .metered: conditions.isAssured(.metered) ? nil : .networkMetered
        case .locked: conditions.isAssured(.locked) ? nil : .dataLocked
        case .battery, .storage: nil
        }
    }

    private func needs(of request: RequestID?, _ index: Int) -> Needs {
        guard let request, let requestIndex = apps[index].index(of: request) else { return Needs() }
        return apps[index].requests[requestIndex].needs
    }

    /// Power, network and unlocked data, when they were asked for; a user who comes back, low-power
    /// mode, heat and want of memory end processing, while a refresh goes on.
    private func concerns(_ reason: StopReason, _ trigger: Trigger, _ needs: Needs) -> Bool {
        switch reason {
        case .powerLost: needs.power
        case .networkLost: needs.network
        case .networkMetered: needs.unmetered
        case .dataLocked: needs.unlocked
        case .deviceInUse, .lowPowerMode, .thermal, .memoryPressure: trigger.grant == .processing
        case .timeout, .memoryLimit, .cpuMonitor, .fileLock, .launchWatchdog, .userClosed,
            .cancelled, .paused, .simulated, .manifestRemoved, .interruptedTooLong, .neverCompleted:
            false
        }
    }

    /// Processing has longer while the device is idle and charging: what runs has more from now on,
    /// or less, but always the time of a warning.
    mutating func moveEnds(by shift: Interval, _ transition: inout Transition) {
        guard shift != .zero else { return }
        let soonest = transition.now.awake + settings.expiryWarning
        for owner in owners {
            guard let (index, launchIndex) = find(owner.launch) else { continue }
            let launch = apps[index].launches[launchIndex]
            guard let wake = launch.wake, wake.trigger.grant == .processing, launch.ending == nil,
                launch.presence != .foreground
            else { continue }
            if launch.isCommand {
                apps[index].launches[launchIndex].wake?.end = max(wake.end + shift, soonest)
            } else {
                for (slot, delivery) in launch.deliveries.enumerated()
                where delivery.trigger.grant == .processing && !delivery.warned {
                    apps[index].launches[launchIndex].deliveries[slot].end =
                        max(delivery.end + shift, soonest)
                }
                let ends = apps[index].launches[launchIndex].deliveries.map(\.end)
                apps[index].launches[launchIndex].wake?.end = ends.max() ?? wake.end
            }
            save(app: index, launch: launch.id)
            touch(index)
        }
    }

    mutating func stopAllRuns(_ reason: StopReason, _ transition: inout Transition) {
        for owner in owners { stopRuns(of: owner.launch, reason, &transition) }
    }

    mutating func stopRuns(of id: LaunchID, _ reason: StopReason, _ transition: inout Transition) {
        guard let (index, launchIndex) = find(id) else { return }
        let launch = apps[index].launches[launchIndex]
        if launch.isCommand {
            if launch.wake != nil { stopCommand(id, reason, &transition) }
        } else if launch.presence != .foreground {
            for delivery in launch.deliveries { expireEarly(delivery, id, reason, &transition) }
        }
    }

    /// The expiration handler now, the end after the warning time, never later than planned.
    mutating func expireEarly(
        _ delivery: Delivery,
        _ id: LaunchID,
        _ reason: StopReason,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id),
            let slot = apps[index].launches[launchIndex].deliveries.firstIndex(where: {
                $0.id == delivery.id
            })
        else { return }
        let end = min(delivery.end, transition.now.awake + settings.expiryWarning)
        apps[index].launches[launchIndex].deliveries[slot].end = end
        warn(delivery.id, id, reason, &transition)
    }
}
