import DeviceCore
import Vocabulary

/// No run takes longer than it was granted, in awake time; told from what the machine was made to
/// do, not from what the device believes. While no daemon runs, or the store fails, nobody can
/// keep the time: what is over by then is ended soon after.
final class GrantsBounded: Invariant {
    let name = "no grant exceeds its length"
    /// By launch: until when it may run at the most.
    private var limits: [UInt64: AwakeTime] = [:]
    private var longest = Interval.zero
    private var graceUntil = AwakeTime(nanoseconds: .min)

    func rebooted() {
        limits.removeAll()
        graceUntil = AwakeTime(nanoseconds: .min)
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        let now = turn.moment
        if turn.isStart || turn.wasRolledBack || world.storeTrouble != nil {
            graceUntil = now.awake + .seconds(12)
        }
        for effect in turn.performed {
            switch effect {
            case .spawn(let launch, let spec):
                if spec.weight == .background { extend(launch, device, world, now) }
            case .thaw(let launch): extend(launch, device, world, now)
            case .tell(let launch, .offer): extend(launch, device, world, now)
            case .weigh(let launch, .foreground): limits[launch.number] = nil
            case .weigh(let launch, .background):
                limits[launch.number] = now.awake + .seconds(180 + 30)
                extend(launch, device, world, now)
            case .freeze(let launch), .release(let launch): limits[launch.number] = nil
            case .save, .attach, .probe, .cancelProbe, .terminate, .kill, .measure, .checkLocks,
                .limitMemory, .setDeadline, .tell, .holdAwake, .watchIdle, .notifyFailures,
                .watchUse, .reply,
                .arm,
                .announce:
                break
            }
        }
        // Processing has longer from the moment on at which the device is idle and charging.
        for entry in turn.entries {
            guard case .condition = entry.event else { continue }
            for (_, launch) in device.launches where launch.wake?.trigger == .processing {
                extend(launch.id, device, world, now)
            }
            break
        }
        // Work for an app that runs anyhow.
        for look in turn.launches where look.launch?.wake?.began == now {
            extend(look.id, device, world, now)
        }
        guard !turn.wasKilled, now.awake > graceUntil else { return nil }
        for process in world.processes where process.isRunning {
            guard let limit = limits[process.launch.number],
                now.awake > limit + .seconds(5), isOver(process, device)
            else { continue }
            return "launch \(process.launch) runs \(now.awake - limit) longer than it may"
        }
        return nil
    }

    /// A program whose window nobody watches is never frozen; it has no grant.
    private func isOver(_ process: VirtualProcess, _ device: Device) -> Bool {
        guard let (app, launch) = device.launch(process.launch) else { return true }
        guard launch.presence != .foreground else { return false }
        if launch.wake != nil || launch.ending != nil || !launch.tasks.isEmpty { return true }
        let manifest = device.apps[app].manifest
        return launch.isConnected && manifest != nil
    }

    private func extend(_ launch: LaunchID, _ device: Device, _ world: World, _ now: Moment) {
        guard let (_, found) = device.launch(launch), found.presence != .foreground else { return }
        var grant = found.finishUp == nil ? Interval.seconds(30) : .seconds(180)
        let isProcessing =
            found.wake?.trigger == .processing
            || found.deliveries.contains { $0.trigger == .processing }
        if isProcessing {
            grant =
                device.conditions.externalPower && device.conditions.deviceIdle
                ? .minutes(30) : .minutes(5)
        }
        let end = now.awake + grant + .seconds(5)
        limits[launch.number] = max(end, limits[launch.number] ?? end)
    }
}
