import DeviceCore
import Vocabulary

/// Off the charger no app, and not the device, is woken more often on a day than it may.
final class WithinQuotas: Invariant {
    let name = "quotas are kept"
    private var day = Int64.min
    private var all: Int64 = 0
    private var byApp: [AppID: Int64] = [:]
    private var begun: [UInt64: Moment] = [:]
    /// Those of the day that were counted, by launch, until it is known whether they ran.
    private var counted: [UInt64: AppID] = [:]
    private var wasOnBattery = false

    func restored(_ device: Device, _ world: World) -> String? {
        for (_, launch) in device.launches { begun[launch.id.number] = launch.wake?.began }
        return nil
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        // What begins in the turn in which the charger goes may still have begun with it.
        let isOnBattery = world.value(.power) == 0
        defer { wasOnBattery = isOnBattery }
        if turn.moment.local.day != day {
            day = turn.moment.local.day
            all = 0
            byApp.removeAll()
            counted.removeAll()
        }
        for look in turn.launches where look.launch?.wake == nil {
            // What never began was no wake.
            guard let id = counted.removeValue(forKey: look.id.number),
                !world.watch.hasRun(look.id)
            else { continue }
            all -= 1
            byApp[id, default: 1] -= 1
        }
        for look in turn.launches {
            guard let app = look.app, let wake = look.launch?.wake,
                begun[look.id.number] != wake.began
            else { continue }
            begun[look.id.number] = wake.began
            guard wake.mode != .simulated, isOnBattery, wasOnBattery else { continue }
            all += 1
            let id = device.apps[app].id
            byApp[id, default: 0] += 1
            counted[look.id.number] = id
            guard wake.mode == .normal else { continue }
            if all > device.settings.deviceWakesPerDay {
                return "wake \(all) of the day, of \(device.settings.deviceWakesPerDay)"
            }
            if let mine = byApp[id], mine > device.settings.appWakesPerDay {
                return "wake \(mine) of \(id) today, of \(device.settings.appWakesPerDay)"
            }
        }
        return nil
    }
}
