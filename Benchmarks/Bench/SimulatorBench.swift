import Glibc
import Simulator

/// A device with 30 apps over 30 days, every invariant checked at every step.
enum SimulatorBench {
    static func figures() -> [Figure] {
        var days: [Double] = []
        var events: [Double] = []
        for seed in 1...5 as ClosedRange<UInt64> {
            let begin = processorSeconds()
            let report = DeviceSimulation.run(days: 30, apps: 30, seed: seed)
            let seconds = processorSeconds() - begin
            if let failure = report.failure {
                // No figure for a device that does not keep its rules.
                print("     (seed \(seed), \(failure.invariant): \(failure.text))")
                days.append(0)
                continue
            }
            days.append(Double(report.days) / seconds)
            events.append(Double(report.events) / seconds)
        }
        return [
            Figure(
                name: "simulator, days of a device with 30 apps, all invariants on",
                unit: "a second of processor time",
                ours: days.median,
                limit: .atLeast(100)
            ),
            Figure(
                name: "simulator, events",
                unit: "a second of processor time",
                ours: events.median
            ),
        ]
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
