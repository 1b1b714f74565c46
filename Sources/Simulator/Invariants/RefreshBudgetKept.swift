import DeviceCore
import Vocabulary

/// On no day begin more refreshes that were chosen than the budget held by which they were: that of
/// all apps together, or each app's own.
final class RefreshBudgetKept: Invariant {
    let name = "the refresh budget is kept"
    private var day = Int64.min
    private var common = Budget()
    private var own: [AppID: Budget] = [:]
    /// Those that run and are counted.
    private var counted: Set<RequestID> = []

    private struct Budget {
        var spent: Int64 = 0
        /// The most of the day: what a budget holds goes by what the apps are worth.
        var held: Int64 = 0

        mutating func take(of budget: Int64) -> Bool {
            spent += 1
            held = max(held, budget)
            return spent <= held
        }
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        let days = turn.entries.map(\.moment.local.day)
        let isOneDay = days.allSatisfy { $0 == days.first }
        if let last = days.last, last != day || !isOneDay {
            // Also of a day that comes twice: the clock was set, or the zone is another.
            day = last
            common = Budget()
            own.removeAll()
        }
        for look in turn.launches {
            guard let app = look.app.flatMap({ device.apps.at($0) }) else { continue }
            for request in app.requests where request.launch == nil { counted.remove(request.id) }
            for request in app.requests where request.launch != nil && request.mode == .normal {
                guard let decision = request.decision, let budget = decision.budget,
                    counted.insert(request.id).inserted
                else { continue }
                // When in the turn it began nobody knows.
                guard isOneDay else { continue }
                switch decision.scope {
                case .device:
                    guard !common.take(of: budget) else { continue }
                    return "refresh \(common.spent) of the day, of \(common.held) for all apps"
                case .app:
                    guard !own[app.id, default: Budget()].take(of: budget) else { continue }
                    return "\(app.id) has more refreshes a day than the \(budget) of its own"
                }
            }
        }
        return nil
    }
}
