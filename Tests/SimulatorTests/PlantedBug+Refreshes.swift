import DeviceCore
import Simulator
import Vocabulary

/// Refreshes that nobody may have.
extension PlantedBug {
    private static let rule = "the refresh budget is kept"

    static let refreshes: [PlantedBug] = [
        PlantedBug("there are more refreshes than the user wants", rule).with {
            $0.event = { [$0.changingSettings { $0.refreshesPerDay = 99 }] }
            ($0.days, $0.notices) = (8, "today, of")
        },
        PlantedBug("there are more, and the history calls them tests", rule).with {
            $0.event = { [$0.changingSettings { $0.refreshesPerDay = 99 }] }
            $0.changes = {
                $0.map {
                    guard case .append(var line) = $0, case .wake(var report) = line.entry
                    else { return $0 }
                    report.simulated = true
                    line.entry = .wake(report)
                    return .append(line)
                }
            }
            ($0.days, $0.notices) = (8, "today, of")
        },
        PlantedBug("apps are taken for used that nobody has used", rule).with {
            $0.event = { event in
                // Whenever the user comes.
                guard case .condition(.idle, .kernel, .value(0)) = event else { return [event] }
                return [event] + (0..<16).map { .used(AppID("app\($0)")) }
            }
            ($0.days, $0.notices) = (12, "nothing is known of its use")
        },
    ]
}
