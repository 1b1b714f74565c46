import DeviceCore
import Testing
import Vocabulary

/// A daemon that starts: what the store remembers meets what the machine shows.
struct RecoveryTests {
    enum Phase: String, CaseIterable, Sendable {
        case probing, starting, running, interrupted, ending, killed, judging
    }

    enum Found: String, CaseIterable, Sendable {
        /// The marker is empty: never started.
        case notStarted
        case alive, dead
        /// Not found at all.
        case nothing
        case otherBoot
    }

    struct Case: Sendable, CustomStringConvertible {
        var phase: Phase
        var found: Found
        var description: String { "\(phase), \(found)" }
    }

    static let cases = Phase.allCases.flatMap { phase in
        Found.allCases.compactMap { found -> Case? in
            switch (phase, found) {
            // Before the program was started there is nothing to be alive or dead.
            case (.probing, .alive), (.probing, .dead): nil
            // Once the receipt is committed the marker was written.
            case (.running, .notStarted), (.interrupted, .notStarted), (.ending, .notStarted),
                (.killed, .notStarted), (.judging, .notStarted), (.judging, .alive):
                nil
            case (.probing, _), (.starting, _), (.running, _), (.interrupted, _), (.ending, _),
                (.killed, _), (.judging, _):
                Case(phase: phase, found: found)
            }
        }
    }

    private static let manifest = AppManifest.processing("app") {
        $0.exec = ["app"]
        $0.whenInterrupted = .freeze
        $0.newDataFrom = .command(["count"])
        $0.failedFrom = ["check"]
    }

    /// A command in a phase of its run.
    private static func bench(in phase: Phase) throws -> (Bench, LaunchID, ProcessID?) {
        var bench = Bench()
        bench.install(manifest)
        let launch = try #require(bench.probes.first?.launch)
        if phase != .probing {
            bench.send(.process(launch, .probed(.before, .read(Fingerprint(), status: 0))))
        }
        if phase != .probing && phase != .starting { bench.started(launch) }
        switch phase {
        case .probing, .starting, .running: break
        case .interrupted: bench.set(.idle, 0)
        case .ending: bench.ask(.cancel(AppID("app"), identifier: nil))
        case .killed: bench.ask(.close(AppID("app")))
        case .judging: bench.exited(launch)
        }
        let process = bench.launch(launch)?.process
        return (bench, launch, process)
    }

