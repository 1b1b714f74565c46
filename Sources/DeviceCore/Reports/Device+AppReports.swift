package import Vocabulary

/// What an app may ask of itself (`App1`).
extension Device {
    /// What it submitted and has not accepted.
    package func pendingReport(of app: AppID) -> [Value] {
        guard let index = apps.index(of: app) else { return [] }
        return apps[index].requests
            .filter { $0.origin == .submitted && $0.isPending && $0.mode != .simulated }
            .map { request in
                var fields: ValueMap = [
                    "identifier": .string(request.identifier),
                    "kind": .string(request.trigger.rawValue),
                    "power": .bool(request.needs.power), "network": .bool(request.needs.network),
                    "unmetered": .bool(request.needs.unmetered),
                    "unlocked": .bool(request.needs.unlocked),
                ]
                if let earliest = request.earliest {
                    fields["earliest"] = .double(Double(earliest.nanoseconds) / 1e9)
                }
                return .map(fields)
            }
    }

    /// What it may use, and, when it was measured, what it does. Nil: no launch, nothing is used.
    package func limitsReport(of launch: LaunchID?, _ usage: Usage?, at now: Moment) -> Value {
        guard let launch, let found = self.launch(launch)?.launch,
            let allowance = allowance(of: launch, at: now)
        else { return ["state": "not running"] }
        var fields: ValueMap = ["state": .string(found.presence.rawValue)]
        if let usage = usage ?? allowance.usage {
            fields["memory"] = .integer(usage.memory)
            fields["cpu"] = .double(usage.cpu.seconds)
        }
        if let limit = allowance.memoryLimit { fields["memory-limit"] = .integer(limit) }
        if let limit = allowance.cpuLimit {
            fields["cpu-limit"] = .double(Double(limit) / 100)
            fields["cpu-window"] = .double(settings.cpuWindow.seconds)
        }
        if let deadline = allowance.end?.monotonicSeconds {
            fields["deadline"] = .double(deadline)
        }
        return .map(fields)
    }
}
