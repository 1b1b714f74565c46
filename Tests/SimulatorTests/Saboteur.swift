import DeviceCore
import Simulator
import Vocabulary

/// Stands between the driver and the world and lies, as a bug in the core would.
struct Saboteur: DevicePort {
    var inner: VirtualPort
    var effect: (Effect) -> [Effect] = { [$0] }
    var changes: ([Change]) -> [Change] = { $0 }
    var decisions: ([Effect]) -> [Effect] = { $0 }
    /// Arms the timer for a moment later, over and over.
    var spins = false

    func commit(_ changes: [Change], _ durability: Durability) throws(CommitError) {
        try inner.commit(self.changes(changes), durability)
    }
    func perform(_ effect: Effect) {
        if spins, case .arm(.some) = effect {
            inner.perform(.arm(inner.world.now.boot + .milliseconds(10)))
        } else {
            for effect in self.effect(effect) { inner.perform(effect) }
        }
    }
    func reply(_ token: ReplyToken, _ reply: Reply) { inner.reply(token, reply) }
    func record(_ event: Event, at moment: Moment, _ decisions: [Effect]) {
        inner.record(event, at: moment, self.decisions(decisions))
    }
    func recordRollback(of count: Int) { inner.recordRollback(of: count) }
}

/// A bug, planted from outside of the core.
struct PlantedBug: Sendable, CustomStringConvertible {
    var description: String
    /// The rule that must notice.
    var rule: String
    var effect: @Sendable (Effect) -> [Effect] = { [$0] }
    var changes: @Sendable ([Change]) -> [Change] = { $0 }
    var decisions: @Sendable ([Effect]) -> [Effect] = { $0 }
    var event: @Sendable (Event) -> [Event] = { [$0] }
    var spins = false

    init(_ description: String, _ rule: String) {
        (self.description, self.rule) = (description, rule)
    }

    func with(_ change: (inout PlantedBug) -> Void) -> PlantedBug {
        var bug = self
        change(&bug)
        return bug
    }

    static let effects: [PlantedBug] = [
        PlantedBug("a spawn is done twice", "a request is handed over once").with {
            $0.effect = {
                if case .spawn = $0 { [$0, $0] } else { [$0] }
            }
        },
        PlantedBug("a launch is given up at SIGTERM", "launches end on a confirmed exit only")
            .with {
                $0.effect = {
                    if case .terminate(let launch) = $0 { [$0, .release(launch)] } else { [$0] }
                }
            },
        PlantedBug("nothing is ever stopped", "no grant exceeds its length").with {
            $0.effect = {
                switch $0 {
                case .freeze, .terminate, .kill: []
                case let other: [other]
                }
            }
        },
        PlantedBug("the timer is never armed", "what does not run has a reason").with {
            $0.effect = {
                if case .arm = $0 { [] } else { [$0] }
            }
        },
        PlantedBug(
            "nothing is frozen",
            "suspended apps use nothing and are sent nothing"
        ).with {
            $0.effect = {
                if case .freeze = $0 { [] } else { [$0] }
            }
        },
        PlantedBug("the device is never let go", "the device is held awake only for runs").with {
            $0.effect = { $0 == .holdAwake(false) ? [] : [$0] }
        },
        PlantedBug("the timer is armed for the past", "the timer does not spin").with {
            $0.effect = {
                if case .arm(.some(let time)) = $0 { [.arm(time - .days(1))] } else { [$0] }
            }
        },
        PlantedBug("the timer spins", "the timer does not spin").with {
            $0.spins = true
        },
        PlantedBug(
            "the expiration handler is called twice",
            "expiration handlers are called once, before the end"
        ).with {
            $0.effect = {
                if case .tell(_, .expire) = $0 { [$0, $0] } else { [$0] }
            }
        },
        PlantedBug(
            "the wrong app is ended",
            "memory is taken from the longest unused first"
        ).with {
            $0.effect = {
                guard case .kill(let launch) = $0 else { return [$0] }
                return [.kill(LaunchID(launch.number - 1)), .kill(LaunchID(launch.number - 2))]
            }
        },
    ]

    static let records: [PlantedBug] = [
        PlantedBug("requests are not stored", "nothing acknowledged is lost").with {
            $0.changes = {
                $0.filter {
                    if case .put(.request) = $0 { false } else { true }
                }
            }
        },
        PlantedBug("runs leave no line", "each run leaves exactly one line").with {
            $0.changes = {
                $0.filter {
                    if case .append = $0 { false } else { true }
                }
            }
        },
        PlantedBug("a decision differs", "decisions are equal for equal logs").with {
            $0.decisions = { $0.filter { $0 != .holdAwake(true) } }
        },
    ]

    static let events: [PlantedBug] = [
        PlantedBug("the earliest date is not heard", "never before the earliest date").with {
            $0.event = { [$0.changingSubmission { $0.after = nil }] }
        },
        PlantedBug("power is taken for external", "quotas are kept").with {
            $0.event = {
                if case .condition(.power, let source, _) = $0 {
                    [.condition(.power, source, .value(1))]
                } else {
                    [$0]
                }
            }
        },
        PlantedBug("caps are not known", "no app has more pending than it may").with {
            $0.event = {
                [$0.changingSettings { ($0.pendingRefreshes, $0.pendingProcessing) = (99, 99) }]
            }
        },
        PlantedBug("slots are not known", "run slots are kept").with {
            $0.event = { [$0.changingSettings { $0.runSlots = 99 }] }
        },
        PlantedBug("closing is not heard", "closed apps do not run").with {
            $0.event = {
                if case .user(.close, let reply) = $0 {
                    [.user(.continue, reply: reply)]
                } else {
                    [$0]
                }
            }
        },
        PlantedBug("the lock is not seen", "nothing runs before the first unlock").with {
            $0.event = {
                if case .condition(.locked, _, _) = $0 { [] } else { [$0] }
            }
        },
        PlantedBug(
            "the user is not seen",
            "processing stops when the user comes back or its power goes"
        ).with {
            $0.event = {
                if case .condition(.idle, _, _) = $0 { [] } else { [$0] }
            }
        },
    ]
}

extension Event {
    func changingSubmission(_ change: (inout Submission) -> Void) -> Event {
        switch self {
        case .user(.submit(var submission), let reply):
            change(&submission)
            return .user(.submit(submission), reply: reply)
        case .app(let launch, .submit(var submission, let reply)):
            change(&submission)
            return .app(launch, .submit(submission, reply: reply))
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .process, .app,
            .used, .user, .storageRecovered:
            return self
        }
    }

    func changingSettings(_ change: (inout Settings) -> Void) -> Event {
        switch self {
        case .started(var start):
            var settings = start.settings ?? Settings()
            change(&settings)
            start.settings = settings
            return .started(start)
        case .settings(var settings):
            change(&settings)
            return .settings(settings)
        case .timer, .clockChanged, .manifests, .condition, .process, .app, .used, .user,
            .storageRecovered:
            return self
        }
    }
}
