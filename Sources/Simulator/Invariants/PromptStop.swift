import DeviceCore
import Vocabulary

/// Processing is stopped, or told to stop, in the very turn in which the user comes back or the
/// power that it needs goes.
final class PromptStop: Invariant {
    let name = "processing stops when the user comes back or its power goes"
    private var idle = true
    private var power = true

    func restored(_ device: Device, _ world: World) -> String? {
        (idle, power) = (true, true)
        return nil
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard !turn.wasRolledBack, !turn.wasKilled else { return nil }
        let userCame = idle && world.value(.idle) == 0
        let powerWent = power && world.value(.power) == 0
        (idle, power) = (world.value(.idle) == 1, world.value(.power) == 1)
        guard userCame || powerWent else { return nil }
        for (app, launch) in device.launches {
            // What the user looks at goes on.
            guard let wake = launch.wake, launch.ending == nil, launch.presence != .foreground
            else { continue }
            if launch.requestID != nil {
                guard wake.trigger == .processing, launch.phase != .judging,
                    userCame || needsPower(launch.requestID, app, device)
                else { continue }
                return "launch \(launch.id) goes on"
            }
            for delivery in launch.deliveries where delivery.trigger == .processing {
                guard userCame || needsPower(delivery.request, app, device), !delivery.warned
                else { continue }
                return "delivery \(delivery.id) of launch \(launch.id) goes on"
            }
        }
        return nil
    }

    private func needsPower(_ id: RequestID?, _ app: Int, _ device: Device) -> Bool {
        device.apps[app].requests.contains { $0.id == id && $0.needs.power }
    }
}
