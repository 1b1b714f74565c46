import DeviceCore
package import Vocabulary

/// What a simulation came to. The same seed gives the same report.
package struct SimulationReport: Hashable, Sendable, Codable {
    package struct Count: Hashable, Sendable, Codable {
        package var name: String
        package var count: Int64
    }

    package struct Failure: Hashable, Sendable, Codable {
        package var invariant: String
        package var text: String
        /// Since the simulation began.
        package var after: Interval
        /// Apps and kinds of faults that it still takes.
        package var apps: [String]
        package var faults: [String]
        /// The last events with their decisions, oldest first.
        package var tail: [String]
    }

    package var seed: Int64
    package var days: Int64
    package var apps: Int64
    package var events: Int64
    package var turns: Int64
    package var commits: Int64
    package var wakes: Int64
    package var refreshesPerAppDay: Double
    /// Refreshes between midnight and five in the morning.
    package var refreshesAtNight: Int64
    package var results: [Count]
    package var reboots: Int64
    /// Times that the daemon was killed and came back.
    package var killsSurvived: Int64
    /// Lives of the daemon that were replayed from their log.
    package var livesReplayed: Int64
    package var faults: [Count]
    package var invariants: [String]
    package var pairsSeen: [EffectPair]
    package var pairsKilled: [EffectPair]
    package var failure: Failure?

    init<Port>(_ simulated: Simulated<Port>, _ plan: DeviceSimulation.Plan) {
        let figures = simulated.watch.figures
        let world = simulated.world
        seed = Int64(bitPattern: plan.seed)
        days = Int64(plan.days)
        apps = Int64(plan.apps)
        events = Int64(figures.events)
        turns = Int64(figures.turns)
        commits = Int64(figures.commits)
        wakes = Int64(figures.wakes)
        refreshesPerAppDay = Double(figures.refreshes) / Double(max(1, plan.days * plan.apps))
        refreshesAtNight = Int64(figures.refreshesAsleep)
        results = zip(RunResult.kindNames, figures.results).map {
            Count(name: $0, count: Int64($1))
        }
        reboots = Int64(world.bootNumber - 1)
        killsSurvived = Int64(simulated.lives - world.bootNumber)
        livesReplayed = Int64(simulated.replayed)
        faults = Fault.allCases.map {
            Count(name: $0.rawValue, count: Int64(world.swarm.counts[$0.index]))
        }
        invariants = simulated.watch.names
        pairsSeen = world.killInjector.pairsSeen
        pairsKilled = world.killInjector.pairsKilled
        failure = simulated.watch.violation.map {
            Failure(
                invariant: $0.invariant,
                text: $0.text,
                after: world.clock.elapsed,
                apps: (0..<plan.apps).filter { !plan.without.contains($0) }.map { "app\($0)" },
                faults: Fault.allCases.filter { world.swarm.counts[$0.index] > 0 }
                    .map(\.rawValue),
                tail: $0.tail
            )
        }
    }
}
