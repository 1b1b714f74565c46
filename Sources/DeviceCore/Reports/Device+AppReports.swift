package import Vocabulary

/// What an app may ask of itself (`App1`).
extension Device {
    /// What it submitted and has not accepted.
    package func pendingRequests(of app: AppID) -> [PendingRequest] {
        guard let index = apps.index(of: app) else { return [] }
        return apps[index].requests
            .filter { $0.origin == .submitted && $0.isPending && $0.mode != .simulated }
            .compactMap { request in
                request.trigger.taskKind.map { kind in
                    PendingRequest(
                        identifier: request.identifier,
                        kind: kind,
                        earliest: request.earliest?.secondsSince1970,
                        needs: request.needs
                    )
                }
            }
    }

    /// What it may use, and, when it was measured, what it does. Nil: no launch, nothing is used.
    package func limits(of launch: LaunchID?, _ usage: Usage?, at now: Moment) -> Limits {
        guard let launch, let found = self.launch(launch)?.launch,
            let allowance = allowance(of: launch, at: now)
        else { return Limits(state: .notRunning) }
        var limits = Limits(state: found.presence.told)
        if let usage = usage ?? allowance.usage {
            (limits.memory, limits.cpu) = (usage.memory, usage.cpu.seconds)
        }
        limits.memoryLimit = allowance.memoryLimit
        if let limit = allowance.cpuLimit {
            limits.cpuLimit = Double(limit) / 100
            limits.cpuWindow = settings.cpuWindow.seconds
        }
        limits.deadline = allowance.end?.monotonicSeconds
        return limits
    }
}

extension Launch.Presence {
    fileprivate var told: AppPresence {
        switch self {
        case .foreground: .foreground
        case .background: .background
        case .suspended: .suspended
        }
    }
}
