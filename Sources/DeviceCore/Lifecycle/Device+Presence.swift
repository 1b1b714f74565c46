package import Vocabulary

/// Foreground, background, suspended; and the time that an app may use in between.
extension Device {
    // MARK: The user comes and goes

    mutating func open(
        _ id: AppID,
        attach: ProcessID?,
        _ reply: ReplyToken,
        _ step: inout Step
    ) {
        do throws(Refusal) {
            try open(id, attach, reply, &step)
        } catch {
            step.reply(reply, .refused(error))
        }
    }

    private mutating func open(
        _ id: AppID,
        _ attach: ProcessID?,
        _ reply: ReplyToken,
        _ step: inout Step
    ) throws(Refusal) {
        guard let index = apps.index(of: id), let manifest = apps[index].manifest else {
            throw unusable(id, "opened")
        }
        guard !isStopping else { throw Refusal.stopping }
        guard let exec = manifest.exec else {
            throw Refusal(
                .held,
                reason: "\(id) has no program of its own to open",
                fix: "give its manifest an Exec= line"
            )
        }
        let main = apps[index].mainLaunch
        guard attach != nil || !manifest.terminal || main != nil else {
            throw Refusal(
                .held,
                reason: "\(id) needs a terminal (Terminal=true), and the daemon has none",
                fix: "run \"offstage open \(id)\" in a terminal"
            )
        }
        used(index, .opened, &step)
        if let main, let place = apps[index].index(of: main.id) {
            guard attach == nil else {
                throw Refusal(
                    .held,
                    reason: "\(id) is already open",
                    fix: "offstage close \(id)"
                )
            }
            toForeground(index, place, &step)
            step.reply(reply, .value(["launch": .integer(Int64(main.id.number))]))
        } else if let ending = apps[index].launches.firstIndex(where: {
            $0.role == .main && $0.ending != nil
        }) {
            apps[index].launches[ending].reopen = attach == nil
            let launch = apps[index].launches[ending].id
            save(app: index, launch: launch)
            guard attach == nil else {
                throw Refusal(.held, reason: "\(id) is being terminated", fix: "try again")
            }
            opening.append(Opening(launch: launch, reply: reply, attaches: false))
        } else {
            let launch = launchForUser(index, manifest.value, exec, attach: attach, &step)
            opening.append(Opening(launch: launch, reply: reply, attaches: attach != nil))
        }
    }

    private func opened(_ launch: LaunchID, _ manifest: AppManifest, attached: Bool) -> Value {
        [
            "launch": .integer(Int64(launch.number)), "attach": .bool(attached),
            "arguments": .list((manifest.exec ?? []).map { .string($0) }),
            "directory": .string(manifest.directory ?? ""),
        ]
    }

    /// Who waits to hear whether an app was started, or to become its process.
    struct Opening: Hashable, Sendable, Codable {
        var launch: LaunchID
        var reply: ReplyToken
        var attaches: Bool
    }

    /// It is known what became of a launch. `failure`: why it is none.
    mutating func answerOpening(
        _ id: LaunchID,
        _ index: Int,
        failure: StartFailure? = nil,
        _ step: inout Step
    ) {
        for waiting in opening where waiting.launch == id {
            if failure == nil, let manifest = apps[index].manifest {
                let value = opened(id, manifest.value, attached: waiting.attaches)
                step.reply(waiting.reply, .value(value))
                continue
            }
            let name = apps[index].id
            let why = failure?.reason ?? "its manifest is gone"
            let manifest = apps[index].manifest?.file ?? "its manifest"
            let fix = (failure?.cause ?? .program).fix(in: manifest) + ", then try again"
            step.reply(
                waiting.reply,
                .refused(
                    waiting.attaches
                        ? Refusal(
                            .held,
                            reason: "\(name) cannot be run as the calling process: \(why)",
                            fix: "open it without attaching"
                        )
                        : Refusal(
                            .held,
                            reason: "\(name) cannot be started: \(why)",
                            fix: fix
                        )
                )
            )
        }
        opening.removeAll { $0.launch == id }
    }

