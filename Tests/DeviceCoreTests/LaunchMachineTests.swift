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
    }

    private static let process = ProcessID(pid: 4711, startTime: 99)
    private static let request = RequestID(5)
    private static let delivery = DeliveryID(7)

    // MARK: The surroundings

    private static func moment(after time: Interval = .zero) -> Moment {
        Moment(
            boot: BootTime(nanoseconds: 0) + .days(3) + time,
            awake: AwakeTime(nanoseconds: 0) + .days(2) + time,
            wall: WallTime(nanoseconds: 0) + .days(20_000) + time,
            utcOffset: 0
        )
    }

    private static func trigger(_ kind: Kind) -> Trigger {
        switch kind {
        case .app, .opened, .refresh: .refresh
        case .processing: .processing
        }
    }

    private static func facts(_ kind: Kind, after time: Interval = .zero) -> LaunchFacts {
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
        let request = Request(
            id: Self.request,
            identifier: "task",
            trigger: trigger(kind),
            origin: kind.isApp ? .submitted : .command,
            needs: Needs(),
            submittedAt: moment().wall
        )
        return LaunchFacts(
            now: moment(after: time),
            app: AppID("app"),
            settings: Shared(Settings()),
            manifest: Shared(manifest),
            requests: [request],
            onExternalPower: false,
            processingGrant: .minutes(5),
            refreshStatus: .available,
            changedConditions: DeviceConditions(),
            isStopping: false
        )
    }

    // MARK: The ways into the states

    private static func made(_ kind: Kind) -> Launch {
        var launch = Launch(
            id: LaunchID(3),
            role: kind.isApp ? .main : .command(request, trigger(kind)),
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
        _ kind: Kind
    ) -> [LaunchAction] {
        var actions: [LaunchAction] = []
        for event in events { launch.take(event, facts(kind), into: &actions) }
        return actions
    }

    private static let start: [LaunchEvent] = [
        .process(.started(process)),
        .app(.finishedLaunching(registered: ["task"], reply: nil)),
    ]

    /// A launch in that state; nil: this kind is never there.
    private static func launch(_ kind: Kind, in state: LaunchState) -> Launch? {
        let isApp = kind.isApp
        var launch = made(kind)
        let read = LaunchEvent.process(
            .probed(.before, .read(Fingerprint(of: [1]), status: 0))
        )
        let run = isApp ? start : [read, .process(.started(process))]
        let way: [LaunchEvent]
        switch state {
        case .probing: way = []
        case .starting: way = isApp ? [] : [read]
        case .running: way = isApp ? run + [.delivered(delivery, request(kind))] : run
        case .foreground: way = isApp ? start : []
        case .suspended: way = isApp ? run + [.woke] : run + [.stopped(.paused, deliveries: nil)]
        case .ending: way = run + [.stopped(.cancelled, deliveries: nil)]
        case .killed: way = run + [.ended(.userClosed, detail: "")]
        case .judging: way = isApp ? [] : run + [.process(.exited(.status(0), nil))]
        case .over: return nil
        }
        take(&launch, way, kind)
        return launch.state == state ? launch : nil
    }

    private static func request(_ kind: Kind) -> Request { facts(kind).requests[0] }

    // MARK: Everything that can happen

    private static func events(_ kind: Kind) -> [LaunchEvent] {
        let reply = ReplyToken(1)
        let failures: [StartFailure.Cause] = [.program, .storage, .processes, .groups]
        let exits: [Exit] = [
            .status(0), .status(1), .status(75), .signal(11, outOfMemory: false),
            .signal(9, outOfMemory: true), .unknown,
        ]
        let answers: [ProbeAnswer] = [
            .read(Fingerprint(of: [1]), status: 0), .read(Fingerprint(of: [2]), status: 1),
            .unreadable(reason: "gone"), .notAsked(StartFailure(.processes, reason: "full")),
        ]
        let steps: [ProbeStep] = [.before, .after, .failed]
        let process: [ProcessEvent] =
            [
                .started(Self.process), .locks([]), .locks(["/tmp/lock"]),
                .seen(memory: 1 << 20), .machineOutOfMemory,
            ]
            + failures.map { .notStarted(StartFailure($0, reason: "no")) }
            + exits.map { .exited($0, Usage(cpu: .seconds(1), memory: 1 << 20)) }
            + [1 << 20, 190 << 20, 900 << 20].map {
                .measured(Usage(cpu: .seconds(9), memory: $0))
            } + steps.flatMap { step in answers.map { .probed(step, $0) } }
        let app: [AppEvent] = [
            .connected(reply: reply), .finishedLaunching(registered: ["task"], reply: reply),
            .finishedLaunching(registered: []), .accepted(delivery),
            .declined(delivery, reason: "no"), .expirationHandler(delivery, set: true),
            .completed(delivery, .newData), .completed(delivery, .failed),
            .taskBegan(name: "save", hasHandler: true, reply: reply), .taskEnded(task: 1),
            .extensionGone(Self.process), .enteredBackground, .openedURLs(1),
            .fetchInterval(.minimum, reply: reply),
            .submit(Submission(identifier: "task", kind: .refresh), reply: reply),
            .cancel(identifier: nil, reply: reply), .mistaken(.letGo, subject: ""), .disconnected,
            .conditionsWatched(reply: reply), .idleTimer(disabled: true, reply: reply),
            .reconnected(running: [delivery], finished: []),
            .reconnected(
                running: [],
                finished: [FinishedDelivery(delivery: delivery, result: .noData)]
            ),
        ]
        let own: [LaunchEvent] = [
            .woke, .delivered(DeliveryID(8), request(kind)), .resumed(request(kind)),
            .grantChanged(by: .minutes(1)), .grantChanged(by: .zero - .minutes(4)),
            .refreshChanged, .conditionsChanged, .left, .reopened(true),
            .reopened(false), .recovered(nil), .opened(urls: []), .opened(urls: ["x:1"]),
            .reopened(true, urls: ["x:2"]),
            .recovered(survivor(alive: true)), .recovered(survivor(alive: false)),
            .rebooted,
        ]
        return own + process.map { .process($0) } + app.map { .app($0) }
            + StopReason.allCases.map { .stopped($0, deliveries: nil) }
            + StopReason.allCases.map { .ended($0, detail: "") }
    }

    private static func survivor(alive: Bool) -> Survivor {
        Survivor(launch: LaunchID(3), process: process, alive: alive)
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

    @Test func `each state can be reached`() {
        for state in LaunchState.allCases where state != .over {
            #expect(Kind.allCases.contains { Self.launch($0, in: state) != nil }, "\(state)")
        }
    }

    @Test func `every event leads from every state where the table says`() {
        var seen: [LaunchState: Set<LaunchState>] = [:]
        for kind in Kind.allCases {
            for state in LaunchState.allCases {
                guard let launch = Self.launch(kind, in: state) else { continue }
                for event in Self.events(kind) where Self.isPossible(event, launch) {
                    var after = launch
                    let actions = Self.take(&after, [event], kind)
                    let isOver = actions.contains { $0 == .remove || $0 == .undo }
                    let next = isOver ? .over : after.state
                    if isOver {
                        // Nothing is done for what is over.
                        #expect(actions.last == .remove || actions.last == .undo, "\(event)")
                        #expect(actions.count { $0 == .remove || $0 == .undo } == 1, "\(event)")
                    }
                    guard next != state else { continue }
                    seen[state, default: []].insert(next)
                    #expect(
                        state.successors.contains(next),
                        "\(kind): \(event) leads from \(state) to \(next)"
                    )
                }
            }
        }
        // The table says no more than that.
        for state in LaunchState.allCases {
            #expect(seen[state, default: []] == Set(state.successors), "\(state)")
        }
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
        for kind in Kind.allCases {
            for state in LaunchState.allCases {
                guard let launch = Self.launch(kind, in: state) else { continue }
                for event in Self.events(kind) where Self.isPossible(event, launch) {
                    var after = launch
                    let actions = Self.take(&after, [event], kind)
                    guard !actions.contains(.remove), !actions.contains(.undo) else { continue }
                    count += 1
                    let text = "\(kind): \(event) in \(state)"
                    if after.isFrozen, after.ending == nil {
                        #expect(after.presence == .suspended, "\(text)")
                        #expect(after.graceEnd == nil && after.monitor == nil, "\(text)")
                        #expect(after.wake == nil, "\(text)")
                    }
                    if after.state == .suspended { #expect(after.isFrozen, "\(text)") }
                    #expect(after.wake != nil || after.deliveries.isEmpty, "\(text)")
                }
            }
        }
        #expect(count > 500)
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
        for kind in Kind.allCases {
            for state in LaunchState.allCases {
                guard let launch = Self.launch(kind, in: state) else { continue }
                for event in Self.events(kind) where Self.isPossible(event, launch) {
                    var after = launch
                    var actions = Self.take(&after, [event], kind)
                    var time = Interval.zero
                    for _ in 0..<50 where !actions.contains(.remove) && !actions.contains(.undo) {
                        let next = after.nextDeadline(Self.facts(kind, after: time))
                        guard next != .distantFuture else { break }
                        count += 1
                        let left = next - Self.facts(kind, after: time).now.boot
                        #expect(left >= .zero)
                        time += left
                        let before = after
                        actions.removeAll()
                        let facts = Self.facts(kind, after: time)
                        after.take(.woke, facts, into: &actions)
                        #expect(before != after, "\(kind): \(event) in \(state), after \(time)")
                        guard !actions.contains(.remove) else { break }
                        #expect(after.nextDeadline(facts) > facts.now.boot)
                    }
                    let isOver = actions.contains { $0 == .remove || $0 == .undo }
                    #expect(isOver || mayRest(after), "\(kind): \(event) in \(state)")
                }
            }
        }
        #expect(count > 1000)
    }
}
