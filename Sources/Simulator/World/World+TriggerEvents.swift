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
        let app = apps[random.below(apps.count)]
        let name = "event\(random.below(3))"
        inbox.append(
            .triggered(
                TriggerEvent(
                    trigger: trigger,
                    app: app.id,
                    identifier: name,
                    payload: ValueMap(trigger.message.map { ($0, .string(name)) })
                )
            )
        )
    }
}
