@testable import DeviceCore
import Linux
import Testing
import Vocabulary

/// A launch by itself: every state × event, against the table at its head.
struct LaunchMachineTests {
    /// Launches of one kind, and what they go by.
    enum Kind: CaseIterable {
        case app, opened, refresh, processing

        var isApp: Bool { self == .app || self == .opened }
        var trigger: Trigger { self == .processing ? .processing : .refresh }
    }

    /// What an event may meet beside the launch.
    struct Surroundings {
        var isStopping = false
        var onExternalPower = false

        static let usual = Surroundings()
        static let last = Surroundings(isStopping: true, onExternalPower: true)
        static let all = [
            usual, Surroundings(isStopping: true), Surroundings(onExternalPower: true), last,
        ]
    }

    static let process = ProcessID(pid: 4711, startTime: 99)
    static let delivery = DeliveryID(7)
    private static let requestID = RequestID(5)

    // MARK: The surroundings

    private static func moment(after time: Interval = .zero) -> Moment {
        Moment(
            boot: BootTime(nanoseconds: 0) + .days(3) + time,
            awake: AwakeTime(nanoseconds: 0) + .days(2) + time,
            wall: WallTime(nanoseconds: 0) + .days(20_000) + time,
            utcOffset: 0
        )
    }

    private static let settings = Shared(Settings())
    private static let manifests = Dictionary(
        uniqueKeysWithValues: Kind.allCases.map { ($0, Shared(manifest($0))) }
    )

    private static func manifest(_ kind: Kind) -> AppManifest {
        var manifest = AppManifest(id: AppID("app"), name: "App")
        manifest.modes = [.fetch, .processing]
        manifest.exec = ["app"]
        manifest.newDataFrom = .file("/data")
        manifest.failedFrom = ["failed"]
        manifest.whenInterrupted = .freeze
        switch kind {
        case .app, .opened: break
        case .refresh: manifest.refreshCommand = ["app", "--refresh"]
        case .processing: manifest.processingCommand = ["app", "--process"]
        }
        return manifest
    }

    private static func facts(
        _ kind: Kind,
        after time: Interval = .zero,
        _ around: Surroundings = .usual
    ) -> LaunchFacts {
        LaunchFacts(
            now: moment(after: time),
            app: AppID("app"),
            settings: settings,
            manifest: manifests[kind],
            requests: [request(kind)],
            onExternalPower: around.onExternalPower,
            processingGrant: .minutes(5),
            refreshStatus: .available,
            changedConditions: DeviceConditions(),
            isStopping: around.isStopping
        )
    }

    static func request(_ kind: Kind) -> Request {
        Request(
            id: requestID,
            identifier: "task",
            trigger: kind.trigger,
            origin: kind.isApp ? .submitted : .command,
            needs: Needs(),
            submittedAt: moment().wall
        )
    }

    // MARK: The ways into the states

    private static func made(_ kind: Kind) -> Launch {
        var launch = Launch(
            id: LaunchID(3),
            role: kind.isApp ? .main : .command(requestID, kind.trigger),
            phase: .starting,
            presence: kind == .opened ? .foreground : .background
        )
        if kind == .app { launch.launchingUntil = moment().awake + .seconds(20) }
        take(&launch, [.made(attach: nil)], kind)
        return launch
    }

    @discardableResult
    private static func take(
        _ launch: inout Launch,
        _ events: [LaunchEvent],
        _ kind: Kind,
        _ around: Surroundings = .usual
    ) -> [LaunchAction] {
        var actions: [LaunchAction] = []
        for event in events { launch.take(event, facts(kind, around), into: &actions) }
        return actions
    }

    /// Launches in that state, with all that they may have there; none: this kind is never there.
    private static func launches(_ kind: Kind, in state: LaunchState) -> [Launch] {
        let ways = kind.isApp ? appWays(kind, to: state) : commandWays(kind, to: state)
        return ways.map { way in
            var launch = made(kind)
            take(&launch, way, kind)
            return launch
        }
    }

    private static let started = LaunchEvent.process(.started(process))
    private static let stopped = LaunchEvent.stopped(.cancelled, deliveries: nil)
    private static let killed = LaunchEvent.ended(.userClosed, detail: "")

