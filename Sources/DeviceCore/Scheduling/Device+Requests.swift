import Vocabulary

/// Asking for work: submit and run; and the standing requests that a manifest or
/// a fetch interval makes.
extension Device {
    mutating func user(_ request: UserRequest, _ reply: ReplyToken, _ transition: inout Transition)
    {
        switch request {
        case .open(let app, let attach, let urls):
            open(app, attach: attach, urls: urls, reply, &transition)
        case .leave(let app): leave(app, reply, &transition)
        case .close(let app): close(app, reply, &transition)
        case .submit(let submission): submit(submission, reply, &transition)
        case .run(let app, let identifier): run(app, identifier, reply, &transition)
        case .cancel(let app, let identifier): cancel(app, identifier, reply, &transition)
        case .cancelPending(let app, let identifier):
            guard let index = apps.index(of: app) else {
                return transition.reply(reply, .refused(unknown(app)))
            }
            cancelPending(of: index, identifier: identifier, &transition)
            transition.reply(reply, .done)
        case .dismiss(let app): dismiss(app, reply, &transition)
        case .pause(let interval, let date):
            pauseWork(for: interval, until: date, reply, &transition)
        case .continue:
            endPause()
            save(.device)
            transition.reply(reply, .done)
            touchAll()
        case .override(let condition, let reading):
            conditionReported(condition, .hand, reading, &transition)
            transition.reply(reply, .done)
        case .transfer(let asked): transfer(asked, reply, &transition)
        case .simulate(let simulation, let app, let identifier, let kind):
            simulate(simulation, app, identifier, kind, reply, &transition)
        }
    }

    // MARK: Submit