    private mutating func launchForUser(
        _ index: Int,
        _ manifest: AppManifest,
        _ exec: [String],
        attach: ProcessID?,
        _ step: inout Step
    ) -> LaunchID {
        let launch = Launch(
            id: nextSerial(LaunchKind.self),
            role: .main,
            phase: .starting,
            presence: .foreground,
            lastForeground: step.now.awake
        )
        add(launch, to: index)
        let spec = spec(manifest, arguments: exec, weight: .foreground)
        if let attach {
            step.emit(.attach(launch.id, attach, spec))
        } else {
            step.emit(.spawn(launch.id, spec))
        }
        return launch.id
    }

    /// An app without a manifest in force: it is not known, or what is wrong in it is said.
    private func unusable(_ id: AppID, _ verb: String) -> Refusal {
        guard let index = apps.index(of: id), let problem = apps[index].problem else {
            return unknown(id)
        }
        return Refusal(
            .held,
            reason: "\(id) cannot be \(verb): its manifest is not valid",
            value: problem,
            fix: "offstage explain \(id)"
        )
    }

    /// Whoever asks for an app that there is not is told which one may be meant.
    package func unknown(_ id: AppID) -> Refusal {
        let guess = Spelling.suggestion(for: id.name, among: appNames)
        return Refusal(
            .notFound,
            reason: "no app of that name",
            value: id.name,
            fix: guess.map { "did you mean \($0)?" }
                ?? "offstage apps lists those that are known"
        )
    }

    private mutating func toForeground(_ index: Int, _ place: Int, _ step: inout Step) {
        let launch = apps[index].launches[place]
        guard launch.presence != .foreground else { return }
        if launch.isFrozen { thaw(index, place, &step) }
        apps[index].launches[place].presence = .foreground
        apps[index].launches[place].lastForeground = step.now.awake
        apps[index].launches[place].graceEnd = nil
        apps[index].launches[place].enteringUntil = nil
        apps[index].launches[place].finishUp = nil
        apps[index].launches[place].monitor = nil
        apps[index].launches[place].launchingUntil = nil
        // Tasks of a wake are tasks of the foreground from now on.
        for slot in apps[index].launches[place].tasks.indices {
            apps[index].launches[place].tasks[slot].inWake = false
            apps[index].launches[place].tasks[slot].end = nil
            // Their time is not over: who connects again is not told so, when it counts anew.
            apps[index].launches[place].tasks[slot].warned = false
        }
        // What it was given in the background goes on without an end. A handler that was called
        // has been: it is called once.
        apps[index].launches[place].wake?.end = .distantFuture
        apps[index].launches[place].wake?.stop = nil
        for slot in apps[index].launches[place].deliveries.indices {
            apps[index].launches[place].deliveries[slot].end = .distantFuture
            apps[index].launches[place].deliveries[slot].warned = false
        }
        save(app: index, launch: launch.id)
        step.emit(.weigh(launch.id, .foreground))
        step.emit(.limitMemory(launch.id, nil))
        if launch.isConnected {
            step.emit(.tell(launch.id, .willEnterForeground))
            step.emit(.tell(launch.id, .didBecomeActive))
        }
        touch(index)
    }

