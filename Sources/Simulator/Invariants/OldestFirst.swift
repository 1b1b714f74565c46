import DeviceCore
import Vocabulary

/// When memory is short, suspended apps end in order of last use (A10). It keeps count of use by
/// itself: by the history, and by what is in front of the user.
final class OldestFirst: Invariant {
    let name = "memory is taken from the longest unused first"
    private var lastUse: [AppID: WallTime] = [:]
    private var foreground: [AppID] = []
    /// Power may have taken along what was not synced: after a boot, the store has the word.
    private var isNewBoot = false

    func rebooted() { isNewBoot = true }

    func restored(_ device: Device, _ world: World) -> String? {
        guard isNewBoot else { return nil }
        isNewBoot = false
        lastUse.removeAll()
        var last: WallTime?
        for index in 0..<device.apps.endIndex {
            guard let record = device.apps.at(index)?.record else { continue }
            lastUse[record.id] = record.lastUsed
            last = max(last ?? .distantPast, record.lastUsed ?? .distantPast)
        }
        // What was in front when the power went was used last.
        for app in inFront(device) { lastUse[app] = last }
        foreground = []
        return nil
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        let text = wrong(turn, device)
        recordUse(turn, device)
        return text
    }

    private func wrong(_ turn: Turn, _ device: Device) -> String? {
        for effect in turn.performed {
            guard case .kill(let id) = effect, let (app, launch) = device.launch(id) else {
                continue
            }
            guard let ending = launch.ending else {
                return "launch \(id) is killed, which nobody decided"
            }
            guard ending.reason == .memoryPressure, launch.presence == .suspended else { continue }
            // What else happened in the turn may have come before or after the decision.
            guard turn.entries.count == 1, !turn.hasUse else { continue }
            let used = lastUse[device.apps[app].id] ?? .distantPast
            for (index, other) in device.launches
            where other.presence == .suspended && other.ending == nil
                && lastUse[device.apps[index].id] ?? .distantPast < used
            {
                let mine = device.apps[index].id
                return """
                    launch \(id) of \(device.apps[app].id) is ended before \(other.id) of \
                    \(mine), which was used earlier: \(lastUse[mine] ?? .distantPast) < \(used)
                    """
            }
        }
        return nil
    }

    private func recordUse(_ turn: Turn, _ device: Device) {
        // Stamps of a future that the clock was set back from are now, as of when it was set: a
        // store that takes nothing keeps that waiting.
        for entry in turn.entries where entry.event == .clockChanged {
            lastUse = lastUse.mapValues { min($0, entry.moment.wall) }
        }
        for line in turn.lines {
            guard case .use(let kind) = line.entry, kind != .closed else { continue }
            lastUse[line.app] = line.at
        }
        let inFront = inFront(device)
        for app in foreground where !inFront.contains(app) { lastUse[app] = turn.moment.wall }
        foreground = inFront
    }

    private func inFront(_ device: Device) -> [AppID] {
        var apps: [AppID] = []
        device.forEachLaunch { app, launch in
            if launch.presence == .foreground { apps.append(device.apps[app].id) }
        }
        return apps
    }
}

extension Turn {
    /// An app was used in it.
    fileprivate var hasUse: Bool {
        lines.contains { line in
            if case .use = line.entry { true } else { false }
        }
    }
}
