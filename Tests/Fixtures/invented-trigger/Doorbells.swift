import DeviceCore
import Simulator
import Vocabulary

/// What the world saw of the invented trigger.
final class Witness {
    /// Programs that were started, and have been offered nothing yet.
    private var spawned: Set<LaunchID> = []
    private var offers: [DeliveryID: Offer] = [:]
    private(set) var gates: Set<String> = []
    private(set) var launches = 0
    private(set) var begun = 0
    private(set) var lines = 0
    /// How often one was seen to wait since its app was launched for the same just before.
    private(set) var heldApart = 0
    /// Events with a field that their app must not see.
    private(set) var secrets = 0
    /// Events that more than may wait have driven out.
    private(set) var dropped = 0
    private(set) var ends: [String: Int] = [:]
    private(set) var mistakes: [String] = []

    func hears(_ event: Event) {
        if case .triggered(let ring) = event, ring.payload.keys != ["door"] { secrets += 1 }
    }

    func sees(_ effect: Effect) {
        switch effect {
        case .spawn(let launch, _): spawned.insert(launch)
        case .tell(let launch, .offer(let delivery, let offer))
        where offer.kind == .trigger(.doorbell):
            if spawned.remove(launch) != nil { launches += 1 }
            offers[delivery] = offer
            if offer.payload.keys != ["door"] {
                mistakes.append("a message held \(offer.payload.keys)")
            }
        case .tell(_, .go(let delivery, _)) where offers[delivery] != nil: begun += 1
        case .announce(let line):
            switch line.entry {
            case .wake(let run) where run.trigger == .doorbell:
                lines += 1
                ends[run.result.word, default: 0] += 1
            case .dropped(_, let reason):
                if reason.hasPrefix("too many of the same kind") { dropped += 1 }
            case .wake, .ended, .note, .use, .transferred: break
            }
        case .save, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill, .release,
            .measure, .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline, .tell, .holdAwake,
            .inhibitIdle,
            .sleepAgain,
            .watchIdle, .notifyFailures, .watchUse, .reply, .arm:
            break
        }
    }

    /// What holds doorbells back now, as a user is told, and how many wait.
    func asks(_ device: Device, at now: Moment) {
        for number in 0..<Doorbells.apps {
            let app = AppID("app\(number)")
            for explanation in device.explain(app, at: now)
            where explanation.identifier?.hasPrefix("event") == true {
                gates.formUnion(explanation.holds.map(\.gate))
                heldApart += explanation.holds.count {
                    $0.value == "launched for doorbell just before"
                }
            }
            let requests = device.apps.index(of: app).map { device.apps[$0].requests } ?? []
            let waiting = requests.count {
                $0.trigger == .doorbell && $0.isPending && $0.mode != .simulated
            }
            if waiting > Device.pendingEvents { mistakes.append("\(waiting) wait for \(app)") }
        }
    }
}

/// Stands between the device and the world.
struct WitnessPort: SimulatedPort {
    var port: VirtualPort
    let witness: Witness

    mutating func perform(_ effect: Effect) {
        witness.sees(effect)
        port.perform(effect)
    }
    mutating func commit(
        _ changes: [Change],
        _ durability: Durability
    ) throws(CommitError) {
        try port.commit(changes, durability)
    }
    mutating func commitAnew(_ records: [Record], with changes: [Change]) throws(CommitError) {
        try port.commitAnew(records, with: changes)
    }
    mutating func record(_ event: TimedEvent, _ decisions: [Effect]) {
        witness.hears(event.event)
        port.record(event, decisions)
    }
    mutating func recordRollback(of count: Int) { port.recordRollback(of: count) }
}

/// Runs some devices with all rules, and prints what became of the doorbells.
@main struct Doorbells {
    static let apps = 12

    static func main() {
        let witness = Witness()
        var broken: [String] = []
        for seed in UInt64(1)...2 {
            let plan = DeviceSimulation.Plan(days: 4, apps: apps, seed: seed)
            var simulated = DeviceSimulation.make(plan) { WitnessPort(port: $0, witness: witness) }
            for hour in 1...Int64(24 * plan.days) {
                simulated.run(until: .hours(hour))
                witness.asks(simulated.driver.device, at: simulated.world.now)
            }
            if let violation = simulated.watch.violation { broken.append("\(seed): \(violation)") }
        }
        print("launches \(witness.launches)")
        print("begun \(witness.begun)")
        print("lines \(witness.lines)")
        print("held-apart \(witness.heldApart)")
        print("secrets \(witness.secrets)")
        print("dropped \(witness.dropped)")
        print("gates \(witness.gates.sorted().joined(separator: " "))")
        for (word, count) in witness.ends.sorted(by: { $0.key < $1.key }) {
            print("end-\(word) \(count)")
        }
        for text in witness.mistakes + broken { print("wrong: \(text)") }
    }
}
