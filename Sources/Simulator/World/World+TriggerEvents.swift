import DeviceCore
import Vocabulary

/// Events of the triggers that are not requested, for each app that declares their mode.
extension World {
    func planTriggerEvents() {
        for trigger in Trigger.ofEvents { planNext(trigger) }
    }

    private func planNext(_ trigger: Trigger) {
        plan(.triggered(trigger), after: .minutes(random.within(1...240)))
    }

    func happen(_ trigger: Trigger) {
        planNext(trigger)
        let apps = plans.filter { $0.isInstalled && !$0.isLeftOut && $0.manifest.declares(trigger) }
        guard daemonIsAlive, !apps.isEmpty else { return }
        let app = apps[random.below(apps.count)].id
        // Few names, so that one takes the place of another. Now and then more than may wait.
        let isMany = random.chance(1, in: 4)
        let numbers = isMany ? Array(0..<Device.pendingEvents + 4) : [random.below(3)]
        for number in numbers { inbox.append(.triggered(event(trigger, app, "event\(number)"))) }
    }

    /// It has one field more than its app may know.
    private func event(_ trigger: Trigger, _ app: AppID, _ name: String) -> TriggerEvent {
        let fields = trigger.message + ["secret"]
        return TriggerEvent(
            trigger: trigger,
            app: app,
            identifier: name,
            payload: ValueMap(fields.map { ($0, .string(name)) })
        )
    }
}