    mutating func submit(
        _ submission: Submission,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            transition.reply(reply, .requested(try accept(submission, &transition)))
        } catch {
            if error.code == .notPermitted, submission.command == nil, let app = submission.app,
                let index = apps.index(of: app)
            {
                recordMistake(.notPermitted, error.value, app: index, &transition)
            }
            transition.reply(reply, .refused(error))
        }
    }

    private mutating func accept(
        _ submission: Submission,
        _ transition: inout Transition
    ) throws(Refusal) -> RequestedTask {
        let (app, identifier) = try name(of: submission)
        try check(submission)
        if let answered = answered(submission, app) { return answered }
        guard settings.backgroundRefresh, settings.value.app(app).backgroundRefresh else {
            throw Refusal(
                .unavailable,
                reason: "background refresh is off",
                value: settings.backgroundRefresh ? app.name : "all apps",
                fix: settings.value.isRefreshRestricted(of: app)
                    ? Refusal.administrator
                    : "offstage set background-refresh on"
                        + (settings.backgroundRefresh ? " --app \(app)" : "")
            )
        }
        if submission.command == nil { try checkPermission(submission, app, identifier) }
        let index = ensureApp(app)
        try checkCaps(submission.kind, identifier, index)
        if let command = submission.command {
            let manifest = Shared(transientManifest(app, command, submission))
            if apps[index].record.firstSeen == nil {
                apps[index].record.firstSeen = transition.now.wall
            }
            apps[index].record.transient = manifest
            apps[index].record.closedAt = nil
            apps[index].manifest = manifest
            refreshPolicy.memberChanged(index)
        }
        for replaced in apps[index].requests where replaced.isReplaced(by: identifier) {
            giveUp(replaced, of: index)
        }
        let request = Request(
            id: nextSerial(RequestKind.self),
            identifier: identifier,
            trigger: submission.kind.trigger,
            origin: .submitted,
            earliest: submission.earliest ?? submission.after.map { transition.now.wall + $0 },
            span: submission.earliest == nil ? submission.after : nil,
            needs: submission.needs,
            every: submission.every,
            submittedAt: transition.now.wall
        )
        remember(submission.token, request, index)
        if submission.command == nil { apps[index].record.rememberKind(of: request) }
        save(app: index)
        enqueue(request, of: index)
        return RequestedTask(
            app: app,
            identifier: identifier,
            request: request.id,
            unsensed: unsensed(by: submission)
        )
    }

    /// Waits from now on until its gates are open.
    mutating func enqueue(_ request: Request, of index: Int) {
        apps[index].requests.append(request)
        if request.trigger.spendsRefreshBudget { refreshPolicy.requestsChanged(of: index) }
        save(app: index, request: request.id)
        touch(index)
    }

    /// What it depends on, and nothing tells; nil: nothing.
    private func unsensed(by submission: Submission) -> [String]? {
        var names = unsensed(by: submission.needs)
        if submission.kind == .processing, conditions.idleIsEstimated {
            names.append(Condition.idle.row.name)
        }
        return names.isEmpty ? nil : names
    }

    private func check(_ submission: Submission) throws(Refusal) {
        if let token = submission.token, token.utf8.count > 64 {
            throw Refusal(
                .invalid,
                reason: "a token has at most 64 bytes",
                value: "\(token.utf8.count) bytes",
                fix: "give a shorter one"
            )
        }
        if let ignored = submission.kind.ignored(of: submission.needs) {
            throw Refusal(
                .invalid,
                reason: "a \(submission.kind.rawValue) does not support this condition",
                value: ignored.rawValue,
                fix: "leave it out, or use another kind"
            )
        }
    }

    private func name(of submission: Submission) throws(Refusal) -> (AppID, String) {
        if let app = submission.app {
            if let command = submission.command {
                throw Refusal(
                    .invalid,
                    reason: "an app submits an identifier, not a command",
                    value: command.first ?? "",
                    fix: "name the command in RefreshCommand= or ProcessingCommand="
                )
            }
            guard let identifier = submission.identifier, !identifier.isEmpty else {
                throw Refusal(
                    .invalid,
                    reason: "the request has no identifier",
                    fix: "give one of PermittedTaskIdentifiers="
                )
            }
            return (app, identifier)
        }
        guard let command = submission.command, let program = command.first, !program.isEmpty
        else {
            throw Refusal(
                .invalid,
                reason: "there is no command to run",
                fix: "offstage submit --refresh -- COMMAND…"
            )
        }
        let base = program.split(separator: "/").last.map(String.init) ?? program
        // Who copies the app's name from what we print means its task.
        let said = submission.identifier.map {
            $0.hasPrefix(Self.commandPrefix) ? String($0.dropFirst(Self.commandPrefix.count)) : $0
        }
        let name = said ?? base
        let isPlain = name.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
                || "-_.+".unicodeScalars.contains($0)
        }
        guard isPlain, !name.isEmpty, name.utf8.count <= 64 else {
            throw Refusal(
                .invalid,
                reason: "a name has up to 64 letters (a to z and A to Z), digits, - _ . or +",
                value: name,
                fix: "give one with --id"
            )
        }
        return (AppID(Self.commandPrefix + name), name)
    }

    /// Before the name of what the user submitted.
    package static let commandPrefix = "command."

    /// What a submit was answered before, by its token; nil: it is a new one, or none.
    func answered(_ event: Event) -> (reply: ReplyToken, answer: RequestedTask)? {
        var submission: Submission
        let token: ReplyToken
        switch event {
        case .user(.submit(let said), let reply): (submission, token) = (said, reply)
        case .app(let launch, .submit(let said, let reply)):
            (submission, token) = (said, reply)
            submission.app = self.launch(launch).map { apps[$0.app].id }
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .app, .transfer, .used, .triggered, .user, .storageRecovered, .stopping:
            return nil
        }
        guard let (app, _) = try? name(of: submission), let answer = answered(submission, app)
        else { return nil }
        return (token, answer)
    }

    private func answered(_ submission: Submission, _ app: AppID) -> RequestedTask? {
        guard let token = submission.token, let index = apps.index(of: app),
            let known = apps[index].record.tokens.first(where: { $0.token == token })
        else { return nil }
        return RequestedTask(
            app: app,
            identifier: known.identifier,
            request: known.request,
            unsensed: unsensed(by: submission)
        )
    }

    private mutating func remember(_ token: String?, _ request: Request, _ index: Int) {
        guard let token else { return }
        apps[index].record.tokens.append(
            AnsweredToken(token: token, request: request.id, identifier: request.identifier),
            limit: 32
        )
    }

    private func checkPermission(
        _ submission: Submission,
        _ app: AppID,
        _ identifier: String
    ) throws(Refusal) {
        guard let index = apps.index(of: app), let manifest = apps[index].manifest else {
            throw unknown(app)
        }
        let trigger = submission.kind.trigger
        if let mode = trigger.mode, !manifest.value.declares(trigger) {
            throw Refusal(
                .notPermitted,
                reason: "the manifest does not declare the mode",
                value: mode.rawValue,
                fix: "add \(mode.rawValue); to BackgroundModes="
            )
        }
        guard manifest.value.permits(identifier: identifier) else {
            throw Refusal(
                .notPermitted,
                reason: "the manifest does not permit the identifier",
                value: identifier,
                fix: "add \(identifier); to PermittedTaskIdentifiers="
            )
        }
    }

    private func checkCaps(
        _ kind: TaskKind,
        _ identifier: String,
        _ index: Int
    ) throws(Refusal) {
        let pending = apps[index].requests.count {
            $0.origin == .submitted && $0.trigger == kind.trigger && $0.isPending
                && $0.mode != .simulated
                && !$0.isReplaced(by: identifier)
        }
        let cap =
            switch kind {
            case .refresh: settings.pendingRefreshes
            case .processing: settings.pendingProcessing
            }
        guard pending >= Int(cap) else { return }
        throw Refusal(
            .tooManyPendingTaskRequests,
            reason: "no more than \(cap) \(kind.rawValue) request\(cap == 1 ? "" : "s") may be "
                + "pending",
            value: "\(pending)",
            fix: "cancel one, or submit again with its identifier"
        )
    }

    private func transientManifest(
        _ app: AppID,
        _ command: [String],
        _ submission: Submission
    ) -> AppManifest {
        var manifest = AppManifest(id: app, name: app.name)
        manifest.directory = submission.directory
        manifest.environment = submission.environment
        manifest.needsNetwork = submission.needs.network
        if let mode = submission.kind.trigger.mode { manifest.modes = [mode] }
        switch submission.kind {
        case .refresh: manifest.refreshCommand = command
        case .processing: manifest.processingCommand = command
        }
        return manifest
    }

    // MARK: Run

    private mutating func run(
        _ app: AppID,
        _ identifier: String?,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            let index = try index(ofKnown: app)
            let requestIndex = try choose(identifier, in: index)
            var request = apps[index].requests[requestIndex]
            guard apps[index].isWaiting(request) else {
                throw Refusal(
                    .held,
                    reason: "\(request.identifier) is running already",
                    value: request.identifier,
                    fix: "offstage status"
                )
            }
            request.mode = .userInitiated
            request.readySince = transition.now.boot
            try startNow(request, index, &transition)
            let task = RequestedTask(
                app: app,
                identifier: request.identifier,
                request: request.id
            )
            transition.reply(reply, .requested(task))
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    func index(ofKnown app: AppID) throws(Refusal) -> Int {
        guard let index = apps.index(of: app),
            apps[index].manifest != nil || apps[index].problem != nil
        else { throw unknown(app) }
        return index
    }

    /// The named request, else the refresh, else whatever waits.
    private func choose(_ identifier: String?, in index: Int) throws(Refusal) -> Int {
        let app = apps[index]
        let indices = app.requests.indices.filter { app.requests[$0].mode != .simulated }
        if let identifier {
            if let index = indices.first(where: { app.requests[$0].identifier == identifier }) {
                return index
            }
            throw Refusal(
                .notFound,
                reason: "\(app.id) has no such task",
                value: identifier,
                fix: "offstage tasks \(app.id)"
            )
        }
        // Rather one whose trigger stands before the others in the table.
        if let index = indices.min(by: {
            app.requests[$0].trigger.column < app.requests[$1].trigger.column
        }) {
            return index
        }
        throw Refusal(
            .notFound,
            reason: "\(app.id) has nothing to run",
            value: app.problem ?? "",
            fix: "offstage explain \(app.id)"
        )
    }

    /// As it is given, which is not kept of one that is refused.
    mutating func startNow(
        _ request: Request,
        _ index: Int,
        _ transition: inout Transition
    ) throws(Refusal) {
        try checkGates(of: request.work(at: transition.now.wall), index, transition.now)
        if let requestIndex = apps[index].index(of: request.id) {
            apps[index].requests[requestIndex] = request
        }
        start(request, of: index, &transition)
    }

    /// Somebody waits for the answer, so work that cannot begin now is refused.
    func checkGates(of work: Work, _ index: Int, _ now: Moment) throws(Refusal) {
        for row in GateTable.rows {
            guard let context = context(row, work, of: index, at: now), row.check(context) != .open
            else { continue }
            let explanation = row.explain(context)
            let name = apps[index].id.name
            throw Refusal(
                .held,
                reason: "\(name) does not run: \(explanation.sentence)",
                value: explanation.fix.isEmpty ? explanation.value : "",
                fix: explanation.fix.isEmpty
                    ? fix(row.gate, work, index) ?? "needed: \(explanation.needed)"
                    : explanation.fix
            )
        }
    }

    /// How work runs all the same that has a date of its caller's, which is nobody else's to move.
    private func fix(_ gate: Gate, _ work: Work, _ index: Int) -> String? {
        guard gate == .earliest, !work.isRetry else { return nil }
        return apps[index].isTransient
            ? "submit it again without --after"
            : "offstage simulate launch \(apps[index].id) \(work.identifier) tries it now"
    }
}
