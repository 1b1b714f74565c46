package import Vocabulary

/// Something that happened and concerns one app, which may be woken for it.
package struct TriggerEvent: Hashable, Sendable, Codable {
    package var trigger: Trigger
    package var app: AppID
    package var identifier: String
    package var payload: ValueMap

    package init(trigger: Trigger, app: AppID, identifier: String, payload: ValueMap) {
        (self.trigger, self.app) = (trigger, app)
        (self.identifier, self.payload) = (identifier, payload)
    }
}

extension Device {
    /// How many events of one trigger wait for an app, if its row does not say otherwise.
    package static let pendingEvents = 16

    /// Makes an event a request, which waits for the gates of its trigger. It takes the place of
    /// an earlier one with the same identifier that has not been received yet.
    mutating func enqueue(_ event: TriggerEvent, _ transition: inout Transition) {
        let trigger = event.trigger
        // What needs no mode waits for a manifest that is missing or half edited.
        guard let index = apps.index(of: event.app),
            apps[index].manifest?.value.declares(trigger) ?? (trigger.mode == nil)
        else { return }
        let request = Request(
            id: nextSerial(RequestKind.self),
            identifier: event.identifier,
            trigger: trigger,
            origin: .event,
            needs: Needs(),
            submittedAt: transition.now.wall,
            payload: event.payload
        )
        for old in apps[index].requests where old.isReplaced(by: request) {
            giveUp(old, of: index)
        }
        let waiting = apps[index].requests.filter { $0.isPendingEvent(of: trigger) }
        if waiting.count >= trigger.row.mostPending, !markCancelled(waiting[0], of: index) {
            let reason = "too many of the same kind wait for the app"
            drop(waiting[0], of: index, reason: reason, &transition)
        }
        enqueue(request, of: index)
    }
}
