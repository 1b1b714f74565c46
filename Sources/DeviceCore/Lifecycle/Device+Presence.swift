package import Vocabulary

/// The user opens apps, leaves and closes them.
extension Device {
    mutating func open(
        _ id: AppID,
        attach: ProcessID?,
        urls: [String],
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            try open(id, attach, urls, reply, &transition)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    private mutating func open(
        _ id: AppID,
        _ attach: ProcessID?,
        _ urls: [String],
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) throws(Refusal) {
        guard let index = apps.index(of: id), let manifest = apps[index].manifest else {
            throw unusable(id, "opened")
        }
        guard !isStopping else { throw Refusal.stopping }
        guard manifest.exec != nil else {
            throw Refusal(
                .held,
                reason: "\(id) has no program of its own to open",
                fix: apps[index].isTransient
                    ? "offstage run \(id) runs what was submitted"
                    : "give its manifest an Exec= line"
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
        for launch in apps[index].launches where launch.role == .main && !launch.mayOpen(urls) {
            throw Refusal(
                .held,
                reason: "\(id) has not opened what it was given before",
                value: "\(Launch.mostUnopened) URLs at most wait for it",
                fix: "offstage close \(id), then try again"
            )
        }
        let ending = apps[index].launches.first { $0.role == .main && $0.ending != nil }
        if attach != nil { try checkFree(id, main, ending) }
        used(index, .opened, isTold: main?.process != nil, &transition)
        if let main {
            take(.opened(urls: urls), main.id, &transition)
            var opened = OpenedApp(launch: main.id)
            // It is told when it connects. A program that does not link the library never does.
            if !urls.isEmpty, !main.isConnected {
                opened.untold = Int64(main.openings.reduce(urls.count) { $0 + $1.urls.count })
            }
            transition.reply(reply, .opened(opened))
        } else if let ending {
            take(.reopened(true, urls: urls), ending.id, &transition)
            liveLaunches.append([WaitingOpener(reply: reply, attaches: false)], to: ending.id)
        } else {
            let launch = launchForUser(index, attach: attach, urls, &transition)
            let opener = WaitingOpener(reply: reply, attaches: attach != nil)
            liveLaunches.append([opener], to: launch)
        }
    }

    /// A process can become an app only where the app has none.
    private func checkFree(_ id: AppID, _ main: Launch?, _ ending: Launch?) throws(Refusal) {
        if let main {
            let place = main.presence == .foreground ? "open" : "running in the background"
            throw Refusal(
                .held,
                reason: "\(id) is already \(place), and cannot be moved to this process",
                fix: "end it with \"offstage close \(id)\", or open it without attaching"
            )
        }
        if ending != nil {
            throw Refusal(.held, reason: "\(id) is being terminated", fix: "try again")
        }
    }

    /// It is known what became of a launch. `failure`: why it is none; the history then has no word
    /// of an opening.
    mutating func answerOpeners(
        _ id: LaunchID,
        _ index: Int,
        failure: StartFailure? = nil,
        _ transition: inout Transition
    ) {
        let isOpened = failure == nil && apps[index].record.closedAt == nil
        // A daemon that asked for it may not have lived to see it start.
        let isInFront = apps[index].launches.contains { $0.id == id && $0.presence == .foreground }
        if isOpened, isInFront || liveLaunches.hasOpeners(id) {
            apps[index].record.lastUsed = transition.now.wall
            appendHistory(.use(.opened), app: index, &transition)
            save(app: index)
        }
        for waiting in liveLaunches.removeOpeners(of: id) {
            guard failure == nil || !isStopping else {
                transition.reply(waiting.reply, .refused(.stopping))
                continue
            }
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
    }

    private mutating func launchForUser(
        _ index: Int,
        attach: ProcessID?,
        _ urls: [String],
        _ transition: inout Transition
    ) -> LaunchID {
        let launch = Launch.opened(nextSerial(LaunchKind.self), for: urls)
        add(launch, to: index, attach: attach, &transition)
        return launch.id
    }

    /// Its user asked for it while it was ending.
    mutating func reopen(_ id: LaunchID, _ index: Int, _ transition: inout Transition) {
        guard !isStopping, apps[index].manifest?.exec != nil else { return }
        let urls = apps[index].launches.first { $0.id == id }?.openings.flatMap(\.urls) ?? []
        let next = launchForUser(index, attach: nil, urls, &transition)
        // They wait for what they asked for, not for the end of what was there.
        liveLaunches.append(liveLaunches.removeOpeners(of: id), to: next)
    }

    /// An app without a manifest in force: it is not known, or what is wrong in it is said.
    private func unusable(_ id: AppID, _ verb: String) -> Refusal {
        guard let index = apps.index(of: id), let problem = apps[index].problem else {
            return unknown(id)
        }
        return Refusal(
            .held,
            reason: "\(id) cannot be \(verb): "
                + (apps[index].lacksProgram ? "it is not installed" : "its manifest is not valid"),
            value: problem,
            fix: "offstage explain \(id)"
        )
    }

    /// Who asks for an unknown app is told which one may be meant.
    package func unknown(_ id: AppID) -> Refusal {
        let guess = guess(id.name)
        return Refusal(
            .notFound,
            reason: "no app of that name",
            value: id.name,
            fix: guess.map { "did you mean \($0)?" }
                ?? "offstage apps lists those that are known"
        )
    }

    /// Also of a file's name, and of a command by the name that it was submitted with.
    private func guess(_ name: String) -> String? {
        let (names, suffix, prefix) = (appNames, ".desktop", Self.commandPrefix)
        let word = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
        if let known = names.first(where: { $0 == word || $0 == prefix + word }) { return known }
        if let near = Spelling.suggestion(for: word, among: names) { return near }
        let commands = names.filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        return Spelling.suggestion(for: word, among: commands.map(String.init)).map { prefix + $0 }
    }

    mutating func leave(_ id: AppID, _ reply: ReplyToken, _ transition: inout Transition) {
        guard let index = apps.index(of: id), apps[index].manifest != nil else {
            transition.reply(reply, .refused(unusable(id, "left")))
            return
        }
        guard let main = apps[index].mainLaunch, main.presence == .foreground else {
            transition.reply(
                reply,
                .refused(
                    Refusal(.held, reason: "\(id) is not open", fix: "offstage open \(id)")
                )
            )
            return
        }
        used(index, .left, &transition)
        take(.left, main.id, &transition)
        transition.reply(reply, .done)
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
        closeTransfers(of: index, &transition)
        save(app: index)
        for launch in apps[index].launches {
            if launch.reopen { take(.reopened(false), launch.id, &transition) }
            take(.ended(.userClosed, detail: ""), launch.id, &transition)
        }
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
        // Its use is told by the desktop, which starts nothing for us.
        guard app.manifest?.useFrom != nil else { return false }
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

    /// `isTold`: it has come about, and the history says so. Else both follow when it has.
    private mutating func used(
        _ index: Int,
        _ kind: HistoryLine.UseKind,
        isTold: Bool = true,
        _ transition: inout Transition
    ) {
        if isTold { apps[index].record.lastUsed = transition.now.wall }
        apps[index].record.unusedSince = nil
        switch kind {
        case .opened, .seen:
            if apps[index].record.closedAt != nil {
                apps[index].record.closedAt = nil
                touchTransfers(heldBy: GateSet(.closedByUser))
            }
            refreshPolicy.appOpened(index, &apps[index], at: UseTime(transition.now))
            apps[index].record.paces.removeAll()
            promoteTransfers(of: index, transition.now)
            // What it was to be refreshed for has come.
            apps[index].dropDecisions()
            // Of what is only seen there is no end to see.
            if kind == .seen { useEnded(of: index, &transition) }
        case .left: useEnded(of: index, &transition)
        case .closed: refreshPolicy.appClosed()
        }
        save(.device)
        if isTold { appendHistory(.use(kind), app: index, &transition) }
        save(app: index)
        touch(index)
    }

    mutating func useEnded(of index: Int, _ transition: inout Transition) {
        let now = UseTime(transition.now)
        refreshPolicy.appLeft(&apps[index], at: now)
        guard conditions.deviceIdle else { return }
        // Nothing else tells when the user is gone.
        let own = apps[index].launches.count(where: \.isForeground)
        guard liveLaunches.count(.foreground) == own else { return }
        refreshPolicy.deviceLeft(at: now)
    }
}

extension Refusal {
    static let stopping = Refusal(
        .held,
        reason: "the daemon is stopping",
        fix: "try again when it runs again"
    )
}
