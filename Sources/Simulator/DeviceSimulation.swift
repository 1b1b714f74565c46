package import DeviceCore
import Vocabulary

/// A virtual device with its apps, its user and its faults, run for some days from one number.
package enum DeviceSimulation {
    package typealias Plain = Simulated<VirtualPort>

    /// What makes a run what it is. Equal plans give equal runs.
    package struct Plan: Hashable, Sendable {
        package var days: Int
        package var apps: Int
        package var seed: UInt64
        /// Apps that are left out, by number.
        package var without: [Int] = []
        /// Kinds of faults that are left out.
        package var calm: [Fault] = []
        /// Faults that are left out, by ordinal.
        package var suppressed: [Int] = []
        /// Kill here the first time, then at the next one, and so on.
        package var targets: [EffectPair] = []
        /// The same of messages.
        package var messageTargets: [MessageCut] = []
        /// All apps link the library, and many messages are cut.
        package var isOfClients = false

        package init(days: Int, apps: Int, seed: UInt64) {
            (self.days, self.apps, self.seed) = (days, apps, seed)
        }
    }

    package static func make<Port: SimulatedPort>(
        _ plan: Plan,
        invariants: [any Invariant] = Invariants.all(),
        corrupt: ((Event) -> [Event])? = nil,
        port: @escaping (VirtualPort) -> Port
    ) -> Simulated<Port> {
        var swarm = Swarm(seed: plan.seed)
        for fault in plan.calm { swarm.set(fault, to: 0) }
        swarm.suppressed = plan.suppressed
        var plans = (0..<plan.apps).map {
            AppPlan.drawn(number: $0, seed: plan.seed, mustLink: plan.isOfClients)
        }
        for index in plan.without where plans.indices.contains(index) {
            plans[index].isLeftOut = true
        }
        var job = AppPlan(
            manifest: AppManifest(id: AppID("command"), name: "A command"),
            isLinked: false,
            seed: plan.seed
        )
        job.isClumsy = true
        let watch = Watch(invariants: invariants)
        let world = World(plans: plans + [job], swarm: swarm, seed: plan.seed, watch: watch)
        world.killInjector.isArmed = true
        world.killInjector.targets = plan.targets
        world.killInjector.messageTargets = plan.messageTargets
        if plan.isOfClients {
            world.killInjector.rareness = 2
            world.isTalkative = true
        }
        world.drawSettings()
        world.begin()
        return Simulated(world: world, watch: watch, seed: plan.seed, corrupt: corrupt, port: port)
    }

    /// Runs a seed; one that breaks a rule is made small first.
    package static func run(days: Int, apps: Int, seed: UInt64) -> SimulationReport {
        shrunk(Plan(days: days, apps: apps, seed: seed), runs: 80)
    }

    package static func report(_ plan: Plan) -> SimulationReport {
        SimulationReport(run(plan), plan)
    }

    /// Runs `plan`; if it fails, smaller plans that fail alike, at most `runs` of them.
    package static func shrunk(
        _ plan: Plan,
        runs: Int,
        rules: @escaping () -> [any Invariant] = Invariants.all
    ) -> SimulationReport {
        let run = run(plan, rules: rules)
        guard run.watch.violation != nil else { return SimulationReport(run, plan) }
        var shrinking = Shrinking(run, plan, runs: runs, rules: rules)
        shrinking.shrink()
        return SimulationReport(shrinking.smallest, shrinking.plan)
    }

    /// Runs `plan` to its end, or to the first rule that is broken.
    package static func run(
        _ plan: Plan,
        rules: () -> [any Invariant] = Invariants.all
    ) -> Plain {
        var simulated = make(plan, invariants: rules()) { $0 }
        simulated.run(until: .days(Int64(plan.days)))
        if simulated.watch.violation == nil { simulated.replayLife() }
        return simulated
    }
}