    mutating func leave(_ id: AppID, _ reply: ReplyToken, _ step: inout Step) {
        guard let index = apps.index(of: id), apps[index].manifest != nil else {
            step.reply(reply, .refused(unusable(id, "left")))
            return
        }
        guard let main = apps[index].mainLaunch, main.presence == .foreground,
            let place = apps[index].index(of: main.id)
        else {
            step.reply(
                reply,
                .refused(
                    Refusal(.held, reason: "\(id) is not open", fix: "offstage open \(id)")
                )
            )
            return
        }
        used(index, .left, &step)
        apps[index].launches[place].presence = .background
        apps[index].launches[place].lastForeground = step.now.awake
        // Work begun in the foreground uses none of it until now; begun later, what is left.
        apps[index].launches[place].finishUp = Launch.FinishUp(
            end: step.now.awake + settings.finishUp
        )
        let grace =
            step.now.awake
            + (main.isConnected ? settings.enteringBackground : settings.suspendDelay)
        apps[index].launches[place].graceEnd = grace
        apps[index].launches[place].enteringUntil = main.isConnected ? grace : nil
        var end = step.now.awake + settings.wakeGrant
        for slot in apps[index].launches[place].deliveries.indices {
            let isLong = apps[index].launches[place].deliveries[slot].trigger == .processing
            let own = step.now.awake + grant(for: isLong ? .processing : .refresh)
            apps[index].launches[place].deliveries[slot].end = own
            end = max(end, own)
        }
        if main.wake != nil { apps[index].launches[place].wake?.end = end }
        let monitor = monitor(apps[index].launches[place], at: step.now)
        apps[index].launches[place].monitor = monitor
        save(app: index, launch: main.id)
        step.emit(.weigh(main.id, .background))
        if main.isConnected {
            // Of the tasks that it holds, or begins now.
            let end = step.now.awake + settings.finishUp
            let work = apps[index].launches[place].deliveries.filter { $0.state == .running }
                .map { DeliveryEnd($0.id, $0.end) }
            step.emit(.tell(main.id, .didEnterBackground(until: end, work: work)))
        }
        step.reply(reply, .done)
        touch(index)
    }

    /// The swipe (F3).
    mutating func close(_ id: AppID, _ reply: ReplyToken, _ step: inout Step) {
        guard let index = apps.index(of: id), let manifest = apps[index].manifest else {
            step.reply(reply, .refused(unusable(id, "closed")))
            return
        }
        // Nothing would ever lift it: it cannot be opened, and nobody sees it used.
        guard manifest.exec != nil || manifest.useFrom != nil else {
            let refusal = Refusal(
                .invalid,
                reason: "\(id) has no program of its own to close",
                fix: apps[index].isTransient
                    ? "offstage cancel \(id)"
                    : "offstage set background-refresh off --app \(id)"
            )
            step.reply(reply, .refused(refusal))
            return
        }
        apps[index].record.closedAt = step.now.wall
        note(.use(.closed), app: index, &step)
        save(app: index)
        for place in apps[index].launches.indices where apps[index].launches[place].reopen {
            apps[index].launches[place].reopen = false
            save(app: index, launch: apps[index].launches[place].id)
        }
        for launch in apps[index].launches { end(launch.id, .userClosed, &step) }
        step.reply(reply, .done)
        touch(index)
    }

    mutating func wasUsed(_ id: AppID, _ step: inout Step) {
        guard let index = apps.index(of: id) else { return }
        guard !isOurDoing(apps[index], step.now) else { return }
        used(index, .seen, &step)
    }

    /// What `UseFrom` shows while, or just after, a program of ours runs for the app is not a
    /// user's doing. (An executable is opened when a run begins, a file may be written at any time
    /// of it; what shows it may come a moment later.)
    private func isOurDoing(_ app: AppState, _ now: Moment) -> Bool {
        let slack = Interval.seconds(3)
        if app.isForeground { return true }
        if let last = app.record.lastRun, last.at <= now.wall, now.wall - last.at < slack {
            return true
        }
        return app.launches.contains { launch in
            guard launch.isCommand, launch.presence != .suspended else { return false }
            switch app.manifest?.useFrom {
            case .none, .file: return true
            case .exec:
                return launch.phase != .running
                    || launch.wake.map { now.boot - $0.began.boot < slack } ?? false
            }
        }
    }

