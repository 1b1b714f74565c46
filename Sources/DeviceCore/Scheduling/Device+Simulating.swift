import Vocabulary

/// What a developer forces: launches, fetches and expiries that count for nothing (C12).
extension Device {
    mutating func simulate(
        _ simulation: Simulation,
        _ app: AppID,
        _ identifier: String?,
        _ kind: TaskKind?,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            let index = try index(ofKnown: app)
            switch simulation {
            case .expire: try simulateExpiry(of: identifier, index, &transition)
            case .launch, .fetch:
                try simulateLaunch(simulation, identifier, kind, index, &transition)
            }
            transition.reply(reply, .done)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    /// A run of its own, marked as a test: what is pending stays pending.
    private mutating func simulateLaunch(
        _ simulation: Simulation,
        _ identifier: String?,
        _ kind: TaskKind?,
        _ index: Int,
        _ transition: inout Transition
    ) throws(Refusal) {
        let app = apps[index]
        var model = app.requests.first { request in
            identifier.map { request.identifier == $0 }
                ?? (simulation == .fetch ? request.trigger.row.fetches : true)
        }
        if let model, let kind { try check(kind, of: model, app) }
        if model == nil, simulation == .launch, identifier == nil {
            try launchInBackground(index, &transition)
            return
        }
        if model == nil, simulation == .fetch, identifier == nil, app.manifest != nil,
            !app.isLinked
        {
            throw Refusal(
                .notPermitted,
                reason: "\(app.id) cannot fetch: it is not a linked app and has no refresh to run",
                fix: "offstage tasks \(app.id)"
            )
        }
        if model == nil {
            model = try invented(simulation, identifier, kind, app, transition.now.wall)
        }
        guard var request = model else {
            throw Refusal(
                .notFound,
                reason: "\(app.id) has no such task to launch",
                value: identifier ?? "",
                fix: "offstage tasks \(app.id)"
            )
        }
        request.id = nextSerial(RequestKind.self)
        request.mode = .simulated
        request.state = .pending
        request.interruptedAt = nil
        request.readySince = nil
        request.isCancelled = false
        (request.every, request.lastEnd) = (nil, nil)
        try checkRoom(for: request, in: app, at: transition.now.wall)
        apps[index].requests.append(request)
        refreshPolicy.memberChanged(index)
        save(app: index, request: request.id)
        do throws(Refusal) {
            try startNow(request, index, &transition)
        } catch {
            apps[index].requests.removeAll { $0.id == request.id }
            forget(request: request.id, of: index)
            throw error
        }
        touch(index)
    }

    /// What waits or runs has its kind: a program that expects that one would crash.
    private func check(
        _ said: TaskKind,
        of request: Request,
        _ app: AppState
    ) throws(Refusal) {
        guard request.trigger != said.trigger else { return }
        throw Refusal(
            .invalid,
            reason: "\(request.identifier) has been submitted as a \(request.trigger.rawValue) "
                + "task, not as \(said.rawValue)",
            fix: "offstage simulate launch \(app.id) \(request.identifier)"
        )
    }

    /// What would be asked for, where nothing is; nil: there is no manifest.
    private func invented(
        _ simulation: Simulation,
        _ identifier: String?,
        _ kind: TaskKind?,
        _ app: AppState,
        _ now: WallTime
    ) throws(Refusal) -> Request? {
        guard let manifest = app.manifest else { return nil }
        let trigger: Trigger?
        if simulation == .launch, let identifier {
            let kinds = TaskKind.allCases.filter { manifest.value.declares($0.trigger) }
            trigger = try self.kind(of: identifier, kind, among: kinds, app)?.trigger
        } else {
            trigger = Trigger.allCases.first {
                simulation == .launch ? manifest.value.declares($0) : $0.row.fetches
            }
        }
        return Request(
            id: RequestID(0),
            identifier: identifier ?? "fetch",
            trigger: trigger ?? .refresh,
            origin: identifier == nil ? .fetch : .submitted,
            needs: Needs(),
            submittedAt: now
        )
    }

    /// Of what kind an identifier is that does not wait: as it is said, else as it was submitted
    /// before, else as the manifest leaves no choice. A program that expects the other kind would
    /// crash. Nil: the manifest declares neither.
    private func kind(
        of identifier: String,
        _ said: TaskKind?,
        among kinds: [TaskKind],
        _ app: AppState
    ) throws(Refusal) -> TaskKind? {
        if let said {
            guard let mode = said.trigger.mode, !kinds.contains(said) else { return said }
            throw Refusal(
                .notPermitted,
                reason: "the manifest does not declare the mode",
                value: mode.rawValue,
                fix: "add \(mode.rawValue); to BackgroundModes="
            )
        }
        if let known = app.record.kind(of: identifier), kinds.contains(known) { return known }
        guard kinds.count > 1 else { return kinds.first }
        let commands = kinds.map { kind in
            "offstage simulate launch \(app.id) \(identifier) --\(kind.rawValue)"
        }
        throw Refusal(
            .invalid,
            reason: "\(app.id) has not submitted this task, so its kind is not known",
            value: identifier,
            fix: commands.joined(separator: ", or: ")
        )
    }

    /// A test skips the gate of what is still running: an app may be given the same task once more
    /// beside the first. A plain program is not run twice, for its files' sake.
    private func checkRoom(
        for request: Request,
        in app: AppState,
        at now: WallTime
    ) throws(Refusal) {
        switch app.conflict(to: request.work(at: now)) {
        case .none, .task: break
        case .program:
            throw Refusal(
                .held,
                reason: "its last run has not ended, and two instances of one program would share "
                    + "files",
                value: request.identifier,
                fix: "offstage simulate expire \(app.id)"
            )
        case .ending:
            let isEnding = app.launches.contains { $0.ending != nil }
            throw Refusal(
                .held,
                reason: isEnding
                    ? "\(app.id) is being terminated" : "the run of \(app.id) is ending",
                value: request.identifier,
                fix: "try again"
            )
        }
    }

    /// An app's own process, straight into the background, for nothing in particular (C12).
    private mutating func launchInBackground(_ index: Int, _ transition: inout Transition)
        throws(Refusal)
    {
        let app = apps[index]
        guard app.isLinked, app.launches.isEmpty else {
            throw Refusal(
                app.isLinked ? .held : .notFound,
                reason: app.isLinked
                    ? "\(app.id) is running already" : "\(app.id) has nothing to launch",
                value: app.problem ?? "",
                fix: app.isLinked
                    ? "name a task to hand it: offstage simulate launch \(app.id) TASK"
                    : "offstage explain \(app.id)"
            )
        }
        var work = Work.nothing
        (work.origin, work.mode) = (.event, .simulated)
        let declared = Trigger.allCases.first { app.manifest?.value.declares($0) == true }
        work.trigger = declared ?? .refresh
        try checkGates(of: work, index, transition.now)
        _ = launchForDelivery(index, &transition)
    }

    private mutating func simulateExpiry(
        of identifier: String?,
        _ index: Int,
        _ transition: inout Transition
    ) throws(Refusal) {
        var found = false
        for launch in apps[index].launches where launch.wake != nil {
            let isMeant = identifier == nil || launch.wake?.identifier == identifier
            let deliveries = launch.deliveries.filter {
                identifier == nil || $0.identifier == identifier
            }
            guard launch.isCommand ? isMeant : !deliveries.isEmpty else { continue }
            let event = LaunchEvent.stopped(.simulated, deliveries: deliveries.map(\.id))
            take(event, launch.id, &transition)
            found = true
        }
        guard !found else { return }
        let held = apps[index].launches.flatMap(\.tasks).map(\.name)
        if !held.isEmpty, identifier.map(held.contains) ?? true {
            throw Refusal(
                .held,
                reason: "only background tasks of \(apps[index].id) are open, which end at their "
                    + "own time",
                value: held.joined(separator: ", "),
                fix: "offstage status says how long they have; a virtual clock can be moved there"
            )
        }
        throw Refusal(
            .notFound,
            reason: "no task of \(apps[index].id) is running",
            value: identifier ?? "",
            fix: "offstage simulate launch \(apps[index].id)"
        )
    }
}
