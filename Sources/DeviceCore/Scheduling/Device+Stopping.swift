import Vocabulary

/// Runs that may not go on: their conditions stopped holding (C8), the user came back, paused
/// everything, or took the manifest away.
extension Device {
    /// A condition changed: expires early what needed it. Only the change counts, so that what
    /// was started in spite of a condition (user-initiated, simulated) is not stopped by it.
    mutating func stopWhatMayNotGoOn(after condition: Condition, _ transition: inout Transition) {
        guard let reason = lossReason(condition) else { return }
        for entry in liveLaunches {
            guard let (index, launchIndex) = find(entry.launch) else { continue }
            let launch = apps[index].launches[launchIndex]
            // What the user looks at goes on.
            guard let wake = launch.wake, launch.presence != .foreground else { continue }
            if launch.isCommand {
                if concerns(reason, wake.trigger, needs(of: launch.request, index)) {
                    take(.stopped(reason, deliveries: nil), launch.id, &transition)
                }
                continue
            }
            let stopped = launch.deliveries.filter {
                concerns(reason, $0.trigger, needs(of: $0.request, index))
            }
            guard !stopped.isEmpty else { continue }
            take(.stopped(reason, deliveries: stopped.map(\.id)), launch.id, &transition)
        }
    }

    private func lossReason(_ condition: Condition) -> StopReason? {
        switch condition {
        case .power: conditions.isAssured(.power) ? nil : .powerLost
        case .network: conditions.isAssured(.network) ? nil : .networkLost
        case .idle: conditions.deviceIdle ? nil : .deviceInUse
        case .lowPower: conditions.lowPower ? .lowPowerMode : nil
        case .thermal: conditions.isTooWarm ? .thermal : nil
        case .memory: conditions.isMemoryShort ? .memoryPressure : nil
        case .metered: conditions.isAssured(.metered) ? nil : .networkMetered
        case .lowData: conditions.lowData ? .lowDataMode : nil
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
        case .networkMetered, .lowDataMode: needs.unmetered
        case .dataLocked: needs.unlocked
        case .deviceInUse, .lowPowerMode, .thermal, .memoryPressure:
            trigger.grant.endsWhenDeviceIsBusy
        case .timeout, .memoryLimit, .cpuMonitor, .fileLock, .launchWatchdog, .userClosed,
            .cancelled, .paused, .simulated, .manifestRemoved, .interruptedTooLong, .neverCompleted:
            false
        }
    }

    /// Processing has longer while the device is idle and charging.
    mutating func grantChanged(by shift: Interval, _ transition: inout Transition) {
        guard shift != .zero else { return }
        for entry in liveLaunches { take(.grantChanged(by: shift), entry.launch, &transition) }
    }

    mutating func stopAllRuns(_ reason: StopReason, _ transition: inout Transition) {
        for entry in liveLaunches {
            guard let launch = launch(entry.launch)?.launch else { continue }
            let runs = launch.isCommand ? launch.wake != nil : launch.presence != .foreground
            if runs { take(.stopped(reason, deliveries: nil), launch.id, &transition) }
        }
    }
}