    private mutating func used(_ index: Int, _ kind: HistoryLine.UseKind, _ step: inout Step) {
        apps[index].record.lastUsed = step.now.wall
        apps[index].record.unusedSince = nil
        switch kind {
        case .opened, .seen:
            apps[index].record.closedAt = nil
            apps[index].record.refresh.opened(on: &use, at: UseTime(step.now))
            apps[index].record.paces.removeAll()
            // What it was to be refreshed for has come.
            apps[index].dropDecisions()
            planner.forgetGain(of: index)
            // Of what is only seen there is no end to see.
            if kind == .seen { useEnded(of: index, &step) }
        case .left: useEnded(of: index, &step)
        case .closed: break
        }
        planner.useChanged()
        save(.device)
        note(.use(kind), app: index, &step)
        save(app: index)
        touch(index)
    }

    private mutating func useEnded(of index: Int, _ step: inout Step) {
        let now = UseTime(step.now)
        apps[index].record.refresh.left(at: now)
        planner.useChanged()
        guard conditions.deviceIdle else { return }
        // Nothing else tells when the user is gone.
        for owner in owners where owner.app != index && apps[owner.app].isForeground { return }
        use.left(at: now)
    }

    // MARK: Suspension

    /// Nothing is left to do: frozen. A program with a window that nobody watches stays.
    mutating func suspendIfDone(_ id: LaunchID, _ step: inout Step) {
        guard let (index, place) = find(id) else { return }
        let launch = apps[index].launches[place]
        let hasNothing =
            launch.deliveries.isEmpty && launch.tasks.isEmpty && launch.graceEnd == nil
            && launch.launchingUntil == nil
        guard launch.role == .main, launch.presence == .background, launch.ending == nil,
            launch.phase == .running, hasNothing, mayFreeze(launch, apps[index].manifest)
        else { return }
        freeze(index, place, &step)
    }

    private func mayFreeze(_ launch: Launch, _ manifest: Shared<AppManifest>?) -> Bool {
        guard let manifest else { return false }
        return launch.isConnected || manifest.terminal || manifest.noDisplay
    }

    // MARK: The end of the app's process

    mutating func appExited(_ index: Int, _ place: Int, _ exit: Exit, _ step: inout Step) {
        let launch = apps[index].launches[place]
        let result: RunResult
        switch (launch.ending, exit) {
        case (.some(let ending), _): result = .terminated(ending.reason)
        case (.none, .unknown): result = .unknown
        case (.none, .signal(_, outOfMemory: true)): result = .terminated(.memoryLimit)
        case (.none, .signal(let signal, outOfMemory: false)): result = .crashed(signal: signal)
        case (.none, .status(let status)): result = .exited(status: status)
        }
        endApp(launch.id, result, reason: result.words, &step)
    }

    mutating func endApp(
        _ id: LaunchID,
        _ result: RunResult,
        reason: String,
        _ step: inout Step
    ) {
        guard let (index, place) = find(id) else { return }
        apps[index].launches[place].isConnected = false
        let launch = apps[index].launches[place]
        if launch.presence == .foreground {
            apps[index].record.lastUsed = step.now.wall
            save(app: index)
            useEnded(of: index, &step)
        }
        if launch.deliveries.isEmpty {
            note(.ended(result, reason: reason), app: index, &step)
        } else {
            for delivery in launch.deliveries {
                finish(delivery.id, index, result, reason: reason, &step)
            }
        }
        if launch.reopen, !isStopping, let manifest = apps[index].manifest, let exec = manifest.exec
        {
            let next = launchForUser(index, manifest.value, exec, attach: nil, &step)
            // They wait for what they asked for, not for the end of what was there.
            for place in opening.indices where opening[place].launch == id {
                opening[place].launch = next
            }
        }
        if isStopping {
            for waiting in opening where waiting.launch == id {
                step.reply(waiting.reply, .refused(.stopping))
            }
            opening.removeAll { $0.launch == id }
        }
        remove(id, from: index, &step)
    }
}

extension Refusal {
    static let stopping = Refusal(
        .held,
        reason: "the daemon is stopping",
        fix: "try again when it runs again"
    )
}
