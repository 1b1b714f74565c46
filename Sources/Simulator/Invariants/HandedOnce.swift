import DeviceCore
import Vocabulary

/// No process is handed one request twice, and none runs again after its committed receipt: unless
/// it was put back because the device stopped it or a reboot did, or it asked to be run again. What
/// an app declined it is not told to begin.
final class HandedOnce: CommitInvariant {
    let name = "a request is handed over once"
    /// By request: the launch and delivery that it was given to.
    private var given: [UInt64: (launch: LaunchID, delivery: DeliveryID?, boot: Int)] = [:]
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

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        for effect in turn.performed {
            switch effect {
            case .spawn(let launch, _):
                guard let found = device.launch(launch), let request = found.launch.requestID,
                    isUsedUp(request, found.app, device)
                else { continue }
                if let text = handed(request, launch, nil, world) { return text }
            case .tell(let launch, .go(let id, _)):
                if world.process(launch)?.link.declined.contains(id) == true {
                    return "delivery \(id) of launch \(launch) goes on, which its app declined"
                }
                guard let found = device.launch(launch),
                    let delivery = found.launch.deliveries.first(where: { $0.id == id }),
                    let request = delivery.request, isUsedUp(request, found.app, device)
                else { continue }
                if let text = handed(request, launch, id, world) { return text }
            case .save, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill,
                .release, .measure, .checkLocks, .weigh, .limitMemory, .setDeadline, .tell,
                .holdAwake, .watchIdle,
                .notifyFailures,
                .watchUse, .reply, .arm, .announce:
                break
            }
        }
        return nil
    }

    /// Standing requests, and those asked for again after each run, come back by design.
    private func isUsedUp(_ request: RequestID, _ app: Int, _ device: Device) -> Bool {
        device.apps[app].requests.contains {
            $0.id == request && $0.origin == .submitted && $0.every == nil
        }
    }

    private func handed(
        _ request: RequestID,
        _ launch: LaunchID,
        _ delivery: DeliveryID?,
        _ world: World
    ) -> String? {
        defer { given[request.number] = (launch, delivery, boot) }
        guard let before = given[request.number] else { return nil }
        if let delivery {
            return before.delivery == delivery
                ? nil : "request \(request) is handed over again, to launch \(launch)"
        }
        if before.launch == launch { return "launch \(launch) is started twice" }
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
            case .timeout, .powerLost, .networkLost, .networkMetered, .deviceInUse, .dataLocked,
                .lowPowerMode, .thermal, .memoryPressure, .paused, .userClosed, .manifestRemoved,
                .interruptedTooLong, .launchWatchdog, .simulated:
                true
            }
        case .newData, .noData, .failed, .succeeded, .unsuccessful, .crashed, .exited, .unknown:
            false
        }
    }
}
