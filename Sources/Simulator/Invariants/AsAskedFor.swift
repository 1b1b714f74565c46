import DeviceCore
import Vocabulary

/// What is started, and what apps are offered, is what the record says it is for; and what no
/// record is for, is not started.
final class AsAskedFor: Invariant {
    let name = "what runs is what was asked for"

    func ended(_ turn: Turn, _ world: World) -> String? {
        let work = world.watch.work
        for start in turn.started {
            guard let process = world.process(start.launch), let trigger = process.command else {
                continue
            }
            guard let number = work.request(of: start.launch) else {
                return "launch \(start.launch) runs a command for nothing that is on record"
            }
            guard let asked = work.byNumber[number] else { continue }
            if (asked.app, asked.trigger) != (start.app, trigger) {
                return "launch \(start.launch) runs \(start.app), \(trigger) for request \(number)"
            }
        }
        for offer in turn.offered {
            guard let process = world.process(offer.launch) else { continue }
            let number = work.request(of: offer.delivery)
            guard let asked = number.flatMap({ work.byNumber[$0] }) else {
                if isRequested(offer.kind),
                    !work.mayHaveAsked(for: offer.identifier, of: process.appID)
                {
                    return "\(process.appID) is offered \(offer.identifier), and never asked for it"
                }
                continue
            }
            if (asked.app, asked.identifier, Offer.Kind.trigger(asked.trigger))
                != (process.appID, offer.identifier, offer.kind)
            {
                let kind = offer.kind.rawValue
                return "\(process.appID) is offered \(offer.identifier), \(kind) for "
                    + "\(asked.app)'s \(asked.identifier), \(asked.trigger)"
            }
        }
        return nil
    }

    /// Not of what happens by itself, or in a session (`TaskEndsTold`).
    private func isRequested(_ kind: Offer.Kind) -> Bool {
        switch kind {
        case .fetch: false
        case .trigger(let trigger):
            trigger != .sessionEvents && !Trigger.ofEvents.contains(trigger)
        }
    }
}