    private static func appWays(_ kind: Kind, to state: LaunchState) -> [[LaunchEvent]] {
        let up: [LaunchEvent] = [
            started, .app(.finishedLaunching(registered: ["task"], reply: nil)),
        ]
        let work = LaunchEvent.delivered(delivery, request(kind))
        let task = LaunchEvent.app(
            .taskBegan(name: "t", hasHandler: true, reply: ReplyToken(1))
        )
        let busy: [LaunchEvent] = up + [work, .app(.accepted(delivery)), task]
        let left: [LaunchEvent] = up + [task, .left]
        let done: [LaunchEvent] = [.app(.enteredBackground), .app(.taskEnded(task: 1))]
        let isOpened = kind == .opened
        switch state {
        case .starting: return [[]]
        case .running:
            if isOpened { return [left, [started, .left]] }
            return [up + [work], busy, [work, started]]
        case .foreground:
            if isOpened { return [up, up + [task], busy] }
            return [busy + [.opened(urls: [])]]
        case .suspended: return [isOpened ? left + done : up + [.woke]]
        // Also before its program is known to have been started.
        case .killed: return [up + [killed], busy + [killed], [killed]]
        case .probing, .ending, .judging, .over: return []
        }
    }

    private static func commandWays(_ kind: Kind, to state: LaunchState) -> [[LaunchEvent]] {
        let content = ProbeAnswer.read(Fingerprint(of: [1]), status: 0)
        let read = LaunchEvent.process(.probed(.before, content))
        let run = [read, started]
        let judged = run + [.process(.exited(.status(0), nil))]
        switch state {
        case .probing: return [[]]
        case .starting: return [[read]]
        case .running: return [run]
        case .suspended:
            guard kind == .processing else { return [] }
            return [run + [.stopped(.paused, deliveries: nil)]]
        // Also before its program is known to have been started.
        case .ending: return [run + [stopped], [read, stopped]]
        case .killed: return [run + [killed], [read, killed]]
        case .judging: return [judged, judged + [.process(.probed(.failed, content))]]
        case .foreground, .over: return []
        }
    }

    /// What the device never does to a launch.
    private static func isPossible(_ event: LaunchEvent, _ launch: Launch) -> Bool {
        switch event {
        case .opened, .delivered: launch.role == .main && launch.ending == nil
        case .left: launch.presence == .foreground && launch.ending == nil
        case .resumed: launch.isCommand && launch.state == .suspended && launch.wake == nil
        case .process(.started): launch.state == .starting || launch.ending != nil
        case .process(.notStarted): launch.process == nil && launch.phase == .starting
        case .process(.exited): launch.process != nil && launch.exit == nil
        case .app: launch.role == .main
        // No program of it has been started yet.
        case .recovered(.some): launch.phase != .probing
        case .made: false
        case .process, .woke, .stopped, .ended, .grantChanged, .refreshChanged,
            .conditionsChanged, .reopened, .recovered, .rebooted:
            true
        }
    }

    // MARK: The walk

    /// One event that happens to a launch.
    private struct Step: CustomStringConvertible {
        let kind: Kind
        let state: LaunchState
        let launch: Launch
        let event: LaunchEvent
        let around: Surroundings
        var description: String { "\(kind): \(event) in \(state), \(around)" }

        /// The launch after it, and what is to be done.
        func taken() -> (launch: Launch, actions: [LaunchAction]) {
            var after = launch
            let actions = LaunchMachineTests.take(&after, [event], kind, around)
            return (after, actions)
        }
    }

    private static func forEachStep(
        in surroundings: [Surroundings] = Surroundings.all,
        _ body: (Step) -> Void
    ) {
        for kind in Kind.allCases {
            let events = events(kind)
            for state in LaunchState.allCases {
                for launch in launches(kind, in: state) {
                    for event in events where isPossible(event, launch) {
                        for around in surroundings {
                            let step = Step(
                                kind: kind,
                                state: state,
                                launch: launch,
                                event: event,
                                around: around
                            )
                            body(step)
                        }
                    }
                }
            }
        }
    }

    private static func isOver(_ actions: [LaunchAction]) -> Bool {
        actions.contains { $0 == .remove || $0 == .undo }
    }

    @Test func `each state can be reached`() {
        for state in LaunchState.allCases where state != .over {
            var count = 0
            for kind in Kind.allCases {
                for launch in Self.launches(kind, in: state) {
                    #expect(launch.state == state, "\(kind)")
                    count += 1
                }
            }
            #expect(count > 0, "\(state)")
        }
    }

    @Test func `every event leads from every state where the table says`() {
        var seen: [LaunchState: Set<LaunchState>] = [:]
        var tried: Set<EventName> = []
        Self.forEachStep { step in
            tried.insert(EventName(step.event))
            let (after, actions) = step.taken()
            let isOver = Self.isOver(actions)
            let next = isOver ? .over : after.state
            if isOver {
                // Nothing is done for what is over.
                #expect(actions.last == .remove || actions.last == .undo, "\(step)")
                #expect(actions.count { $0 == .remove || $0 == .undo } == 1, "\(step)")
            }
            guard next != step.state else { return }
            seen[step.state, default: []].insert(next)
            #expect(step.state.successors.contains(next), "\(step) leads to \(next)")
        }
        // The table says no more than that.
        for state in LaunchState.allCases {
            #expect(seen[state, default: []] == Set(state.successors), "\(state)")
        }
        // By that each launch has begun.
        #expect(Set(EventName.allCases).subtracting(tried) == [.made])
    }

