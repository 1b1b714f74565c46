package import DeviceCore
package import Vocabulary

/// Something that must hold at every step, whatever happens. It watches what is asked, decided,
/// committed and done, and says in words what is wrong, or nil.
package protocol Invariant: AnyObject {
    var name: String { get }
    /// A turn is over; `device` is as it left it.
    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String?
    /// Nothing has reached the daemon for some seconds; `device` is as it is.
    func idled(_ device: Device, _ world: World) -> String?
    /// A daemon begins; `device` is what the store remembers.
    func restored(_ device: Device, _ world: World) -> String?
    func rebooted()
}

/// One that looks at each effect.
package protocol EffectInvariant: Invariant {
    /// An effect is about to be performed.
    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String?
}

/// One that looks at each commit.
package protocol CommitInvariant: Invariant {
    func committed(_ changes: [Change]) -> String?
}

/// One that compares what callers ask for with what they are answered.
package protocol CallInvariant: Invariant {
    func asked(_ token: ReplyToken, _ event: Event, at now: Moment)
    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment)
}

extension Invariant {
    package func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? { nil }
    package func idled(_ device: Device, _ world: World) -> String? { nil }
    package func restored(_ device: Device, _ world: World) -> String? { nil }
    package func rebooted() {}
}

/// All of them, anew.
package enum Invariants {
    package static func all() -> [any Invariant] {
        [
            NeverEarly(), HandedOnce(), EndsConfirmed(), GrantsBounded(), WithinQuotas(),
            ReasonGiven(), NothingLost(), SuspendedSilent(), HeldForRuns(), OneLine(), Caps(),
            OldestFirst(), TimerSane(), SlotsKept(), ExpiredOnce(), ClosedStaysClosed(),
            NothingBeforeUnlock(), PromptStop(), RefreshBudgetKept(), NothingBegunAtTheEnd(),
            AskedForIsThere(),
        ]
    }
}

/// What happened in one turn of the driver.
package struct Turn {
    package struct Entry {
        package var event: Event
        package var moment: Moment
        package var decisions: [Effect]
    }

    package var moment: Moment
    package var entries: [Entry] = []
    package var performed: [Effect] = []
    package var changes: [Change] = []
    /// The daemon was killed in it, after its changes had become durable if there were any.
    package var wasKilled = false
    /// Its events did not take place: the store failed.
    package var wasRolledBack = false
    /// The first turn of a daemon.
    package var isStart = false
    // Found once it is over, for all who ask.
    /// The launches that the turn was about.
    package private(set) var launches: [Look] = []
    /// The lines that became durable.
    package private(set) var lines: [HistoryLine] = []
    /// The launches that have a run after it.
    package private(set) var running: [Launch] = []

    package init(at moment: Moment) { self.moment = moment }

    /// A launch as the turn left it. A class: a launch is large, and many look at it.
    package final class Look {
        package let id: LaunchID
        /// Nil: it is over, or never was.
        package let launch: Launch?
        package let app: Int?

        init(_ id: LaunchID, _ device: Device) {
            self.id = id
            let found = device.launch(id)
            (launch, app) = (found?.launch, found?.app)
        }
    }

    mutating func close(_ device: Device) {
        var ids: [LaunchID] = []
        func add(_ launch: LaunchID?) {
            if let launch, !ids.contains(launch) { ids.append(launch) }
        }
        for entry in entries {
            add(entry.event.launch)
            for effect in entry.decisions {
                add(effect.launch)
                guard case .save(let changes) = effect else { continue }
                for change in changes { add(change.launch) }
            }
        }
        launches = ids.map { Look($0, device) }
        for case .append(let line) in changes { lines.append(line) }
        device.forEachRun { launch, _ in running.append(launch) }
    }
}

extension Change {
    fileprivate var launch: LaunchID? {
        switch self {
        case .put(.launch(let record)): record.id
        case .delete(let key):
            key.section == .launch ? UInt64(key.key).map { LaunchID($0) } : nil
        case .put(.device), .put(.app), .put(.request), .append: nil
        }
    }
}

extension Event {
    var launch: LaunchID? {
        switch self {
        case .process(let launch, _), .app(let launch, _): launch
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .used, .triggered,
            .user, .storageRecovered, .stopping:
            nil
        }
    }
}

extension Effect {
    var launch: LaunchID? {
        switch self {
        case .spawn(let launch, _), .attach(let launch, _, _), .probe(let launch, _, _, _, _),
            .cancelProbe(let launch), .freeze(let launch), .thaw(let launch),
            .terminate(let launch), .kill(let launch), .release(let launch),
            .measure(let launch), .checkLocks(let launch), .weigh(let launch, _),
            .limitMemory(let launch, _), .setDeadline(let launch, _), .tell(let launch, _):
            launch
        case .announce(let line):
            switch line.entry {
            case .wake(let report): report.launch
            case .ended, .dropped, .note, .use: nil
            }
        case .save, .holdAwake, .watchIdle, .notifyFailures, .watchUse, .reply, .arm: nil
        }
    }
}