    @Test(arguments: cases)
    func `a command is found again, ended as it must be, or run again`(_ item: Case) throws {
        var (bench, launch, process) = try Self.bench(in: item.phase)
        if item.phase == .ending { #expect(bench.contains(.terminate(launch))) }
        if process == nil { process = ProcessID(pid: 7, startTime: 8) }
        let survivors: [Survivor]
        switch item.found {
        case .notStarted: survivors = [Survivor(launch: launch, process: nil, alive: false)]
        case .alive: survivors = [Survivor(launch: launch, process: process, alive: true)]
        case .dead: survivors = [Survivor(launch: launch, process: process, alive: false)]
        case .nothing, .otherBoot: survivors = []
        }
        let isIdle: Int = item.phase == .interrupted ? 0 : 1
        try bench.restart(
            survivors: survivors,
            bootID: item.found == .otherBoot ? "boot-2" : "boot-1",
            manifests: [Self.manifest]
        )
        let effects = bench.effects
        bench.set(.idle, isIdle)
        let lives = item.found == .alive

        if item.found == .otherBoot {
            expectGone(bench, launch)
            // An interrupted command is run again, unless it was cancelled or had ended.
            #expect(bench.requests("app").map(\.state) == [.pending])
        } else if lives {
            expectAdopted(bench, launch, item.phase, effects)
        } else if item.phase == .judging {
            #expect(bench.launch(launch)?.phase == .judging)
        } else {
            expectGone(bench, launch)
            #expect(bench.requests("app").map(\.state) == [.pending])
            #expect(bench.results == Self.results(item))
        }
    }

    /// The lines of the runs of a launch that is not there any more.
    private static func results(_ item: Case) -> [RunResult] {
        switch item.phase {
        // It never began, or its result is still to come.
        case .probing, .judging: []
        case .starting: item.found == .dead ? [.unknown] : []
        case .running: [.unknown]
        // Its run ended when it was interrupted.
        case .interrupted: [.interrupted(.deviceInUse)]
        case .ending: [.expired(.cancelled)]
        case .killed: [.terminated(.userClosed)]
        }
    }

    @Test func `a user-initiated run that never began is begun after all`() throws {
        let manifest = AppManifest.processing("app") {
            $0.newDataFrom = .command(["count"])
            $0.processingInterval = .hours(12)
        }
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(manifest)
        #expect(bench.probes.isEmpty)
        bench.ask(.run(AppID("app"), identifier: nil))
        let launch = try #require(bench.probes.first?.launch)
        let unborn = Survivor(launch: launch, process: nil, alive: false)
        try bench.restart(survivors: [unborn], manifests: [manifest])
        // Nothing is known yet of power and network.
        #expect(bench.probes.isEmpty)
        let task = try #require(bench.device.taskList(of: AppID("app"), at: bench.now)?.first)
        #expect(task.state == .waiting && task.userInitiated == true)
        #expect(task.request == bench.requests("app").first.map { Int64($0.id.number) })
        bench.advance(.seconds(5))
        let again = try #require(bench.probes.first?.launch)
        #expect(again != launch)
        #expect(bench.requests("app").map(\.mode) == [.userInitiated])
    }

    @Test func `a user-initiated run that waits is not lost as another one is refused`() throws {
        let manifest = AppManifest.processing("app") {
            $0.newDataFrom = .command(["count"])
        }
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(manifest)
        bench.ask(.run(AppID("app"), identifier: nil))
        let launch = try #require(bench.probes.first?.launch)
        let unborn = Survivor(launch: launch, process: nil, alive: false)
        try bench.restart(survivors: [unborn], manifests: [manifest])
        bench.ask(.run(AppID("app"), identifier: "other"))
        guard case .refused = bench.reply else {
            Issue.record("\(String(describing: bench.reply))")
            return
        }
        #expect(bench.requests("app").map(\.mode) == [.userInitiated])
    }

    /// What an app asked for once, and its command does.
    private static func submitted(_ bench: inout Bench, _ manifest: AppManifest) throws -> LaunchID
    {
        bench.set(.idle, 0)
        bench.install(manifest)
        bench.ask(.submit(Submission(app: AppID("app"), identifier: "app.once", kind: .processing)))
        let standing = try #require(bench.requests("app").first { $0.origin == .command })
        bench.ask(.run(AppID("app"), identifier: "app.once"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        #expect(bench.requests("app").contains(standing))
        return launch
    }

    struct End: Sendable, CustomStringConvertible {
        var description: String
        /// What happens before the reboot.
        var end: @Sendable (inout Bench, LaunchID) -> Void
        var runsAgain: Bool
        var result: RunResult
    }

    @Test(arguments: [
        End(
            description: "running",
            end: { _, _ in },
            runsAgain: true,
            result: .unknown
        ),
        End(
            description: "its exit is committed",
            end: { $0.exited($1) },
            runsAgain: false,
            result: .unknown
        ),
        End(
            description: "cancelled",
            end: { bench, _ in bench.ask(.cancel(AppID("app"), identifier: "app.once")) },
            runsAgain: false,
            result: .terminated(.cancelled)
        ),
        End(
            description: "being ended, then cancelled",
            end: { bench, _ in
                bench.ask(.pause(nil))
                bench.ask(.cancel(AppID("app"), identifier: "app.once"))
                bench.ask(.continue)
            },
            runsAgain: false,
            result: .unknown
        ),
    ])
    func `after a reboot what was asked for once runs again only without a committed end`(
        _ item: End
    ) throws {
        let manifest = AppManifest.processing("app") {
            $0.permittedTaskIdentifiers = ["app.once"]
            $0.failedFrom = ["check"]
        }
        var bench = Bench()
        let launch = try Self.submitted(&bench, manifest)
        item.end(&bench, launch)
        try bench.restart(bootID: "boot-2", manifests: [manifest])
        expectGone(bench, launch)
        #expect(bench.results == [item.result])
        #expect(bench.runs.map(\.runTime) == [.zero])
        let left = bench.requests("app").filter { $0.identifier == "app.once" }
        #expect(left.map(\.state) == (item.runsAgain ? [.pending] : []))
        #expect(bench.device.running.all == 0)
    }

    @Test func `a standing command that had ended before the reboot is not due at once`() throws {
        var (bench, launch, _) = try Self.bench(in: .judging)
        try bench.restart(bootID: "boot-2", manifests: [Self.manifest])
        expectGone(bench, launch)
        #expect(bench.results == [.unknown])
        // Whether it was done was about to be looked at.
        let gates = bench.gates("app")
        #expect(gates.contains("earliest") && !gates.contains("quiet"), "\(gates)")
    }

    @Test func `that an app has a handler for expiry is known after a restart`() throws {
        var (bench, launch, delivery) = try Self.linked(accepts: true)
        bench.say(launch, .expirationHandler(delivery, set: true))
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app", identifiers: ["app.*"])]
        )
        bench.say(launch, .reconnected(running: [delivery], finished: []))
        bench.advance(.seconds(30))
        #expect(bench.contains(.kill(launch)))
    }

    private func expectGone(_ bench: Bench, _ launch: LaunchID) {
        #expect(bench.launch(launch) == nil)
        #expect(!bench.records.keys.contains { $0.section == .launch })
    }

    private func expectAdopted(
        _ bench: Bench,
        _ launch: LaunchID,
        _ phase: Phase,
        _ effects: [Effect]
    ) {
        let adopted = bench.launch(launch)
        #expect(adopted?.process != nil)
        switch phase {
        case .starting, .running:
            #expect(adopted?.phase == .running)
            #expect(effects.contains(.thaw(launch)))
            #expect(effects.contains(.holdAwake(true)))
        case .interrupted: #expect(effects.contains(.freeze(launch)))
        case .ending: #expect(effects.contains(.terminate(launch)))
        case .killed: #expect(effects.contains(.kill(launch)))
        case .probing, .judging: Issue.record("nothing to adopt")
        }
    }

    @Test func `an adopted run keeps its deadline`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(10))
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.refreshing("app")]
        )
        // The daemon before may have died without having written it down for the keeper.
        #expect(
            bench.effects.contains {
                if case .setDeadline(launch, .some) = $0 { true } else { false }
            }
        )
        bench.advance(.seconds(15) - .milliseconds(1))
        #expect(!bench.contains(.terminate(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.terminate(launch)))
        bench.advance(.seconds(5))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `a command has an end for the keeper before its start is known`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        let spec = try #require(bench.spawned.last { $0.launch == launch }?.spec)
        #expect(spec.deadline == bench.now.awake + .seconds(30))
        #expect(bench.launch(launch)?.deadline == spec.deadline)
    }

    @Test func `what was being ended when the daemon died may have been left frozen`() throws {
        let (before, launch, process) = try Self.bench(in: .ending)
        var bench = before
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [Self.manifest]
        )
        let thaw = try #require(bench.effects.firstIndex(of: .thaw(launch)))
        let terminate = try #require(bench.effects.firstIndex(of: .terminate(launch)))
        #expect(thaw < terminate)
    }

    @Test func `a result that was being read is asked for again`() throws {
        var (bench, launch, _) = try Self.bench(in: .judging)
        let manifest = Self.manifest
        try bench.restart(
            survivors: [Survivor(launch: launch, process: nil, alive: false)],
            manifests: [manifest]
        )
        #expect(bench.probes.map(\.step) == [.failed])
        bench.send(.process(launch, .probed(.failed, .read(Fingerprint(), status: 0))))
        bench.send(.process(launch, .probed(.after, .read(Fingerprint(of: "x"), status: 0))))
        #expect(bench.results == [.newData])
    }

    @Test func `a process that nobody knows is ended`() throws {
        var bench = Bench()
        let stranger = LaunchID(4000)
        try bench.restart(survivors: [
            Survivor(launch: stranger, process: ProcessID(pid: 1, startTime: 1), alive: true),
            Survivor(launch: LaunchID(4001), process: nil, alive: false),
        ])
        #expect(bench.contains(.kill(stranger)))
        #expect(bench.contains(.release(stranger)))
        #expect(!bench.contains(.kill(LaunchID(4001))))
        #expect(bench.contains(.release(LaunchID(4001))))
    }

    @Test func `what had not begun is released, and not killed`() throws {
        var bench = Bench()
        let manifest = AppManifest.refreshing("app")
        bench.install(manifest)
        let launch = try #require(bench.spawn(of: "app"))
        let unborn = Survivor(launch: launch, process: nil, alive: false)
        try bench.restart(survivors: [unborn], manifests: [manifest])
        let ends = bench.effects.filter { $0 == .kill(launch) || $0 == .release(launch) }
        #expect(ends == [.release(launch)])
    }

    // MARK: Linked apps

    private static func linked(accepts: Bool) throws -> (Bench, LaunchID, DeliveryID) {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        bench.submit(launch, "app.0")
        bench.ask(.leave(AppID("app")))
        let delivery = try #require(bench.offers(launch).first)
        if accepts { bench.say(launch, .accepted(delivery)) }
        return (bench, launch, delivery)
    }

    @Test(arguments: [false, true])
    func `an app lives on: it reconnects, and both sides go on from there`(_ accepts: Bool) throws {
        var (bench, launch, delivery) = try Self.linked(accepts: accepts)
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app", identifiers: ["app.*"])]
        )
        #expect(bench.launch(launch)?.isConnected == false)
        #expect(bench.told(launch).isEmpty)
        bench.say(launch, .reconnected(running: accepts ? [delivery] : [], finished: []))
        if !accepts {
            #expect(bench.offers(launch) == [delivery])
            bench.say(launch, .accepted(delivery))
        }
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.results == [.succeeded])
        #expect(bench.requests("app").isEmpty)
    }

    @Test(arguments: [false, true], [false, true])
    func `an app is gone: what it had received is used up, what not is pending again`(
        _ accepts: Bool,
        _ isOtherBoot: Bool
    ) throws {
        var (bench, launch, _) = try Self.linked(accepts: accepts)
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: false)],
            bootID: isOtherBoot ? "boot-2" : "boot-1",
            manifests: [.linked("app", identifiers: ["app.*"])]
        )
        #expect(bench.launch(launch) == nil)
        #expect(bench.results == [.unknown])
        #expect(bench.requests("app").map(\.state) == (accepts ? [] : [.pending]))
        #expect(bench.app("app")?.record.failures.count == 0)
    }

    @Test(arguments: [false, true])
    func `an app weighs again what it is to weigh, and may have again what it may`(_ isLeft: Bool)
        throws
    {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        if isLeft { bench.ask(.leave(AppID("app"))) }
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app")]
        )
        #expect(bench.contains(.weigh(launch, isLeft ? .background : .foreground)))
        #expect(bench.contains(.limitMemory(launch, isLeft ? 200 << 20 : nil)))
    }

    @Test func `what was frozen is frozen again`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.suspendApp("app")
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app")]
        )
        #expect(bench.contains(.freeze(launch)))
        #expect(!bench.contains(.thaw(launch)))
        #expect(bench.launch(launch)?.presence == .suspended)
    }

    @Test func `an app that had started unseen has been opened`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        #expect(!bench.lines.contains(.use(.opened)))
        let process = ProcessID(pid: 77, startTime: 1)
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app")]
        )
        #expect(bench.lines.count { $0 == .use(.opened) } == 1)
    }

    @Test func `an app that was to be opened again is not opened by another boot`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        _ = try bench.openApp("app")
        bench.ask(.close(AppID("app")))
        bench.ask(.open(AppID("app"), attach: nil))
        try bench.restart(bootID: "boot-2", manifests: [.linked("app")])
        #expect(bench.spawned.isEmpty)
        #expect(bench.app("app")?.launches.isEmpty == true)
    }

    @Test func `numbers are never given out twice`() throws {
        var bench = Bench()
        var seen: Set<UInt64> = []
        for round in 0..<5 {
            for number in 0..<40 {
                bench.ask(
                    .submit(
                        Submission(
                            kind: .refresh,
                            after: .days(1),
                            command: ["c\(round)-\(number)"]
                        )
                    )
                )
                guard case .requested(let task) = bench.reply else {
                    Issue.record("refused")
                    return
                }
                #expect(seen.insert(task.request.number).inserted)
            }
            try bench.restart()
        }
    }

    @Test func `a damaged record is named`() {
        let key = RecordKey(.request, "7")
        #expect(throws: RecordError.self) { _ = try Record(key, "nonsense") }
    }
}