    @Test func `the table that Launch is documented with is the one that holds`() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let path = root.joined(separator: "/") + "/Sources/DeviceCore/Lifecycle/Launch.swift"
        let source = try Files.text(path)
        var known: Set<String> = []
        for line in source.split(separator: "\n") where line.hasPrefix("/// | ") {
            let cells = line.dropFirst(4).split(separator: "|").map {
                $0.split { ",; ".contains($0) }.map(String.init)
            }
            guard cells.count == 3, let name = cells[0].first,
                let state = LaunchState.allCases.first(where: { "\($0)" == name })
            else { continue }
            known.insert(name)
            // Told for all states beneath the table.
            let everywhere: Set<String> = ["over", "judging"]
            let documented = Set(cells[2]).subtracting(everywhere)
            let real = Set(state.successors.map { "\($0)" }).subtracting(everywhere)
            #expect(documented == real, "\(name)")
        }
        #expect(known.count == LaunchState.allCases.count - 1)
    }

    @Test func `what is frozen is suspended, and has no time of its own`() {
        var count = 0
        Self.forEachStep { step in
            let (after, actions) = step.taken()
            guard !Self.isOver(actions) else { return }
            count += 1
            if after.isFrozen, after.ending == nil {
                #expect(after.presence == .suspended, "\(step)")
                #expect(after.graceEnd == nil && after.monitor == nil, "\(step)")
                #expect(after.wake == nil, "\(step)")
            }
            if after.state == .suspended { #expect(after.isFrozen, "\(step)") }
            #expect(after.wake != nil || after.deliveries.isEmpty, "\(step)")
        }
        #expect(count > 500)
    }

    @Test func `what was ended before it was started tells nothing of program or machine`() {
        var count = 0
        Self.forEachStep { step in
            guard case .process(.notStarted) = step.event, step.launch.ending != nil else { return }
            count += 1
            let actions = step.taken().actions
            #expect(actions.last == .remove, "\(step)")
            #expect(!actions.contains { if case .blockStarts = $0 { true } else { false } })
            let results = actions.compactMap { action -> RunResult? in
                if case .report(let report) = action { return report.result }
                if case .append(.ended(let result, reason: _)) = action { return result }
                return nil
            }
            #expect(results.map(\.stop) == [step.launch.ending?.reason], "\(step)")
        }
        // Two apps, and two commands that are ending or killed; four failures.
        #expect(count == 6 * 4 * Surroundings.all.count)
    }

    /// Where a launch may stay until something happens.
    private func mayRest(_ launch: Launch) -> Bool {
        switch launch.state {
        // The shell answers each start, and reports each exit.
        case .starting, .killed: true
        case .foreground, .suspended: true
        // It may have a window, and nobody tells.
        case .running: launch.role == .main && !launch.isConnected
        case .probing, .ending, .judging, .over: false
        }
    }

    /// Whoever forgets one of two lists of deadlines makes a launch that is stuck: there is one.
    @Test func `at the next deadline something happens, and then there is a later one`() {
        var count = 0
        var met: Set<DeadlineName> = []
        Self.forEachStep(in: [.usual, .last]) { step in
            var (after, actions) = step.taken()
            var time = Interval.zero
            for number in 0..<50 where !Self.isOver(actions) {
                var facts = Self.facts(step.kind, after: time, step.around)
                let next = after.nextDeadline(facts)
                // What is killed is measured until its exit is reported.
                guard next != .distantFuture, after.state != .killed || number < 2 else { break }
                count += 1
                let left = next - facts.now.boot
                #expect(left >= .zero)
                time += left
                facts = Self.facts(step.kind, after: time, step.around)
                after.forEachDeadline(facts) { deadline, left in
                    if left <= .zero { met.insert(DeadlineName(deadline)) }
                }
                let before = after
                actions.removeAll()
                after.take(.woke, facts, into: &actions)
                #expect(before != after, "\(step), after \(time)")
                guard !actions.contains(.remove) else { break }
                #expect(after.nextDeadline(facts) > facts.now.boot)
            }
            #expect(Self.isOver(actions) || mayRest(after), "\(step)")
        }
        #expect(count > 1000)
        #expect(Set(DeadlineName.allCases).subtracting(met) == [])
    }
}
