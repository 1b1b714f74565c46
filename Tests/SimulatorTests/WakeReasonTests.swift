import DeviceCore
import Glibc
import Simulator
import Testing
import Vocabulary

/// 24 hours of a laptop: each time that the daemon wakes by itself, its log says what for.
struct WakeReasonTests {
    /// Looks at the entries of the event log, as the daemon writes them: event, time, decisions.
    private final class Wakes: CommitInvariant {
        let name = "a wake-up has a reason"
        var seed: UInt64 = 0
        var timers = 0
        var alarms = 0
        var empty: [String] = []
        /// Alarms that have got the machine out of its sleep, as the world counts them.
        private var known = 0
        /// The last end of a sleep, whoever caused it.
        private var wakeKnown = Interval.zero
        /// When the machine was woken last, the daemon started, or the user opened an app.
        private var awakeSince: Moment?
        /// An alarm whose work is still to begin.
        private var alarm: Moment?
        /// When a date no longer holds a transfer: then it is looked what else does.
        var dates: [TransferID: [WallTime]] = [:]
        /// The last few entries, to be told with one that is empty.
        private var before: [String] = []

        func committed(_ changes: [Change]) -> String? {
            for case .delete(let key) in changes where key.section == .transfer {
                if let number = UInt64(key.key) { dates[TransferID(number)] = nil }
            }
            for case .put(.transfer(let record)) in changes {
                let (transfer, wait) = (record.transfer, Settings().discretionaryWait)
                if case .ended = transfer.state {
                    dates[transfer.id] = nil
                    continue
                }
                dates[transfer.id] =
                    (transfer.order.earliest.map { [$0] } ?? [])
                    + (transfer.order.isDiscretionary
                        ? [min(transfer.submittedAt + wait, transfer.halfTime)] : [])
            }
            return nil
        }

        private func isDate(_ now: WallTime) -> Bool {
            dates.values.joined().contains { $0 <= now && now - $0 < .seconds(1) }
        }

        func ended(_ turn: Turn, _ world: World) -> String? {
            // What a daemon that was killed then had decided is in its log.
            let isCutOff = turn.wasKilled && turn.entries.contains { Self.saves($0) }
            let isPutOff = turn.entries.contains { Self.putsOff($0) }
            if turn.beginsAnything || isCutOff || isPutOff { alarm = nil }
            giveUp(at: turn.moment)
            let wasAsleep = world.alarmWakes > known
            known = world.alarmWakes
            if wasAsleep { alarms += 1 }
            // Somebody else woke the machine, and the daemon is told.
            if !wasAsleep, world.awakeSince > wakeKnown { awakeSince = turn.moment }
            wakeKnown = world.awakeSince
            for entry in turn.entries {
                if Self.keepsAwake(entry.event) { awakeSince = turn.moment }
                let text = "\(entry.event) at \(entry.moment.local): \(entry.decisions)"
                defer { before = before.suffix(3) + [String(text.prefix(600))] }
                guard case .timer = entry.event else { continue }
                timers += 1
                look(at: entry, wasAsleep: wasAsleep, begins: turn.beginsAnything)
            }
            if wasAsleep { awakeSince = turn.moment }
            return nil
        }

        /// With a start, or a user who opens an app, the machine is awake anyhow, and what was
        /// planned before is planned anew.
        private static func keepsAwake(_ event: Event) -> Bool {
            switch event {
            case .started, .user(.open, _): true
            case _: false
            }
        }

        /// The app that the machine was woken for was ended, or its user came or went: what is due
        /// then waits for the wake that all share.
        private static func putsOff(_ entry: Turn.Entry) -> Bool {
            switch entry.event {
            case .timer: entry.decisions.contains { if case .kill = $0 { true } else { false } }
            case .condition(.idle, _, _), .used, .process(_, .exited):
                entry.decisions.contains { if case .arm = $0 { true } else { false } }
            case _: false
            }
        }

        private static func saves(_ entry: Turn.Entry) -> Bool {
            entry.decisions.contains { if case .save = $0 { true } else { false } }
        }

        private func look(at entry: Turn.Entry, wasAsleep: Bool, begins: Bool) {
            let saves = Self.saves(entry)
            // To set the next timer is no reason.
            let acts = entry.decisions.contains { if case .arm = $0 { false } else { true } }
            if wasAsleep {
                // After it a machine does nothing for a moment (`pause-after-resume`); what it was
                // woken for must follow. Or a new day has begun, and with it other plans.
                if !begins, !saves { alarm = entry.moment }
            } else if !acts, !isDate(entry.moment.wall),
                awakeSince.map({ entry.moment.boot - $0.boot > .minutes(1) }) ?? true
            {
                empty.append("seed \(seed): a timer at \(entry.moment.local) after \(before)")
            }
        }

        private func giveUp(at now: Moment) {
            guard let since = alarm, now.awake - since.awake > Settings().pauseAfterResume * 2
            else { return }
            empty.append("seed \(seed): an alarm at \(since.local)")
            alarm = nil
        }
    }

    /// More with `make soak`.
    private static let seeds =
        getenv("OFFSTAGE_WAKE_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 8

    private func days(_ seeds: ClosedRange<UInt64>, corrupt: ((Event) -> [Event])? = nil) -> Wakes {
        let wakes = Wakes()
        for seed in seeds {
            var plan = DeviceSimulation.Plan(days: 1, apps: 12, seed: seed)
            plan.calm = Fault.allCases
            var simulated = DeviceSimulation.make(
                plan,
                invariants: [wakes],
                corrupt: corrupt
            ) { $0 }
            (wakes.seed, wakes.dates) = (seed, [:])
            simulated.run(until: .days(1))
            #expect(simulated.watch.violation == nil)
        }
        return wakes
    }

    @Test func `no timer and no alarm of a laptop's day is without a reason in the log`() {
        let wakes = days(1...Self.seeds)
        let days = Int(Self.seeds)
        #expect(wakes.timers > 60 * days, "\(wakes.timers) timers in \(days) days")
        #expect(wakes.alarms > 6 * days, "\(wakes.alarms) alarms in \(days) days")
        #expect(wakes.empty.isEmpty, "\(wakes.empty.count) of \(wakes.timers): \(wakes.empty)")
    }

    @Test func `a timer that fires for nothing is noticed`() {
        let wakes = days(1...1) { event in
            if case .condition = event { [event, .timer] } else { [event] }
        }
        #expect(!wakes.empty.isEmpty)
    }
}
