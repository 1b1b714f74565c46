package import DeviceCore
package import Vocabulary

/// Something that must hold at every step, whatever happens. It watches what is asked, decided,
/// committed and done, and says in words what is wrong, or nil.
package protocol Invariant: AnyObject {
    var name: String { get }
    /// A caller asks for something.
    func asked(_ token: ReplyToken, _ event: Event, at now: Moment)
    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment)
    func committed(_ changes: [Change]) -> String?
    /// An effect is about to be performed.
    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String?
    /// A turn is over; `device` is as it left it.
    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String?
    /// Nothing has reached the daemon for some seconds; `device` is as it is.
    func idled(_ device: Device, _ world: World) -> String?
    /// A daemon begins; `device` is what the store remembers.
    func restored(_ device: Device, _ world: World) -> String?
    func rebooted()
}

extension Invariant {
    package func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {}
    package func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {}
    package func committed(_ changes: [Change]) -> String? { nil }
    package func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? { nil }
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
            NothingBeforeUnlock(), PromptStop(),
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

    package init(at moment: Moment) { self.moment = moment }

    /// The lines that became durable.
    package var lines: [HistoryLine] {
        changes.compactMap {
            switch $0 {
            case .append(let line): line
            case .put, .delete: nil
            }
        }
    }

    /// The launches that the turn was about.
    package var launches: [LaunchID] {
        var found: [LaunchID] = []
        func add(_ launch: LaunchID?) {
            if let launch, !found.contains(launch) { found.append(launch) }
        }
        for entry in entries {
            add(entry.event.launch)
            for effect in entry.decisions {
                add(effect.launch)
                guard case .save(let changes) = effect else { continue }
                for change in changes { add(change.launch) }
            }
        }
        return found
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
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .used, .user,
            .storageRecovered:
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
            .tell(let launch, _):
            launch
        case .announce(let line):
            switch line.entry {
            case .wake(let report): report.launch
            case .ended, .dropped, .note, .use: nil
            }
        case .save, .holdAwake, .notifyFailures, .watchUse, .reply, .arm: nil
        }
    }
}
