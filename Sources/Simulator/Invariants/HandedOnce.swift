import DeviceCore
import Vocabulary

/// No process is handed one request twice, and none runs again after its committed receipt: unless
/// it was put back because the device stopped it or a reboot did, or it asked to be run again. What
/// an app declined it is not told to begin.
final class HandedOnce: CommitInvariant {
    let name = "a request is handed over once"
    /// By request: the launch and delivery that it was given to.
    private var given: [UInt64: (launch: LaunchID, delivery: DeliveryID?, boot: Int)] = [:]
    private var launchOf: [DeliveryID: LaunchID] = [:]
    private var spawned: Set<LaunchID> = []
    private var results: [UInt64: RunResult] = [:]
    private var boot = 0

    func rebooted() { boot += 1 }

    func committed(_ changes: [Change]) -> String? {
        for change in changes {
            guard case .append(let line) = change, case .wake(let report) = line.entry else {
                continue
            }
            results[report.launch.number] = report.result
        }
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        for start in turn.started {
            guard spawned.insert(start.launch).inserted else {
                return "launch \(start.launch) is started twice"
            }
            if let text = handed(
                world.watch.work.request(of: start.launch),
                start.launch,
                nil,
                world
            ) {
                return text
            }
        }
        for (launch, id) in turn.toldToGo {
            if world.process(launch)?.talk.declined.contains(id) == true {
                return "delivery \(id) of launch \(launch) goes on, which its app declined"
            }
            if let other = launchOf[id], other != launch {
                return "delivery \(id) goes on in launch \(launch), and was \(other)'s"
            }
            launchOf[id] = launch
            if let text = handed(world.watch.work.request(of: id), launch, id, world) {
                return text
            }
        }
        return nil
    }

    /// Standing requests, and those asked for again after each run, come back by design.
    private func handed(
        _ request: UInt64?,
        _ launch: LaunchID,
        _ delivery: DeliveryID?,
        _ world: World
    ) -> String? {
        guard let request, world.watch.work.byNumber[request]?.isOnce == true else { return nil }
        defer { given[request] = (launch, delivery, boot) }
        guard let before = given[request] else { return nil }
        if let delivery {
            return before.delivery == delivery
                ? nil : "request \(request) is handed over again, to launch \(launch)"
        }
        guard before.boot == boot, world.watch.hasRun(before.launch),
            let result = results[before.launch.number]
        else { return nil }
        return result.putsBack ? nil : "request \(request) runs again after \(result)"
    }
}

extension RunResult {
    /// Whether a command may be run again from its start after this.
    fileprivate var putsBack: Bool {
        switch self {
        case .retry, .interrupted, .notStarted: true
        case .expired(let reason), .terminated(let reason):
            switch reason {
            case .memoryLimit, .cpuMonitor, .fileLock, .cancelled, .neverCompleted: false
            case .timeout, .powerLost, .networkLost, .networkMetered, .lowDataMode, .deviceInUse,
                .dataLocked, .lowPowerMode, .thermal, .memoryPressure, .paused, .userClosed,
                .manifestRemoved, .interruptedTooLong, .launchWatchdog, .simulated:
                true
            }
        case .newData, .noData, .failed, .succeeded, .unsuccessful, .crashed, .exited, .unknown:
            false
        }
    }
}
