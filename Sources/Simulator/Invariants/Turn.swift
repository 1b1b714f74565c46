package import DeviceCore
package import Vocabulary

/// What happened in one turn of the driver: what it was told, what became durable, and what was
/// done on the machine. A value: its rules read it far more often than it is written, and reading a
/// field of a class is checked each time.
package struct Turn {
    package struct Entry {
        package var timed: TimedEvent
        package var decisions: [Effect]
        package var event: Event { timed.event }
        package var moment: Moment { timed.moment }
    }

    package var moment: Moment
    package private(set) var entries: [Entry] = []
    /// When the clock, or the zone, was set in it, or may have been before a daemon started.
    private(set) var clockSetAt: [Moment] = []
    /// Nothing but timers came.
    private(set) var isOfTimers = true
    /// Somebody submitted something in it.
    private(set) var hasSubmission = false
    /// The daemon was killed in it, after its changes had become durable if there were any.
    package internal(set) var wasKilled = false
    /// Its events did not take place: the store failed.
    var wasRolledBack = false
    /// The first turn of a daemon that is stored.
    var isStart = false

    /// The lines that became durable.
    private(set) var lines: [HistoryLine] = []
    /// The work that the device has put on record for a launch, each the first time.
    package internal(set) var assigned: [AskedWork.Assignment] = []

    private(set) var started: [Start] = []
    /// Launches whose result source is read before their run.
    private(set) var probed: [(launch: LaunchID, app: AppID)] = []
    /// Of processes that were frozen.
    private(set) var thawed: [LaunchID] = []
    /// Told to end, or made to.
    private(set) var ended: [LaunchID] = []
    private(set) var killed: [LaunchID] = []
    private(set) var offered: [Offered] = []
    private(set) var toldToGo: [(launch: LaunchID, delivery: DeliveryID)] = []
    /// What it did but arm timers.
    private(set) var deeds = 0

    package struct Start {
        package let launch: LaunchID
        package let app: AppID
        package let weight: Weight
        let arguments: [String]
    }

    package struct Offered {
        package let launch: LaunchID
        package let delivery: DeliveryID
        package let kind: Offer.Kind
        package let identifier: String
    }

    package init(at moment: Moment) { self.moment = moment }

    mutating func recorded(_ entry: Entry) {
        entries.append(entry)
        hasSubmission = hasSubmission || entry.event.isSubmission
        switch entry.event {
        case .timer, .sleep: return
        case .clockChanged, .started: clockSetAt.append(entry.moment)
        case .manifests, .settings, .condition, .process, .app, .used, .triggered, .transfer, .user,
            .storageRecovered, .stopping:
            break
        }
        isOfTimers = false
    }

    mutating func rolledBack(_ count: Int) {
        entries.removeLast(min(count, entries.count))
        wasRolledBack = true
    }

    mutating func committed(_ changes: [Change]) {
        for case .append(let line) in changes { lines.append(line) }
    }

    /// Called before it is done.
    mutating func performs(_ effect: Effect, _ world: World) {
        deeds += 1
        switch effect {
        case .spawn(let launch, let spec):
            started.append(
                Start(
                    launch: launch,
                    app: spec.app,
                    weight: spec.weight,
                    arguments: spec.arguments
                )
            )
        case .probe(let launch, .before, _, let spec, _): probed.append((launch, spec.app))
        case .thaw(let launch):
            if world.process(launch)?.isFrozen == true { thawed.append(launch) }
        case .terminate(let launch): ended.append(launch)
        case .kill(let launch):
            ended.append(launch)
            killed.append(launch)
        case .tell(let launch, .offer(let id, let offer)):
            offered.append(
                Offered(
                    launch: launch,
                    delivery: id,
                    kind: offer.kind,
                    identifier: offer.identifier
                )
            )
        case .tell(let launch, .go(let id, _)): toldToGo.append((launch, id))
        case .arm: deeds -= 1
        case .save, .attach, .probe, .cancelProbe, .freeze, .release, .measure, .checkLocks,
            .weigh, .limitMemory, .transfer, .setDeadline, .tell, .holdAwake,
            .inhibitIdle, .sleepAgain,
            .watchIdle,
            .notifyFailures, .watchUse, .reply, .announce:
            break
        }
    }

    /// Any process, work or reading of a result source begins in it, or goes on.
    package var beginsAnything: Bool {
        !started.isEmpty || !probed.isEmpty || !thawed.isEmpty || !offered.isEmpty
    }

    /// The apps that a developer launched with it, without a run.
    var launchedInBackground: [AppID] {
        entries.compactMap { entry in
            guard case .user(.simulate(.launch, let app, identifier: nil, _), _) = entry.event
            else { return nil }
            return app
        }
    }

    /// The apps of which the user, or a developer, asked for a run.
    var askedToRun: [AppID] {
        entries.compactMap { entry in
            switch entry.event {
            case .user(.run(let app, _), _), .user(.simulate(_, let app, _, _), _): app
            case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition,
                .process, .app, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
                nil
            }
        }
    }

    /// What it began in the background, and of which app: new processes, work that was offered,
    /// and what was thawed for more than to be ended, or to be shown to the user.
    func begunInBackground(_ world: World) -> [(launch: LaunchID, app: AppID)] {
        guard !started.isEmpty || !thawed.isEmpty || !offered.isEmpty else { return [] }
        var begun: [(launch: LaunchID, app: AppID)] = []
        for start in started where start.weight == .background {
            begun.append((start.launch, start.app))
        }
        // Who was about to be shown to the user, when the daemon was killed, nobody knows.
        guard !wasKilled else { return begun }
        for launch in thawed + offered.map(\.launch) {
            guard let process = world.process(launch), process.weight == .background,
                !ended.contains(launch), !begun.contains(where: { $0.launch == launch })
            else { continue }
            begun.append((launch, process.appID))
        }
        return begun
    }
}

extension Event {
    /// Somebody submits something with it.
    var isSubmission: Bool {
        switch self {
        case .user(.submit, _), .app(_, .submit): true
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .app, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            false
        }
    }

    /// What somebody submits with it.
    var submission: Submission? {
        switch self {
        case .user(.submit(let submission), _), .app(_, .submit(let submission, _)): submission
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .app, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            nil
        }
    }

    /// The deliveries of which an app says with it that it has them.
    var takenOver: [DeliveryID] {
        switch self {
        case .app(_, .accepted(let id)): [id]
        case .app(_, .reconnected(let running, _, _, _)): running
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .app, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            []
        }
    }
}
