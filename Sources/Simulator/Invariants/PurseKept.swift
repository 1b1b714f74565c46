import DeviceCore
import Vocabulary

/// On no day begin more refreshes that were chosen than the purse held by which they were: that of
/// all apps together, or each app's own.
final class PurseKept: Invariant {
    let name = "the purse of refreshes is kept"
    private var day = Int64.min
    private var common = Purse()
    private var own: [AppID: Purse] = [:]
    /// Those that run and are counted.
    private var counted: Set<RequestID> = []

    private struct Purse {
        var spent: Int64 = 0
        /// The most of the day: what a purse holds goes by what the apps are worth.
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
            common = Purse()
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
                switch decision.purse {
                case .device:
                    guard !common.take(of: budget) else { continue }
                    return "refresh \(common.spent) of the day, of \(common.held) for all apps"
                case .app:
                    guard !own[app.id, default: Purse()].take(of: budget) else { continue }
                    return "\(app.id) has more refreshes a day than the \(budget) of its own"
                }
            }
        }
        return nil
    }
}
