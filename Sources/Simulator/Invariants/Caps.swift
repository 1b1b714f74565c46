import DeviceCore
import Vocabulary

/// At most one refresh and ten processing requests of an app are pending, and none twice.
final class Caps: Invariant {
    let name = "no app has more pending than it may"

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard turn.hasSubmission else { return nil }
        let work = world.watch.work
        for entry in turn.entries {
            guard let submission = entry.event.submission,
                let app = submission.app ?? submission.identifier.map({ AppID("command.\($0)") })
            else { continue }
            let pending = (work.pending[app] ?? []).compactMap { work.byNumber[$0] }
            if Set(pending.map(\.identifier)).count < pending.count {
                return "\(app) has one task pending twice: \(pending.map(\.identifier))"
            }
            let refreshes = pending.count { $0.trigger == .refresh }
            if refreshes > world.settings.pendingRefreshes {
                return "\(app): \(refreshes) refreshes"
            }
            if pending.count - refreshes > world.settings.pendingProcessing {
                return "\(app): \(pending.count - refreshes) processing requests"
            }
        }
        return nil
    }
}
