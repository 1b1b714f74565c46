import Vocabulary

/// The events that must survive a commit that fails. Of each subject only the last word is kept,
/// and of each app only so many words, so the list is bounded however long the store fails.
struct UnsettledEvents {
    /// What one app may say that is kept.
    private static var receiptLimit: Int { 256 }

    /// Nil: a later one says the same.
    private var entries: [TimedEvent?] = []
    /// Where the events are that a later one on the same subject may make needless.
    private var places: [Subject: [Int]] = [:]
    private var startPlace: Int?
    /// What was read of manifests since the start, which takes it in.
    private var manifests: [ManifestChange] = []

    var events: [TimedEvent] { entries.compactMap(\.self) }

    init(_ events: [TimedEvent]) {
        for timed in events where timed.event.isSaidOnce { append(timed) }
        takeInManifests()
    }

    /// A start that waits begins with what was read last, else it would start by what is no more.
    private mutating func takeInManifests() {
        guard let startPlace, case .started(var start)? = entries[startPlace]?.event,
            let known = start.manifests, !manifests.isEmpty
        else { return }
        var newest: [AppID: Int] = [:]
        for (place, change) in manifests.enumerated() { newest[change.app] = place }
        start.manifests =
            known.filter { newest[$0.app] == nil }
            + manifests.enumerated().filter { newest[$1.app] == $0 }.map(\.element)
        entries[startPlace]?.event = .started(start)
    }

    private mutating func append(_ timed: TimedEvent) {
        let subjects = timed.event.subjects
        let known = Set(subjects.flatMap { places[$0] ?? [] })
        if case .app = timed.event, known.count >= Self.receiptLimit { return }
        if let startPlace, case .started(var start)? = entries[startPlace]?.event {
            if case .settings(let settings) = timed.event {
                start.settings = settings
                entries[startPlace]?.event = .started(start)
                return
            }
            if case .manifests(let changes) = timed.event, start.manifests != nil {
                manifests += changes
                return
            }
        }
        if case .started = timed.event { startPlace = entries.count }
        for place in known.sorted() {
            guard let earlier = entries[place], timed.event.overrides(earlier.event) else {
                continue
            }
            entries[place] = nil
            for subject in earlier.event.subjects { places[subject]?.removeAll { $0 == place } }
        }
        for subject in subjects { places[subject, default: []].append(entries.count) }
        entries.append(timed)
    }

    /// Events on different ones do not make each other needless.
    enum Subject: Hashable {
        case daemon
        case condition(Condition, ConditionSource)
        case process(LaunchID)
        case app(LaunchID)
        case use(AppID)
        case manifest(AppID)
        case trigger(Trigger, AppID, String)
        case transfer(TransferID)
    }
}

extension Event {
    /// One, but for changes of several manifests.
    fileprivate var subjects: [UnsettledEvents.Subject] {
        switch self {
        case .condition(let condition, let source, _): [.condition(condition, source)]
        case .process(let launch, _): [.process(launch)]
        case .app(let launch, _): [.app(launch)]
        case .used(let app): [.use(app)]
        case .manifests(let changes): changes.map { .manifest($0.app) }
        case .triggered(let event): [.trigger(event.trigger, event.app, event.identifier)]
        case .transfer(let id, _): [.transfer(id)]
        case .started, .timer, .clockChanged, .sleep, .settings, .user, .storageRecovered,
            .stopping:
            [.daemon]
        }
    }

    /// Must not be lost with a commit that fails: the world says it once. Callers have been told,
    /// and time speaks again.
    fileprivate var isSaidOnce: Bool {
        switch self {
        case .process, .transfer, .manifests, .settings, .started, .used, .triggered, .condition,
            .clockChanged, .sleep, .stopping:
            true
        case .app(_, let said): said.isReceipt
        case .timer, .user, .storageRecovered: false
        }
    }

    /// Says all that an earlier event said, and anew.
    fileprivate func overrides(_ earlier: Event) -> Bool {
        switch (self, earlier) {
        case (.condition(let mine, let source, _), .condition(let other, let from, _)):
            mine == other && source == from
        case (.settings, .settings), (.clockChanged, .clockChanged): true
        case (.sleep(let mine), .sleep(let other)): mine == other
        case (.used(let app), .used(let other)): app == other
        case (.process(let mine, let said), .process(let other, let before)):
            mine == other && said.replaces(before)
        case (.transfer(let mine, let said), .transfer(let other, let before)):
            mine == other && said.replaces(before)
        case (.triggered(let mine), .triggered(let other)):
            (mine.trigger, mine.app, mine.identifier)
                == (other.trigger, other.app, other.identifier)
        case (.manifests(let changes), .manifests(let before)):
            Set(changes.map(\.app)).isSuperset(of: before.map(\.app))
        case (.app(let mine, let said), .app(let other, let before)):
            mine == other && said.repeats(before)
        case (.started, _), (.timer, _), (.clockChanged, _), (.sleep, _), (.manifests, _),
            (.settings, _), (.condition, _), (.process, _), (.app, _), (.used, _), (.triggered, _),
            (.transfer, _), (.user, _), (.storageRecovered, _), (.stopping, _):
            false
        }
    }
}

extension AppEvent {
    /// The same end, said again by a caller that had no answer yet.
    fileprivate func repeats(_ earlier: AppEvent) -> Bool {
        switch (self, earlier) {
        case (.completed(let mine, let result, _, _), .completed(let other, let before, _, _)):
            mine == other && result == before
        case (.taskEnded(let mine, let holder, _), .taskEnded(let other, let before, _)):
            mine == other && holder == before
        case (.connected, _), (.finishedLaunching, _), (.accepted, _), (.declined, _),
            (.expirationHandler, _), (.completed, _), (.taskBegan, _), (.taskEnded, _),
            (.extensionGone, _), (.enteredBackground, _), (.fetchInterval, _), (.submit, _),
            (.cancel, _), (.mistaken, _), (.disconnected, _), (.reconnected, _),
            (.session, _), (.acknowledged, _), (.conditionsWatched, _), (.idleTimer, _),
            (.openedURLs, _):
            false
        }
    }
}

extension ManifestChange {
    fileprivate var app: AppID {
        switch self {
        case .present(let manifest): manifest.id
        case .invalid(let app, _, _), .notInstalled(let app, _, _), .removed(let app): app
        }
    }
}
