import DeviceCore
import Simulator
import Testing
import Vocabulary

/// Requirement B5: refreshes leave the user's sleep alone, unless a charger pays.
struct SleepTests {
    /// Counts the refreshes that begin on battery, and those while the user sleeps.
    private final class Sleep: Invariant {
        let name = "sleep"
        var all = 0
        var asleep: [String] = []

        func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
            for look in turn.launches {
                guard let wake = look.launch?.wake, wake.trigger == .refresh,
                    wake.began.boot == turn.moment.boot, wake.mode == .normal,
                    // What the user told to run is the user's.
                    let app = look.app.map({ device.apps[$0] }), app.record.transient == nil,
                    world.sensors[Condition.allCases.firstIndex(of: .power) ?? 0] == .value(0)
                else { continue }
                all += 1
                let time = turn.moment.local.timeOfDay
                let isNight = time < world.user.rises || time > world.user.sleeps
                guard isNight, !world.user.isActive else { continue }
                asleep.append("\(app.id) at \(turn.moment.local)")
            }
            return nil
        }
    }

    @Test func `in 30 days at most 2 % of the refreshes on battery begin in the user's sleep`() {
        let sleep = Sleep()
        for seed: UInt64 in 1...3 {
            var plan = DeviceSimulation.Plan(days: 30, apps: 10, seed: seed)
            plan.calm = Fault.allCases
            #expect(DeviceSimulation.run(plan, rules: { [sleep] }).watch.violation == nil)
        }
        #expect(sleep.all > 400)
        #expect(sleep.asleep.count * 50 <= sleep.all, "\(sleep.asleep) of \(sleep.all)")
    }
}
