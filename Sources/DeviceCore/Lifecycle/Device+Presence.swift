package import Vocabulary

/// Foreground, background, suspended; and the time that an app may use in between.
extension Device {
    // MARK: The user comes and goes

    mutating func open(
        _ id: AppID,
        attach: ProcessID?,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            try open(id, attach, reply, &transition)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    private mutating func open(
        _ id: AppID,
        _ attach: ProcessID?,
        _ reply: ReplyToken,
        _ transition: inout Transition
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
        used(index, .opened, &transition)
        if let main, let launchIndex = apps[index].index(of: main.id) {
            guard attach == nil else {
                throw Refusal(
                    .held,
                    reason: "\(id) is already open",
                    fix: "offstage close \(id)"
                )
            }
            toForeground(index, launchIndex, &transition)
            transition.reply(reply, .opened(OpenedApp(launch: main.id)))
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
            let launch = launchForUser(index, manifest.value, exec, attach: attach, &transition)
            opening.append(Opening(launch: launch, reply: reply, attaches: attach != nil))
        }
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
        _ transition: inout Transition
    ) {
        for waiting in opening where waiting.launch == id {
            if failure == nil, let manifest = apps[index].manifest {
                let opened = OpenedApp(
                    launch: id,
                    attach: waiting.attaches,
                    arguments: manifest.exec ?? [],
                    directory: manifest.directory ?? ""
                )
                transition.reply(waiting.reply, .opened(opened))
                continue
            }
            let name = apps[index].id
            let why = failure?.reason ?? "its manifest is gone"
            let manifest = apps[index].manifest?.file ?? "its manifest"
            let fix = (failure?.cause ?? .program).fix(in: manifest) + ", then try again"
            transition.reply(
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
        _ transition: inout Transition
    ) -> LaunchID {
        let launch = Launch(
            id: nextSerial(LaunchKind.self),
            role: .main,
            phase: .starting,
            presence: .foreground,
            lastForeground: transition.now.awake
        )
        add(launch, to: index)
        let spec = spec(manifest, arguments: exec, weight: .foreground)
        if let attach {
            transition.emit(.attach(launch.id, attach, spec))
        } else {
            transition.emit(.spawn(launch.id, spec))
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

    private mutating func toForeground(
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.presence != .foreground else { return }
        if launch.isFrozen { thaw(index, launchIndex, &transition) }
        apps[index].launches[launchIndex].presence = .foreground
        apps[index].launches[launchIndex].lastForeground = transition.now.awake
        apps[index].launches[launchIndex].graceEnd = nil
        apps[index].launches[launchIndex].enteringUntil = nil
        apps[index].launches[launchIndex].finishUp = nil
        apps[index].launches[launchIndex].monitor = nil
        apps[index].launches[launchIndex].launchingUntil = nil
        // Tasks of a wake are tasks of the foreground from now on.
        for slot in apps[index].launches[launchIndex].tasks.indices {
            apps[index].launches[launchIndex].tasks[slot].inWake = false
            apps[index].launches[launchIndex].tasks[slot].end = nil
            // Their time is not over: who connects again is not told so, when it counts anew.
            apps[index].launches[launchIndex].tasks[slot].warned = false
        }
        // What it was given in the background goes on without an end. A handler that was called
        // has been: it is called once.
        apps[index].launches[launchIndex].wake?.end = .distantFuture
        apps[index].launches[launchIndex].wake?.stop = nil
        for slot in apps[index].launches[launchIndex].deliveries.indices {
            apps[index].launches[launchIndex].deliveries[slot].end = .distantFuture
            apps[index].launches[launchIndex].deliveries[slot].warned = false
        }
        save(app: index, launch: launch.id)
        transition.emit(.weigh(launch.id, .foreground))
        transition.emit(.limitMemory(launch.id, nil))
        if launch.isConnected {
            transition.emit(.tell(launch.id, .willEnterForeground))
            transition.emit(.tell(launch.id, .didBecomeActive))
        }
        touch(index)
    }

    mutating func leave(_ id: AppID, _ reply: ReplyToken, _ transition: inout Transition) {
        guard let index = apps.index(of: id), apps[index].manifest != nil else {
            transition.reply(reply, .refused(unusable(id, "left")))
            return
        }
        guard let main = apps[index].mainLaunch, main.presence == .foreground,
            let launchIndex = apps[index].index(of: main.id)
        else {
            transition.reply(
                reply,
                .refused(
                    Refusal(.held, reason: "\(id) is not open", fix: "offstage open \(id)")
                )
            )
            return
        }
        used(index, .left, &transition)
        apps[index].launches[launchIndex].presence = .background
        apps[index].launches[launchIndex].lastForeground = transition.now.awake
        // Work begun in the foreground uses none of it until now; begun later, what is left.
        apps[index].launches[launchIndex].finishUp = Launch.FinishUp(
            end: transition.now.awake + settings.finishUp
        )
        let grace =
            transition.now.awake
            + (main.isConnected ? settings.enteringBackground : settings.suspendDelay)
        apps[index].launches[launchIndex].graceEnd = grace
        apps[index].launches[launchIndex].enteringUntil = main.isConnected ? grace : nil
        var end = transition.now.awake + settings.wakeGrant
        for slot in apps[index].launches[launchIndex].deliveries.indices {
            let trigger = apps[index].launches[launchIndex].deliveries[slot].trigger
            let own = transition.now.awake + grant(for: trigger.grant)
            apps[index].launches[launchIndex].deliveries[slot].end = own
            end = max(end, own)
        }
        if main.wake != nil { apps[index].launches[launchIndex].wake?.end = end }
        let monitor = monitor(apps[index].launches[launchIndex], at: transition.now)
        apps[index].launches[launchIndex].monitor = monitor
        save(app: index, launch: main.id)
        transition.emit(.weigh(main.id, .background))
        if main.isConnected {
            // Of the tasks that it holds, or begins now.
            let end = transition.now.awake + settings.finishUp
            let work = apps[index].launches[launchIndex].deliveries.filter { $0.state == .running }
                .map { DeliveryEnd($0.id, $0.end) }
            transition.emit(.tell(main.id, .didEnterBackground(until: end, work: work)))
        }
        transition.reply(reply, .done)
        touch(index)
    }

    /// The swipe (F3).
    mutating func close(_ id: AppID, _ reply: ReplyToken, _ transition: inout Transition) {
        guard let index = apps.index(of: id), let manifest = apps[index].manifest else {
            transition.reply(reply, .refused(unusable(id, "closed")))
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
            transition.reply(reply, .refused(refusal))
            return
        }
        apps[index].record.closedAt = transition.now.wall
        appendHistory(.use(.closed), app: index, &transition)
        save(app: index)
        for launchIndex in apps[index].launches.indices
        where apps[index].launches[launchIndex].reopen {
            apps[index].launches[launchIndex].reopen = false
            save(app: index, launch: apps[index].launches[launchIndex].id)
        }
        for launch in apps[index].launches { end(launch.id, .userClosed, &transition) }
        transition.reply(reply, .done)
        touch(index)
    }

    mutating func wasUsed(_ id: AppID, _ transition: inout Transition) {
        guard let index = apps.index(of: id) else { return }
        guard !isOurDoing(apps[index], transition.now) else { return }
        used(index, .seen, &transition)
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

    private mutating func used(
        _ index: Int,
        _ kind: HistoryLine.UseKind,
        _ transition: inout Transition
    ) {
        apps[index].record.lastUsed = transition.now.wall
        apps[index].record.unusedSince = nil
        switch kind {
        case .opened, .seen:
            apps[index].record.closedAt = nil
            apps[index].record.refresh.opened(on: &use, at: UseTime(transition.now))
            apps[index].record.paces.removeAll()
            // What it was to be refreshed for has come.
            apps[index].dropDecisions()
            planner.forgetGain(of: index)
            // Of what is only seen there is no end to see.
            if kind == .seen { useEnded(of: index, &transition) }
        case .left: useEnded(of: index, &transition)
        case .closed: break
        }
        planner.useChanged()
        save(.device)
        appendHistory(.use(kind), app: index, &transition)
        save(app: index)
        touch(index)
    }

    private mutating func useEnded(of index: Int, _ transition: inout Transition) {
        let now = UseTime(transition.now)
        apps[index].record.refresh.left(at: now)
        planner.useChanged()
        guard conditions.deviceIdle else { return }
        // Nothing else tells when the user is gone.
        for owner in owners where owner.app != index && apps[owner.app].isForeground { return }
        use.left(at: now)
    }

    // MARK: Suspension

    /// Nothing is left to do: frozen. A program with a window that nobody watches stays.
    mutating func suspendIfDone(_ id: LaunchID, _ transition: inout Transition) {
        guard let (index, launchIndex) = find(id) else { return }
        let launch = apps[index].launches[launchIndex]
        let hasNothing =
            launch.deliveries.isEmpty && launch.tasks.isEmpty && launch.graceEnd == nil
            && launch.launchingUntil == nil
        guard launch.role == .main, launch.presence == .background, launch.ending == nil,
            launch.phase == .running, hasNothing, mayFreeze(launch, apps[index].manifest)
        else { return }
        freeze(index, launchIndex, &transition)
    }

    private func mayFreeze(_ launch: Launch, _ manifest: Shared<AppManifest>?) -> Bool {
        guard let manifest else { return false }
        return launch.isConnected || manifest.terminal || manifest.noDisplay
    }

    // MARK: The end of the app's process

    mutating func appExited(
        _ index: Int,
        _ launchIndex: Int,
        _ exit: Exit,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        let result: RunResult
        switch (launch.ending, exit) {
        case (.some(let ending), _): result = .terminated(ending.reason)
        case (.none, .unknown): result = .unknown
        case (.none, .signal(_, outOfMemory: true)): result = .terminated(.memoryLimit)
        case (.none, .signal(let signal, outOfMemory: false)): result = .crashed(signal: signal)
        case (.none, .status(let status)): result = .exited(status: status)
        }
        endApp(launch.id, result, reason: result.summary, &transition)
    }

    mutating func endApp(
        _ id: LaunchID,
        _ result: RunResult,
        reason: String,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        apps[index].launches[launchIndex].isConnected = false
        let launch = apps[index].launches[launchIndex]
        if launch.presence == .foreground {
            apps[index].record.lastUsed = transition.now.wall
            save(app: index)
            useEnded(of: index, &transition)
        }
        if launch.deliveries.isEmpty {
            appendHistory(.ended(result, reason: reason), app: index, &transition)
        } else {
            for delivery in launch.deliveries {
                finish(delivery.id, index, result, reason: reason, &transition)
            }
        }
        if launch.reopen, !isStopping, let manifest = apps[index].manifest, let exec = manifest.exec
        {
            let next = launchForUser(index, manifest.value, exec, attach: nil, &transition)
            // They wait for what they asked for, not for the end of what was there.
            for position in opening.indices where opening[position].launch == id {
                opening[position].launch = next
            }
        }
        if isStopping {
            for waiting in opening where waiting.launch == id {
                transition.reply(waiting.reply, .refused(.stopping))
            }
            opening.removeAll { $0.launch == id }
        }
        remove(id, from: index, &transition)
    }
}

extension Refusal {
    static let stopping = Refusal(
        .held,
        reason: "the daemon is stopping",
        fix: "try again when it runs again"
    )
}
